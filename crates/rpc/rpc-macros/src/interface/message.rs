//! The request and the reply of a method.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use super::parse::{Interface, Method, Parameter, borrows};
use crate::member::{Member, broken_room, broken_rule, mentions};

pub(crate) fn expand(interface: &Interface, index: usize, method: &Method) -> syn::Result<TokenStream> {
    check(method)?;
    let request = message(interface, index, method, false);
    let reply = message(interface, index, method, true);
    let exchange = exchange(interface, method);
    Ok(quote!(#request #reply #exchange))
}

/// A `size_is` of a reply may name a parameter of the reply or of the request, but not of both.
fn check(method: &Method) -> syn::Result<()> {
    let only_request = only_request(method);
    let mut others = method.requests.iter().chain(method.replies.iter().rev().skip(1));
    if let Some(parameter) = others.find(|parameter| parameter.member.options.is_returned) {
        let message = "`returned` is for the last parameter of a reply";
        return Err(syn::Error::new_spanned(&parameter.member.ident, message));
    }
    for parameter in &method.replies {
        let options = &parameter.member.options;
        if let Some(length_is) = options.length_is.as_ref().filter(|expr| mentions(expr, &only_request)) {
            let message = "`length_is` of a reply names parameters of the reply";
            return Err(syn::Error::new_spanned(length_is, message));
        }
        if options.is_handle {
            let message = "`handle` is for requests: the server made the handle that it returns";
            return Err(syn::Error::new_spanned(&parameter.member.ident, message));
        }
    }
    Ok(())
}

/// The names of parameters.
pub(crate) fn idents(parameters: &[Parameter]) -> Vec<Ident> {
    parameters.iter().map(|parameter| parameter.member.ident.clone()).collect()
}

/// Parameters that only the request has.
fn only_request(method: &Method) -> Vec<Ident> {
    let replies = idents(&method.replies);
    idents(&method.requests).into_iter().filter(|ident| !replies.contains(ident)).collect()
}

fn message(interface: &Interface, index: usize, method: &Method, is_reply: bool) -> TokenStream {
    let parameters = if is_reply { &method.replies } else { &method.requests };
    let interface_ident = &interface.ident;
    let (visibility, status, idl_name) = (&interface.visibility, &interface.status, &method.idl_name);
    let ident = if is_reply { method.reply_ident() } else { method.request_ident() };
    let arguments = borrows(parameters).then(|| quote!(<'stub>));
    let any_arguments = borrows(parameters).then(|| quote!(<'_>));
    let docs = if is_reply {
        let doc = format!("Opnum {}: the answer of `{idl_name}`.", method.opnum);
        quote!(#[doc = #doc])
    } else {
        let (attributes, doc) = (&method.attributes, format!("Opnum {}: `{idl_name}`.", method.opnum));
        quote!(#[doc = #doc] #[doc = ""] #(#attributes)*)
    };
    let fields = parameters
        .iter()
        .map(|Parameter { docs, member: Member { ident, ty, .. } }| quote!(#(#docs)* pub #ident: #ty));
    let status_field = is_reply.then(|| {
        quote! {
            /// What the method returned.
            pub status: #status,
        }
    });
    let write =
        |Parameter { member: Member { ident, .. }, .. }: &Parameter| quote!(dst.write(&self.#ident)?;);
    // A value that the method returns comes after its status.
    let (returned, before): (Vec<_>, Vec<_>) =
        parameters.iter().partition(|parameter| parameter.member.options.is_returned);
    let writes = before.iter().copied().map(write);
    let write_status = is_reply.then(|| quote!(dst.write(&self.status)?;));
    let write_returned = returned.iter().copied().map(write);
    let reads = before.iter().map(|parameter| read(&parameter.member));
    let status_place = if returned.is_empty() { "return value" } else { "status" };
    let read_status = is_reply.then(|| quote!(let status = src.read::<#status>(#status_place)?;));
    let read_returned = returned.iter().map(|parameter| read(&parameter.member));
    let alias = idl_name.to_string();
    let names = idents(parameters);
    let status_name = is_reply.then(|| quote!(status,));
    let outside = if is_reply { only_request(method) } else { Vec::new() };
    let members: Vec<&Member> = parameters.iter().map(|parameter| &parameter.member).collect();
    let broken = broken_rule(&members, None, &outside);
    quote! {
        #docs
        #[doc(alias = #alias)]
        #[derive(Clone, Debug, PartialEq)]
        #visibility struct #ident #arguments { #(#fields,)* #status_field }

        const _: () = {
            #[allow(unused_variables, reason = "not all messages have rules")]
            fn broken_rule(
                value: &#ident #any_arguments,
            ) -> ::core::option::Option<(&'static str, &'static str)> {
                #broken
            }

            impl ::rpc::Message for #ident #any_arguments {
                const METHOD: &'static ::rpc::Method =
                    &<#interface_ident as ::rpc::Interface>::METHODS[#index];

                #[allow(unused_variables, reason = "not all messages have parameters")]
                fn encode(&self, dst: &mut ::rpc::ndr::Writer) -> ::rpc::ndr::EncodeResult<()> {
                    if let ::core::option::Option::Some((field, reason)) = broken_rule(self) {
                        let error = ::rpc::ndr::EncodeError::new(Self::METHOD.name, field, reason);
                        return ::core::result::Result::Err(error);
                    }
                    #(#writes)*
                    #write_status
                    #(#write_returned)*
                    ::core::result::Result::Ok(())
                }
            }

            impl<'stub> ::rpc::FromStub<'stub> for #ident #arguments {
                #[allow(unused_variables, reason = "not all messages have parameters")]
                fn decode(src: &mut ::rpc::ndr::Reader<'stub>) -> ::rpc::ndr::Result<Self> {
                    #(#reads)*
                    #read_status
                    #(#read_returned)*
                    let value = Self { #(#names,)* #status_name };
                    match broken_rule(&value) {
                        ::core::option::Option::None => ::core::result::Result::Ok(value),
                        ::core::option::Option::Some((field, reason)) => {
                            ::core::result::Result::Err(src.invalid_field(field, reason))
                        }
                    }
                }
            }
        };
    }
}

/// Reads a parameter into a variable of its name.
fn read(Member { ident, ty, name, options }: &Member) -> TokenStream {
    let range = options.range.as_ref().map(|range| quote!(src.check_range(#name, #ident, #range)?;));
    quote! {
        let #ident = src.read::<#ty>(#name)?;
        #range
    }
}

/// What ties the request to its reply.
fn exchange(interface: &Interface, method: &Method) -> TokenStream {
    let (request, reply) = (method.request_ident(), method.reply_ident());
    let (interface_ident, status) = (&interface.ident, &interface.status);
    let any_request = borrows(&method.requests).then(|| quote!(<'_>));
    let reply_type = if borrows(&method.replies) { quote!(#reply<'reply>) } else { quote!(#reply) };
    let any_reply = borrows(&method.replies).then(|| quote!(<'_>));
    let requests = idents(&method.requests);
    let refused = method.replies.iter().map(|Parameter { member: Member { ident, options, .. }, .. }| {
        let room = options.size_is.as_ref().filter(|expr| mentions(expr, &requests));
        if requests.contains(ident) {
            quote!(#ident: self.#ident.clone())
        } else if let Some(expr) = room {
            let used = requests.iter().filter(|ident| mentions(expr, std::slice::from_ref(*ident)));
            quote!(#ident: { #(let #used = self.#used;)* ::rpc::ndr::WithRoom::with_room(#expr) })
        } else {
            quote!(#ident: ::core::default::Default::default())
        }
    });
    let members: Vec<&Member> = method.replies.iter().map(|parameter| &parameter.member).collect();
    let room = broken_room(&members, &only_request(method));
    quote! {
        impl ::rpc::Request for #request #any_request {
            type Interface = #interface_ident;
            type Reply<'reply> = #reply_type;

            fn refused<'reply>(&'reply self, status: #status) -> Self::Reply<'reply> {
                #reply { #(#refused,)* status }
            }

            fn broken_rule(
                &self,
                reply: &Self::Reply<'_>,
            ) -> ::core::option::Option<(&'static str, &'static str)> {
                #[allow(unused_variables, reason = "not all replies have rules")]
                fn broken_rule(
                    request: &#request #any_request,
                    value: &#reply #any_reply,
                ) -> ::core::option::Option<(&'static str, &'static str)> {
                    #room
                }
                broken_rule(self, reply)
            }
        }

        impl ::rpc::Reply for #reply #any_reply {
            type Status = #status;
            fn status(&self) -> #status {
                self.status
            }
        }
    }
}
