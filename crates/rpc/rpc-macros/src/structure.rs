use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{DataStruct, DeriveInput, Fields, Type};

use super::member::broken_rule;
use crate::Half;
use crate::member::{Member, StubLifetime, TypeOptions};

pub(crate) fn expand(
    input: &DeriveInput,
    options: TypeOptions,
    data: &DataStruct,
    half: Half,
) -> syn::Result<TokenStream> {
    if let Some(switch) = &options.switch {
        return Err(syn::Error::new_spanned(switch, "`switch` is for unions, which are enums here"));
    }
    let stub = StubLifetime::of(&input.generics)?;
    match &data.fields {
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
            Ok(newtype(input, &fields.unnamed[0].ty, &stub, half))
        }
        Fields::Named(fields) if !fields.named.is_empty() => {
            let members = fields.named.iter().map(|field| {
                let ident = field.ident.clone().unwrap_or_else(|| format_ident!("_"));
                Member::new(ident, field.ty.clone(), &field.attrs)
            });
            let structure = Structure { input, options, stub, members: members.collect::<syn::Result<_>>()? };
            structure.check()?;
            Ok(match half {
                Half::Decode => structure.decode(),
                Half::Encode => structure.encode(),
            })
        }
        _ => Err(syn::Error::new_spanned(
            &input.ident,
            "a structure of an IDL has fields with names, or is a newtype of one; NDR has no empty structures",
        )),
    }
}

struct Structure<'a> {
    input: &'a DeriveInput,
    options: TypeOptions,
    stub: StubLifetime,
    members: Vec<Member>,
}

impl Structure<'_> {
    fn check(&self) -> syn::Result<()> {
        let last = self.members.len() - 1;
        for (index, member) in self.members.iter().enumerate() {
            if member.options.is_conformant && index != last {
                let message = "only the last field of a structure can be a conformant array";
                return Err(syn::Error::new_spanned(&member.ident, message));
            }
            if member.options.is_handle {
                let message = "`handle` is for parameters of methods";
                return Err(syn::Error::new_spanned(&member.ident, message));
            }
            if member.options.is_returned {
                let message = "`returned` is for the last parameter of a reply";
                return Err(syn::Error::new_spanned(&member.ident, message));
            }
        }
        Ok(())
    }

    /// The members in a row, and the conformant array after them.
    fn parts(&self) -> (&[Member], Option<&Member>) {
        match self.members.split_last() {
            Some((tail, fixed)) if tail.options.is_conformant => (fixed, Some(tail)),
            _ => (&self.members, None),
        }
    }

    fn broken_rule(&self) -> TokenStream {
        let members: Vec<&Member> = self.members.iter().collect();
        broken_rule(&members, self.options.check.as_ref(), &[])
    }

    fn decode(&self) -> TokenStream {
        let (ident, stub, arguments) = (&self.input.ident, &self.stub.lifetime, &self.stub.arguments);
        let any_arguments = self.stub.any_arguments();
        let name = self.options.name(ident, &self.input.attrs);
        let (fixed, tail) = self.parts();
        let types: Vec<_> = fixed.iter().map(|member| &member.ty).collect();
        let idents: Vec<_> = self.members.iter().map(|member| &member.ident).collect();
        let tail_type = tail.map(|tail| &tail.ty).into_iter();
        let alignments = quote!(#(<#types as ::rpc::ndr::NdrDecode<#stub>>::ALIGNMENT,)*);
        let sizes = quote!(#((
            <#types as ::rpc::ndr::NdrDecode<#stub>>::ALIGNMENT,
            <#types as ::rpc::ndr::NdrDecode<#stub>>::INLINE_SIZE_MIN,
        )),*);
        let (alignment, size_min) = match tail {
            None => (
                quote!(::rpc::ndr::layout::alignment(&[#alignments])),
                quote!(::rpc::ndr::layout::size_min(&[#sizes])),
            ),
            Some(_) => (quote!(4), quote!(4 /* max_count */ + ::rpc::ndr::layout::size_min(&[#sizes]))),
        };
        let begin = tail.map(|Member { ty, .. }| {
            quote! {
                let max_count = <u32 as ::rpc::ndr::NdrDecode<#stub>>::decode_inline(src)?;
                src.align(::rpc::ndr::layout::alignment(&[
                    #alignments <#ty as ::rpc::ndr::DecodeTail<#stub>>::ALIGNMENT
                ]))?;
            }
        });
        let inline = self.members.iter().map(read_inline);
        let deferred = self.members.iter().map(read_deferred);
        let broken = self.broken_rule();
        quote! {
            #[automatically_derived]
            impl<#stub> ::rpc::ndr::NdrDecode<#stub> for #ident #arguments {
                type Inline = (
                    #(<#types as ::rpc::ndr::NdrDecode<#stub>>::Inline,)*
                    #(<#tail_type as ::rpc::ndr::DecodeTail<#stub>>::Inline,)*
                );
                const NAME: &'static str = #name;
                const ALIGNMENT: usize = #alignment;
                const INLINE_SIZE_MIN: usize = #size_min;

                fn decode_inline(src: &mut ::rpc::ndr::Reader<#stub>) -> ::rpc::ndr::Result<Self::Inline> {
                    #begin
                    #(#inline)*
                    ::core::result::Result::Ok((#(#idents,)*))
                }

                fn decode_deferred(
                    (#(#idents,)*): Self::Inline,
                    src: &mut ::rpc::ndr::Reader<#stub>,
                ) -> ::rpc::ndr::Result<Self> {
                    #[allow(unused_variables, reason = "not all structures have rules")]
                    fn broken_rule(
                        value: &#ident #any_arguments,
                    ) -> ::core::option::Option<(&'static str, &'static str)> {
                        #broken
                    }
                    #(#deferred)*
                    let value = Self { #(#idents),* };
                    match broken_rule(&value) {
                        ::core::option::Option::None => ::core::result::Result::Ok(value),
                        ::core::option::Option::Some((field, reason)) => {
                            ::core::result::Result::Err(src.invalid_field(field, reason))
                        }
                    }
                }
            }
        }
    }

    fn encode(&self) -> TokenStream {
        let (ident, arguments) = (&self.input.ident, &self.stub.arguments);
        let any_arguments = self.stub.any_arguments();
        let name = self.options.name(ident, &self.input.attrs);
        let (fixed, tail) = self.parts();
        let types: Vec<_> = fixed.iter().map(|member| &member.ty).collect();
        let fixed: Vec<_> = fixed.iter().map(|member| &member.ident).collect();
        let idents: Vec<_> = self.members.iter().map(|member| &member.ident).collect();
        let tail_type = tail.map(|tail| &tail.ty).into_iter();
        let alignments = quote!(#(<#types as ::rpc::ndr::NdrEncode>::ALIGNMENT,)*);
        let alignment = match tail {
            None => quote!(::rpc::ndr::layout::alignment(&[#alignments])),
            Some(_) => quote!(4),
        };
        let begin = tail.map(|Member { ident, ty, .. }| {
            quote! {
                dst.u32(::rpc::ndr::EncodeTail::max_count(&self.#ident)?);
                dst.align(::rpc::ndr::layout::alignment(&[#alignments <#ty as ::rpc::ndr::EncodeTail>::ALIGNMENT]));
            }
        });
        let tail_inline = tail.map(
            |Member { ident, .. }| quote!(let #ident = ::rpc::ndr::EncodeTail::encode_inline(&self.#ident, dst)?;),
        );
        let tail_deferred = tail.map(
            |Member { ident, .. }| quote!(::rpc::ndr::EncodeTail::encode_deferred(&self.#ident, #ident, dst)?;),
        );
        let broken = self.broken_rule();
        quote! {
            #[automatically_derived]
            impl #arguments ::rpc::ndr::NdrEncode for #ident #arguments {
                type Deferred = (
                    #(<#types as ::rpc::ndr::NdrEncode>::Deferred,)*
                    #(<#tail_type as ::rpc::ndr::EncodeTail>::Deferred,)*
                );
                const ALIGNMENT: usize = #alignment;

                fn encode_inline(&self, dst: &mut ::rpc::ndr::Writer) -> ::rpc::ndr::EncodeResult<Self::Deferred> {
                    #[allow(unused_variables, reason = "not all structures have rules")]
                    fn broken_rule(
                        value: &#ident #any_arguments,
                    ) -> ::core::option::Option<(&'static str, &'static str)> {
                        #broken
                    }
                    if let ::core::option::Option::Some((field, reason)) = broken_rule(self) {
                        return ::core::result::Result::Err(::rpc::ndr::EncodeError::new(#name, field, reason));
                    }
                    #begin
                    #(let #fixed = dst.inline(&self.#fixed)?;)*
                    #tail_inline
                    ::core::result::Result::Ok((#(#idents,)*))
                }

                fn encode_deferred(
                    &self,
                    (#(#idents,)*): Self::Deferred,
                    dst: &mut ::rpc::ndr::Writer,
                ) -> ::rpc::ndr::EncodeResult<()> {
                    #(dst.deferred(&self.#fixed, #fixed)?;)*
                    #tail_deferred
                    ::core::result::Result::Ok(())
                }
            }
        }
    }
}

/// Reads the inline half of a member into a variable of its name.
fn read_inline(member: &Member) -> TokenStream {
    let Member { ident, ty, name, options } = member;
    if options.is_conformant {
        return quote! {
            let #ident = src.tail::<#ty>(#name, max_count)?;
        };
    }
    let range = options.range.as_ref().map(|range| quote!(src.check_range(#name, #ident, #range)?;));
    quote! {
        let #ident = src.inline::<#ty>(#name)?;
        #range
    }
}

fn read_deferred(member: &Member) -> TokenStream {
    let Member { ident, ty, name, options } = member;
    if options.is_conformant {
        quote!(let #ident = src.tail_deferred::<#ty>(#name, #ident)?;)
    } else {
        quote!(let #ident = src.deferred::<#ty>(#name, #ident)?;)
    }
}

/// A newtype is written as its inner type, and its errors name the structure around it.
fn newtype(input: &DeriveInput, inner: &Type, stub: &StubLifetime, half: Half) -> TokenStream {
    let (ident, arguments, stub) = (&input.ident, &stub.arguments, &stub.lifetime);
    match half {
        Half::Decode => quote! {
            #[automatically_derived]
            impl<#stub> ::rpc::ndr::NdrDecode<#stub> for #ident #arguments {
                type Inline = <#inner as ::rpc::ndr::NdrDecode<#stub>>::Inline;
                const NAME: &'static str = <#inner as ::rpc::ndr::NdrDecode<#stub>>::NAME;
                const ALIGNMENT: usize = <#inner as ::rpc::ndr::NdrDecode<#stub>>::ALIGNMENT;
                const INLINE_SIZE_MIN: usize = <#inner as ::rpc::ndr::NdrDecode<#stub>>::INLINE_SIZE_MIN;

                fn decode_inline(src: &mut ::rpc::ndr::Reader<#stub>) -> ::rpc::ndr::Result<Self::Inline> {
                    <#inner as ::rpc::ndr::NdrDecode<#stub>>::decode_inline(src)
                }

                fn decode_deferred(
                    inline: Self::Inline,
                    src: &mut ::rpc::ndr::Reader<#stub>,
                ) -> ::rpc::ndr::Result<Self> {
                    <#inner as ::rpc::ndr::NdrDecode<#stub>>::decode_deferred(inline, src).map(Self)
                }
            }
        },
        Half::Encode => quote! {
            #[automatically_derived]
            impl #arguments ::rpc::ndr::NdrEncode for #ident #arguments {
                type Deferred = <#inner as ::rpc::ndr::NdrEncode>::Deferred;
                const ALIGNMENT: usize = <#inner as ::rpc::ndr::NdrEncode>::ALIGNMENT;

                fn encode_inline(&self, dst: &mut ::rpc::ndr::Writer) -> ::rpc::ndr::EncodeResult<Self::Deferred> {
                    ::rpc::ndr::NdrEncode::encode_inline(&self.0, dst)
                }

                fn encode_deferred(
                    &self,
                    deferred: Self::Deferred,
                    dst: &mut ::rpc::ndr::Writer,
                ) -> ::rpc::ndr::EncodeResult<()> {
                    ::rpc::ndr::NdrEncode::encode_deferred(&self.0, deferred, dst)
                }
            }
        },
    }
}

/// A type that another one stands for on the wire.
pub(crate) fn through_wire(input: &DeriveInput, wire: &Type, stub: &StubLifetime, half: Half) -> TokenStream {
    let (ident, arguments, stub) = (&input.ident, &stub.arguments, &stub.lifetime);
    match half {
        Half::Decode => quote! {
            #[automatically_derived]
            impl<#stub> ::rpc::ndr::NdrDecode<#stub> for #ident #arguments {
                type Inline = <#wire as ::rpc::ndr::NdrDecode<#stub>>::Inline;
                const NAME: &'static str = <#wire as ::rpc::ndr::NdrDecode<#stub>>::NAME;
                const ALIGNMENT: usize = <#wire as ::rpc::ndr::NdrDecode<#stub>>::ALIGNMENT;
                const INLINE_SIZE_MIN: usize = <#wire as ::rpc::ndr::NdrDecode<#stub>>::INLINE_SIZE_MIN;

                fn decode_inline(src: &mut ::rpc::ndr::Reader<#stub>) -> ::rpc::ndr::Result<Self::Inline> {
                    <#wire as ::rpc::ndr::NdrDecode<#stub>>::decode_inline(src)
                }

                fn decode_deferred(
                    inline: Self::Inline,
                    src: &mut ::rpc::ndr::Reader<#stub>,
                ) -> ::rpc::ndr::Result<Self> {
                    let wire = <#wire as ::rpc::ndr::NdrDecode<#stub>>::decode_deferred(inline, src)?;
                    <Self as ::core::convert::TryFrom<#wire>>::try_from(wire)
                        .map_err(|reason: &'static str| src.invalid(reason))
                }
            }
        },
        Half::Encode => quote! {
            #[automatically_derived]
            impl #arguments ::rpc::ndr::NdrEncode for #ident #arguments {
                type Deferred = (#wire, <#wire as ::rpc::ndr::NdrEncode>::Deferred);
                const ALIGNMENT: usize = <#wire as ::rpc::ndr::NdrEncode>::ALIGNMENT;

                fn encode_inline(&self, dst: &mut ::rpc::ndr::Writer) -> ::rpc::ndr::EncodeResult<Self::Deferred> {
                    let wire = <#wire>::try_from(self)?;
                    let deferred = ::rpc::ndr::NdrEncode::encode_inline(&wire, dst)?;
                    ::core::result::Result::Ok((wire, deferred))
                }

                fn encode_deferred(
                    &self,
                    (wire, deferred): Self::Deferred,
                    dst: &mut ::rpc::ndr::Writer,
                ) -> ::rpc::ndr::EncodeResult<()> {
                    ::rpc::ndr::NdrEncode::encode_deferred(&wire, deferred, dst)
                }
            }
        },
    }
}
