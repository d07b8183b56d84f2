//! `interface!`: an RPC interface declared once.

mod message;
mod orpc;
pub(crate) mod parse;
mod server;

use proc_macro2::TokenStream;
use quote::quote;

use self::parse::{Interface, Method};

/// All that is made of a declaration.
pub(crate) fn expand(interface: &Interface) -> syn::Result<TokenStream> {
    let messages = interface.methods.iter().enumerate();
    let messages = messages.map(|(index, method)| message::expand(interface, index, method));
    let messages = messages.collect::<syn::Result<Vec<_>>>()?;
    let table = table(interface);
    let server = match &interface.base {
        None => server::expand(interface),
        Some(base) => orpc::expand(interface, base),
    };
    Ok(quote! {
        #table
        #(#messages)*
        #server
    })
}

/// The interface as a type, with its table of methods.
fn table(interface: &Interface) -> TokenStream {
    let Interface { attributes, visibility, ident, name, uuid, major, minor, base, status, methods } =
        interface;
    let rows = methods.iter().map(|Method { opnum, idl_name, ident, .. }| {
        let (idl_name, words) = (idl_name.to_string(), ident.to_string().replace('_', " "));
        quote!(::rpc::Method { interface: #name, opnum: #opnum, name: #idl_name, words: #words })
    });
    let (recode_request, recode_reply) = if base.is_some() {
        (quote!(::rpc::orpc::recode_request), quote!(::rpc::orpc::recode_reply))
    } else {
        (quote!(::rpc::recode), quote!(::rpc::recode))
    };
    let requests = methods.iter().map(|method| {
        let (opnum, message) = (method.opnum, method.request_ident());
        quote!(#opnum => #recode_request::<#message>(stub))
    });
    let replies = methods.iter().map(|method| {
        let (opnum, message) = (method.opnum, method.reply_ident());
        quote!(#opnum => #recode_reply::<#message>(stub))
    });
    let undeclared = base.as_ref().map_or_else(
        || quote!(::core::option::Option::None),
        |base| quote!(<#base as ::rpc::Interface>::recode(direction, opnum, stub)),
    );
    // Without methods there is nothing to choose from.
    let recode = if methods.is_empty() {
        undeclared
    } else {
        quote! {
            ::core::option::Option::Some(match direction {
                ::rpc::Direction::Request => match opnum {
                    #(#requests,)*
                    _ => return #undeclared,
                },
                ::rpc::Direction::Reply => match opnum {
                    #(#replies,)*
                    _ => return #undeclared,
                },
            })
        }
    };
    let method = base.as_ref().map(|base| {
        quote! {
            fn method(opnum: u16) -> ::core::option::Option<&'static ::rpc::Method> {
                let own = Self::METHODS.iter().find(|method| method.opnum == opnum);
                own.or_else(|| <#base as ::rpc::Interface>::method(opnum))
            }
        }
    });
    quote! {
        #(#attributes)*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #visibility struct #ident;

        impl ::rpc::Interface for #ident {
            type Status = #status;
            const NAME: &'static str = #name;
            const SYNTAX_ID: ::rpc::SyntaxId =
                ::rpc::SyntaxId::new(::rpc::Guid::from_u128(#uuid), #major, #minor);
            const METHODS: &'static [::rpc::Method] = &[#(#rows),*];

            #method

            fn recode(
                direction: ::rpc::Direction,
                opnum: u16,
                stub: &[u8],
            ) -> ::core::option::Option<::rpc::ndr::Result<::rpc::ndr::EncodeResult<::std::vec::Vec<u8>>>> {
                #recode
            }
        }
    }
}
