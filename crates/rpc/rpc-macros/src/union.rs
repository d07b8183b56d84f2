use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{DataEnum, DeriveInput, Expr, Fields, Ident, Type, Variant};

use crate::Half;
use crate::member::{StubLifetime, TypeOptions, doc_alias, each_option};

pub(crate) fn expand(
    input: &DeriveInput,
    options: TypeOptions,
    data: &DataEnum,
    half: Half,
) -> syn::Result<TokenStream> {
    let Some(switch) = options.switch.clone() else {
        let message = "an enum is a union: say the type of its tag with `#[ndr(switch = u32)]`. \
                       An enumeration of an IDL is a newtype of its integer, since its values are open";
        return Err(syn::Error::new_spanned(&input.ident, message));
    };
    if let Some(check) = &options.check {
        return Err(syn::Error::new_spanned(check, "`check` is for structures and their fields"));
    }
    let stub = StubLifetime::of(&input.generics)?;
    let arms = data.variants.iter().map(Arm::new).collect::<syn::Result<Vec<_>>>()?;
    check(&arms)?;
    let union = Union { input, options, switch, stub, arms };
    Ok(match half {
        Half::Decode => union.decode(),
        Half::Encode => union.encode(),
    })
}

struct Union<'a> {
    input: &'a DeriveInput,
    options: TypeOptions,
    switch: Type,
    stub: StubLifetime,
    arms: Vec<Arm>,
}

struct Arm {
    ident: Ident,
    name: String,
    case: Case,
}

enum Case {
    /// The tag, and what the arm holds.
    Tag(Box<Expr>, Option<Box<Type>>),
    /// Any other tag, which is the value of the variant; nothing follows it.
    Default,
}

impl Arm {
    fn new(variant: &Variant) -> syn::Result<Self> {
        let (mut tag, mut is_default) = (None, false);
        each_option(&variant.attrs, |meta| {
            if meta.path.is_ident("case") && tag.is_none() {
                tag = Some(Box::new(meta.value()?.parse()?));
            } else if meta.path.is_ident("default") {
                is_default = true;
            } else {
                return Err(meta.error("an arm has one `case` or is the `default`"));
            }
            Ok(())
        })?;
        let held = match &variant.fields {
            Fields::Unit => None,
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                Some(Box::new(fields.unnamed[0].ty.clone()))
            }
            fields => {
                return Err(syn::Error::new_spanned(fields, "an arm holds one value or none"));
            }
        };
        let case = match (tag, is_default, held) {
            (Some(tag), false, held) => Case::Tag(tag, held),
            (None, true, Some(_)) => Case::Default,
            (None, true, None) => {
                return Err(syn::Error::new_spanned(variant, "the default arm holds the tag"));
            }
            _ => {
                let message = "an arm has `#[ndr(case = …)]` or `#[ndr(default)]`";
                return Err(syn::Error::new_spanned(variant, message));
            }
        };
        let name = doc_alias(&variant.attrs).unwrap_or_else(|| variant.ident.to_string());
        Ok(Self { ident: variant.ident.clone(), name, case })
    }
}

fn check(arms: &[Arm]) -> syn::Result<()> {
    let mut defaults = arms.iter().filter(|arm| matches!(arm.case, Case::Default));
    if let Some(second) = defaults.nth(1) {
        return Err(syn::Error::new_spanned(&second.ident, "a union has one default arm"));
    }
    let tags = arms.iter().filter_map(|arm| match &arm.case {
        Case::Tag(tag, _) => crate::member::literal(tag).map(|tag| (tag, &arm.ident)),
        Case::Default => None,
    });
    let mut seen = std::collections::BTreeSet::new();
    for (tag, ident) in tags {
        if !seen.insert(tag) {
            return Err(syn::Error::new_spanned(ident, format!("two arms have the tag {tag}")));
        }
    }
    Ok(())
}

impl Union<'_> {
    fn decode(&self) -> TokenStream {
        let (ident, stub, arguments) = (&self.input.ident, &self.stub.lifetime, &self.stub.arguments);
        let (switch, name) = (&self.switch, self.options.name(ident, &self.input.attrs));
        let inline_variants = self.arms.iter().map(|Arm { ident, case, .. }| match case {
            Case::Tag(_, Some(ty)) => quote!(#ident(<#ty as ::rpc::ndr::NdrDecode<#stub>>::Inline)),
            Case::Tag(_, None) => quote!(#ident),
            Case::Default => quote!(#ident(#switch)),
        });
        let sizes = self.arms.iter().map(|arm| match &arm.case {
            Case::Tag(_, Some(ty)) => quote!((
                <#ty as ::rpc::ndr::NdrDecode<#stub>>::ALIGNMENT,
                <#ty as ::rpc::ndr::NdrDecode<#stub>>::INLINE_SIZE_MIN,
            )),
            Case::Tag(_, None) | Case::Default => quote!((1, 0)),
        });
        let cases = self.arms.iter().filter_map(|Arm { ident, name, case }| match case {
            Case::Tag(tag, Some(ty)) => Some(quote!(#tag => Inline::#ident(src.inline::<#ty>(#name)?))),
            Case::Tag(tag, None) => Some(quote!(#tag => Inline::#ident)),
            Case::Default => None,
        });
        let default = self.arms.iter().find(|arm| matches!(arm.case, Case::Default));
        let other = match default {
            Some(Arm { ident, .. }) => quote!(tag => Inline::#ident(tag)),
            None => quote!(_ => {
                return ::core::result::Result::Err(src.invalid("no arm of the union has this tag"));
            }),
        };
        let deferred = self.arms.iter().map(|Arm { ident, name, case }| match case {
            Case::Tag(_, Some(ty)) => {
                quote!(Inline::#ident(inline) => Self::#ident(src.deferred::<#ty>(#name, inline)?))
            }
            Case::Tag(_, None) => quote!(Inline::#ident => Self::#ident),
            Case::Default => quote!(Inline::#ident(tag) => Self::#ident(tag)),
        });
        quote! {
            const _: () = {
                #[doc(hidden)]
                #[allow(missing_docs, unreachable_pub, missing_debug_implementations)]
                pub enum Inline<#stub> {
                    #(#inline_variants,)*
                    Lifetime(::core::marker::PhantomData<&#stub ()>, ::core::convert::Infallible),
                }

                #[automatically_derived]
                impl<#stub> ::rpc::ndr::NdrDecode<#stub> for #ident #arguments {
                    type Inline = Inline<#stub>;
                    const NAME: &'static str = #name;
                    const ALIGNMENT: usize = <#switch as ::rpc::ndr::NdrDecode<#stub>>::ALIGNMENT;
                    const INLINE_SIZE_MIN: usize = ::rpc::ndr::layout::union_size_min(
                        <#switch as ::rpc::ndr::NdrDecode<#stub>>::INLINE_SIZE_MIN,
                        &[#(#sizes),*],
                    );

                    fn decode_inline(src: &mut ::rpc::ndr::Reader<#stub>) -> ::rpc::ndr::Result<Self::Inline> {
                        let tag = src.inline::<#switch>("tag")?;
                        ::core::result::Result::Ok(match tag {
                            #(#cases,)*
                            #other
                        })
                    }

                    fn decode_deferred(
                        inline: Self::Inline,
                        src: &mut ::rpc::ndr::Reader<#stub>,
                    ) -> ::rpc::ndr::Result<Self> {
                        ::core::result::Result::Ok(match inline {
                            #(#deferred,)*
                            Inline::Lifetime(_, never) => match never {},
                        })
                    }
                }
            };
        }
    }

    fn encode(&self) -> TokenStream {
        let (ident, arguments) = (&self.input.ident, &self.stub.arguments);
        let (switch, name) = (&self.switch, self.options.name(ident, &self.input.attrs));
        let tags = self.arms.iter().map(|Arm { ident, case, .. }| match case {
            Case::Tag(tag, Some(_)) => quote!(Self::#ident(_) => #tag),
            Case::Tag(tag, None) => quote!(Self::#ident => #tag),
            Case::Default => quote!(Self::#ident(tag) => *tag),
        });
        // Of each arm that holds a value, what its deferred half gets.
        let held: Vec<(Ident, &Type)> = self
            .arms
            .iter()
            .filter_map(|arm| match &arm.case {
                Case::Tag(_, Some(ty)) => Some((format_ident!("of_{}", arm.ident), &**ty)),
                _ => None,
            })
            .collect();
        let (names, types): (Vec<_>, Vec<_>) = held.into_iter().unzip();
        let inline = self.arms.iter().map(|Arm { ident, case, .. }| match case {
            Case::Tag(_, Some(_)) => {
                let of_arm = format_ident!("of_{ident}");
                quote!(Self::#ident(value) => #of_arm = ::core::option::Option::Some(dst.inline(value)?),)
            }
            Case::Tag(_, None) => quote!(Self::#ident => {}),
            Case::Default => self.default_inline(ident, &name),
        });
        let deferred = self.arms.iter().filter_map(|Arm { ident, case, .. }| match case {
            Case::Tag(_, Some(_)) => {
                let of_arm = format_ident!("of_{ident}");
                Some(quote! {
                    if let (Self::#ident(value), ::core::option::Option::Some(deferred)) = (self, #of_arm) {
                        return dst.deferred(value, deferred);
                    }
                })
            }
            Case::Tag(_, None) | Case::Default => None,
        });
        let tag = quote! { let tag: #switch = match self { #(#tags,)* }; };
        quote! {
            #[automatically_derived]
            impl #arguments ::rpc::ndr::Union for #ident #arguments {
                fn tag(&self) -> ::core::option::Option<i64> {
                    #tag
                    ::core::option::Option::Some(i64::from(tag))
                }
            }

            #[automatically_derived]
            impl #arguments ::rpc::ndr::NdrEncode for #ident #arguments {
                type Deferred = (#(::core::option::Option<<#types as ::rpc::ndr::NdrEncode>::Deferred>,)*);
                const ALIGNMENT: usize = <#switch as ::rpc::ndr::NdrEncode>::ALIGNMENT;

                #[allow(non_snake_case, reason = "variables have the names of arms")]
                fn encode_inline(&self, dst: &mut ::rpc::ndr::Writer) -> ::rpc::ndr::EncodeResult<Self::Deferred> {
                    #tag
                    dst.inline(&tag)?;
                    #(let mut #names = ::core::option::Option::None;)*
                    match self { #(#inline)* }
                    ::core::result::Result::Ok((#(#names,)*))
                }

                #[allow(non_snake_case, reason = "variables have the names of arms")]
                fn encode_deferred(
                    &self,
                    (#(#names,)*): Self::Deferred,
                    dst: &mut ::rpc::ndr::Writer,
                ) -> ::rpc::ndr::EncodeResult<()> {
                    #(#deferred)*
                    ::core::result::Result::Ok(())
                }
            }
        }
    }

    /// The default arm must not have the tag of another one: its reader would look for that one's value.
    fn default_inline(&self, ident: &Ident, name: &str) -> TokenStream {
        let taken = self.arms.iter().filter_map(|arm| match &arm.case {
            Case::Tag(tag, _) => Some(tag),
            Case::Default => None,
        });
        quote!(Self::#ident(_) => match tag {
            #(#taken => {
                let error = ::rpc::ndr::EncodeError::new(#name, "tag", "is that of another arm");
                return ::core::result::Result::Err(error);
            })*
            _ => {}
        })
    }
}
