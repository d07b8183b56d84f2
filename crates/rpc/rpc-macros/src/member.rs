//! Fields of structures and parameters of methods, and what `#[ndr(…)]` says of them.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::meta::ParseNestedMeta;
use syn::{Attribute, Expr, ExprLit, GenericParam, Generics, Ident, Lifetime, Lit, LitStr, Path, Type};

/// A field or a parameter.
pub(crate) struct Member {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    /// Its name in errors.
    pub(crate) name: String,
    pub(crate) options: MemberOptions,
}

/// What `#[ndr(…)]` may say of a field or parameter.
#[derive(Default)]
pub(crate) struct MemberOptions {
    name: Option<String>,
    pub(crate) range: Option<Expr>,
    pub(crate) check: Option<Path>,
    pub(crate) size_is: Option<Expr>,
    pub(crate) length_is: Option<Expr>,
    pub(crate) switch_is: Option<Expr>,
    pub(crate) is_conformant: bool,
    pub(crate) is_handle: bool,
    pub(crate) is_returned: bool,
}

/// What `#[ndr(…)]` may say of a type.
#[derive(Default)]
pub(crate) struct TypeOptions {
    name: Option<String>,
    pub(crate) check: Option<Path>,
    pub(crate) wire: Option<Type>,
    pub(crate) switch: Option<Type>,
}

impl Member {
    pub(crate) fn new(ident: Ident, ty: Type, attributes: &[Attribute]) -> syn::Result<Self> {
        let options = MemberOptions::parse(attributes)?;
        let name =
            options.name.clone().or_else(|| doc_alias(attributes)).unwrap_or_else(|| ident.to_string());
        Ok(Self { ident, ty, name, options })
    }
}

impl MemberOptions {
    fn parse(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut options = Self::default();
        each_option(attributes, |meta| {
            if meta.path.is_ident("name") {
                options.name = Some(meta.value()?.parse::<LitStr>()?.value());
            } else if meta.path.is_ident("range") {
                options.range = Some(meta.value()?.parse()?);
            } else if meta.path.is_ident("check") {
                options.check = Some(meta.value()?.parse()?);
            } else if meta.path.is_ident("size_is") {
                options.size_is = Some(meta.value()?.parse()?);
            } else if meta.path.is_ident("length_is") {
                options.length_is = Some(meta.value()?.parse()?);
            } else if meta.path.is_ident("switch_is") {
                options.switch_is = Some(meta.value()?.parse()?);
            } else if meta.path.is_ident("conformant") {
                options.is_conformant = true;
            } else if meta.path.is_ident("handle") {
                options.is_handle = true;
            } else if meta.path.is_ident("returned") {
                options.is_returned = true;
            } else {
                return Err(meta.error(
                    "a member has `name`, `range`, `check`, `size_is`, `length_is`, `switch_is`, `conformant`, `handle` or `returned`",
                ));
            }
            Ok(())
        })?;
        Ok(options)
    }
}

impl TypeOptions {
    pub(crate) fn parse(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut options = Self::default();
        each_option(attributes, |meta| {
            if meta.path.is_ident("name") {
                options.name = Some(meta.value()?.parse::<LitStr>()?.value());
            } else if meta.path.is_ident("check") {
                options.check = Some(meta.value()?.parse()?);
            } else if meta.path.is_ident("wire") {
                options.wire = Some(meta.value()?.parse()?);
            } else if meta.path.is_ident("switch") {
                options.switch = Some(meta.value()?.parse()?);
            } else {
                return Err(meta.error("a type has `name`, `check`, `wire` or `switch`"));
            }
            Ok(())
        })?;
        Ok(options)
    }

    /// The type's name in errors.
    pub(crate) fn name(&self, ident: &Ident, attributes: &[Attribute]) -> String {
        self.name.clone().or_else(|| doc_alias(attributes)).unwrap_or_else(|| ident.to_string())
    }
}

/// The value of the first `#[doc(alias = "…")]`.
pub(crate) fn doc_alias(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("doc")).find_map(|attribute| {
        let mut alias = None;
        // Other forms of `doc` are none of our business.
        let _other = attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("alias") {
                alias = Some(meta.value()?.parse::<LitStr>()?.value());
            }
            Ok(())
        });
        alias
    })
}

/// The parts of all `#[ndr(…)]`.
pub(crate) fn each_option(
    attributes: &[Attribute],
    mut parse: impl FnMut(&ParseNestedMeta<'_>) -> syn::Result<()>,
) -> syn::Result<()> {
    let ours = attributes.iter().filter(|attribute| attribute.path().is_ident("ndr"));
    for attribute in ours {
        attribute.parse_nested_meta(|meta| parse(&meta))?;
    }
    Ok(())
}

/// Generics of a declared type: none, or the one lifetime of the stub that it borrows from.
pub(crate) struct StubLifetime {
    /// The lifetime of the implementation.
    pub(crate) lifetime: Lifetime,
    /// The type's generic arguments: `<'a>` or nothing.
    pub(crate) arguments: TokenStream,
}

impl StubLifetime {
    pub(crate) fn of(generics: &Generics) -> syn::Result<Self> {
        let params: Vec<_> = generics.params.iter().collect();
        match params[..] {
            [] => Ok(Self::none()),
            [GenericParam::Lifetime(param)] => {
                let lifetime = param.lifetime.clone();
                let arguments = quote::quote!(<#lifetime>);
                Ok(Self { lifetime, arguments })
            }
            _ => Err(syn::Error::new_spanned(
                generics,
                "a type of an IDL has no parameter but the lifetime of the stub that it borrows from",
            )),
        }
    }

    /// The same with an anonymous lifetime: `<'_>` or nothing.
    pub(crate) fn any_arguments(&self) -> TokenStream {
        if self.arguments.is_empty() { TokenStream::new() } else { quote::quote!(<'_>) }
    }

    fn none() -> Self {
        Self {
            lifetime: Lifetime::new("'stub", proc_macro2::Span::call_site()),
            arguments: TokenStream::new(),
        }
    }
}

/// Whether a type names a lifetime.
pub(crate) fn lifetime_in(ty: &Type) -> bool {
    fn has_lifetime(tokens: TokenStream) -> bool {
        let mut is_quote = false;
        for token in tokens {
            match token {
                proc_macro2::TokenTree::Punct(punct) => is_quote = punct.as_char() == '\'',
                proc_macro2::TokenTree::Ident(_) if is_quote => return true,
                proc_macro2::TokenTree::Group(group) if has_lifetime(group.stream()) => return true,
                _ => is_quote = false,
            }
        }
        false
    }
    has_lifetime(ty.to_token_stream())
}

/// The number that an expression is, where it is a literal.
pub(crate) fn literal(expr: &Expr) -> Option<u64> {
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Int(value), .. }) => value.base10_parse().ok(),
        _ => None,
    }
}

// What has to hold between the members of a value: checked after it is read, and before it is written.

/// The body of a function of `value` that returns the member that breaks a rule, and the rule: `Option<(&str, &str)>`.
pub(crate) fn broken_rule(members: &[&Member], check: Option<&Path>, outside: &[Ident]) -> TokenStream {
    let rules = members.iter().map(|member| {
        let (ident, name, options) = (&member.ident, &member.name, &member.options);
        let size_is = options.size_is.as_ref().filter(|expr| !mentions(expr, outside)).map(|expr| {
            let rule = quote!(::rpc::ndr::count_is(::rpc::ndr::Array::max_count(&value.#ident), #expr));
            holds(members, expr, &rule, name, "max_count is not")
        });
        let length_is = options.length_is.as_ref().map(|expr| {
            let rule = quote!(::rpc::ndr::count_is(::rpc::ndr::Array::actual_count(&value.#ident), #expr));
            holds(members, expr, &rule, name, "actual_count is not")
        });
        let switch_is = options.switch_is.as_ref().map(|expr| {
            let rule =
                quote!(::rpc::ndr::Union::tag(&value.#ident).is_none_or(|tag| tag == i64::from(#expr)));
            holds(members, expr, &rule, name, "the union's tag is not")
        });
        let check = options.check.as_ref().map(|path| checked(&quote!(#path(&value.#ident)), name));
        quote!(#size_is #length_is #switch_is #check)
    });
    let whole = check.map(|path| checked(&quote!(#path(value)), ""));
    quote! {
        #(#rules)*
        #whole
        ::core::option::Option::None
    }
}

/// What holds between a request and its reply: an array has no more elements than the request has room for.
pub(crate) fn broken_room(replies: &[&Member], request: &[Ident]) -> TokenStream {
    let rules = replies.iter().filter_map(|member| {
        let expr = member.options.size_is.as_ref().filter(|expr| mentions(expr, request))?;
        let (ident, name) = (&member.ident, &member.name);
        let rule = quote!(
            ::rpc::ndr::Array::actual_count(&value.#ident)
                .is_none_or(|count| usize::try_from(#expr).is_ok_and(|room| count <= room))
        );
        let bound = bind(expr, request, &quote!(request));
        let reason = format!("more than the request's {}", expr.to_token_stream());
        Some(quote! {
            {
                #bound
                if !(#rule) {
                    return ::core::option::Option::Some((#name, #reason));
                }
            }
        })
    });
    quote! {
        #(#rules)*
        ::core::option::Option::None
    }
}

fn holds(members: &[&Member], expr: &Expr, rule: &TokenStream, name: &str, what: &str) -> TokenStream {
    let idents: Vec<Ident> = members.iter().map(|member| member.ident.clone()).collect();
    let bound = bind(expr, &idents, &quote!(value));
    let reason = format!("{what} {}", in_words(members, expr));
    quote! {
        {
            #bound
            if !(#rule) {
                return ::core::option::Option::Some((#name, #reason));
            }
        }
    }
}

/// An expression with the names that its members have in errors.
fn in_words(members: &[&Member], expr: &Expr) -> String {
    let words = expr.to_token_stream().into_iter().map(|token| match &token {
        TokenTree::Ident(ident) => {
            let member = members.iter().find(|member| member.ident == *ident);
            member.map_or_else(|| ident.to_string(), |member| member.name.clone())
        }
        _ => token.to_string(),
    });
    words.collect::<Vec<_>>().join(" ")
}

fn checked(call: &TokenStream, name: &str) -> TokenStream {
    quote! {
        if let ::core::result::Result::Err(reason) = #call {
            return ::core::option::Option::Some((#name, reason));
        }
    }
}

/// Gives the members that an expression names a variable each.
fn bind(expr: &Expr, idents: &[Ident], value: &TokenStream) -> TokenStream {
    let used = idents.iter().filter(|ident| names(expr.to_token_stream(), ident));
    quote!(#(let #used = #value.#used;)*)
}

pub(crate) fn mentions(expr: &Expr, idents: &[Ident]) -> bool {
    idents.iter().any(|ident| names(expr.to_token_stream(), ident))
}

fn names(tokens: TokenStream, ident: &Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(other) => other == *ident,
        TokenTree::Group(group) => names(group.stream(), ident),
        _ => false,
    })
}
