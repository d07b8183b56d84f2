//! An interface of objects: what it inherits, and the server's side.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Path;

use super::parse::Interface;
use super::server::declare;

pub(crate) fn expand(interface: &Interface, base: &Path) -> TokenStream {
    let inheritance = inheritance(interface, base);
    let server = server(interface, base);
    quote!(#inheritance #server)
}

fn inheritance(interface: &Interface, base: &Path) -> TokenStream {
    let Interface { ident, methods, .. } = interface;
    let opnums_end = match (methods.first(), methods.last()) {
        (Some(first), Some(last)) => {
            let (first, last) = (first.opnum, last.opnum);
            quote! {{
                assert!(
                    #first >= <#base as ::rpc::orpc::ObjectInterface>::OPNUMS_END,
                    "the first opnum is one of the interface that this one inherits from",
                );
                #last + 1
            }}
        }
        _ => quote!(<#base as ::rpc::orpc::ObjectInterface>::OPNUMS_END),
    };
    quote! {
        impl ::rpc::orpc::ObjectInterface for #ident {
            const OPNUMS_END: u16 = #opnums_end;
        }

        // What is wrong with the opnums is an error of the declaration.
        const _: u16 = <#ident as ::rpc::orpc::ObjectInterface>::OPNUMS_END;

        impl ::rpc::orpc::Inherits<#ident> for #ident {}

        impl<Base> ::rpc::orpc::Inherits<Base> for #ident
        where
            #base: ::rpc::orpc::Inherits<Base>
        {}
    }
}

fn server(interface: &Interface, base: &Path) -> TokenStream {
    let Interface { visibility, ident, status, methods, .. } = interface;
    let server = format_ident!("{ident}Server");
    let mut base_server = base.clone();
    if let Some(last) = base_server.segments.last_mut() {
        last.ident = format_ident!("{}Server", last.ident);
    }
    let doc = format!("What the methods of [`{ident}`] do, of one object.");
    let declared = methods.iter().map(|method| declare(method, status));
    let arms = methods.iter().map(|method| {
        let (opnum, name, request) = (method.opnum, &method.ident, method.request_ident());
        quote! {
            #opnum => {
                let speaks = (
                    ::rpc::orpc::IUnknownServer::version(server),
                    ::rpc::orpc::IUnknownServer::enums(server),
                );
                ::rpc::orpc::answer::<#request, _>(speaks, stub, |this, request| {
                    let method = <#request as ::rpc::Message>::METHOD;
                    ::rpc::orpc::IUnknownServer::authorize(server, call, this, method)?;
                    #server::#name(server, request)
                })
            }
        }
    });
    quote! {
        #[doc = #doc]
        ///
        /// A method that an object does not have answers with the fault `nca_s_op_rng_error`.
        #visibility trait #server: #base_server {
            #(#declared)*
        }

        impl #ident {
            /// Executes one call of this interface or of those that it inherits from: the request's stub in, the response's
            /// stub out.
            ///
            /// # Errors
            /// The fault to answer: `nca_s_op_rng_error` for an opnum that is not here, `RPC_E_VERSION_MISMATCH` for a
            /// client of another or later version, `RPC_E_INVALID_HEADER` for flags in ORPCTHIS, `RPC_S_INVALID_BOUND`
            /// for a parameter out of its range, `RPC_X_BAD_STUB_DATA` for other stubs that are not the method's.
            #visibility fn dispatch<S: #server + ?Sized>(
                server: &mut S,
                call: &::rpc::CallInfo,
                opnum: u16,
                stub: &[u8],
            ) -> ::core::result::Result<::std::vec::Vec<u8>, ::rpc::FaultStatus> {
                match opnum {
                    #(#arms)*
                    _ => <#base>::dispatch(server, call, opnum, stub),
                }
            }
        }
    }
}
