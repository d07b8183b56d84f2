//! The server's side: a trait with the methods, and what calls them.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Type;

use super::parse::{Interface, Method, borrows};

pub(crate) fn expand(interface: &Interface) -> TokenStream {
    let Interface { visibility, ident, status, methods, .. } = interface;
    let server = format_ident!("{ident}Server");
    let doc = format!("What the methods of [`{ident}`] do, on one association.");
    let has_handles = methods.iter().any(|method| method.handles().next().is_some());
    let is_open = has_handles.then(|| {
        quote! {
            /// Whether a context handle, which is not NULL, names something that is open on this association.
            fn is_open(&self, handle: ::rpc::ndr::ContextHandle) -> bool;
        }
    });
    let declared = methods.iter().map(|method| declare(method, status));
    let arms = methods.iter().map(|method| {
        let (opnum, name, request) = (method.opnum, &method.ident, method.request_ident());
        let handles = method.handles();
        quote! {
            #opnum => ::rpc::answer::<#request, _>(stub, |request| {
                #(::rpc::check_open(request.#handles, |handle| server.is_open(handle))?;)*
                server.authorize(call, <#request as ::rpc::Message>::METHOD)?;
                server.#name(request)
            })
        }
    });
    quote! {
        impl ::rpc::NativeInterface for #ident {}

        #[doc = #doc]
        ///
        /// [`dispatch`](Self::dispatch) reads the parameters and checks the context handles. A method that a server does
        /// not have answers with the fault `nca_s_op_rng_error`.
        #visibility trait #server {
            #is_open

            /// Whether a call whose parameters are read may be executed.
            ///
            /// # Errors
            /// What the method returns if it may not.
            fn authorize(
                &mut self,
                call: &::rpc::CallInfo,
                method: &::rpc::Method,
            ) -> ::rpc::ServerResult<(), #status> {
                let _ = (call, method);
                ::core::result::Result::Ok(())
            }

            #(#declared)*

            /// Executes one call: the request's stub in, the response's stub out.
            ///
            /// # Errors
            /// The fault to answer: `nca_s_op_rng_error` for an opnum that is not here, `RPC_S_INVALID_BOUND` for a
            /// parameter out of its range, `RPC_X_BAD_STUB_DATA` for other stubs that are not the method's,
            /// `nca_s_fault_context_mismatch` for a handle that is not open.
            fn dispatch(
                &mut self,
                call: &::rpc::CallInfo,
                opnum: u16,
                stub: &[u8],
            ) -> ::core::result::Result<::std::vec::Vec<u8>, ::rpc::FaultStatus> {
                let server = self;
                match opnum {
                    #(#arms,)*
                    _ => ::core::result::Result::Err(::rpc::FaultStatus::NCA_S_OP_RNG_ERROR),
                }
            }
        }
    }
}

/// A method of a server's trait.
pub(crate) fn declare(method: &Method, status: &Type) -> TokenStream {
    let (attributes, name) = (&method.attributes, &method.ident);
    let (request, reply) = (method.request_ident(), method.reply_ident());
    let request_arguments = borrows(&method.requests).then(|| quote!(<'_>));
    let reply_arguments = borrows(&method.replies).then(|| quote!(<'_>));
    quote! {
        #(#attributes)*
        ///
        /// # Errors
        /// What the method returns, or the fault that it answers with.
        fn #name(
            &mut self,
            request: &#request #request_arguments,
        ) -> ::rpc::ServerResult<#reply #reply_arguments, #status> {
            let _ = request;
            ::core::result::Result::Err(::rpc::Failure::Fault(
                ::rpc::FaultStatus::NCA_S_OP_RNG_ERROR,
            ))
        }
    }
}
