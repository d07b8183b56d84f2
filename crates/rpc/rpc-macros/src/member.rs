//! Fields of structures and parameters of methods, and what `#[ndr(…)]` says of them.

use proc_macro2::TokenStream;
use quote::ToTokens;
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
