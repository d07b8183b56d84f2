//! What has to hold between the members of a value: checked after it is read, and before it is written.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Expr, Ident, Path};

use crate::member::Member;

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
