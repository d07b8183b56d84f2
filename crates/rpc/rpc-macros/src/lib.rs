//! The derives of `rpc::ndr` and the `interface!` macro of `rpc`, which exports them and says what they do.

mod interface;
mod member;
mod structure;
mod union;

use proc_macro::TokenStream;
use syn::{Data, DeriveInput};

use self::member::{StubLifetime, TypeOptions};

/// Reads a type of an IDL: `rpc::ndr::NdrDecode`. See the documentation of `rpc::ndr`.
#[proc_macro_derive(NdrDecode, attributes(ndr))]
pub fn derive_ndr_decode(input: TokenStream) -> TokenStream {
    expand(syn::parse(input).and_then(|input| derive(&input, Half::Decode)))
}

/// Writes a type of an IDL: `rpc::ndr::NdrEncode`. See the documentation of `rpc::ndr`.
#[proc_macro_derive(NdrEncode, attributes(ndr))]
pub fn derive_ndr_encode(input: TokenStream) -> TokenStream {
    expand(syn::parse(input).and_then(|input| derive(&input, Half::Encode)))
}

/// Declares an RPC interface. See the documentation of `rpc`.
#[proc_macro]
pub fn interface(input: TokenStream) -> TokenStream {
    expand(syn::parse(input).and_then(|interface| interface::expand(&interface)))
}

/// Which trait is derived.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Decode,
    Encode,
}

fn derive(input: &DeriveInput, half: Half) -> syn::Result<proc_macro2::TokenStream> {
    let options = TypeOptions::parse(&input.attrs)?;
    if let Some(wire) = &options.wire {
        return Ok(structure::through_wire(input, wire, &StubLifetime::of(&input.generics)?, half));
    }
    match &input.data {
        Data::Struct(data) => structure::expand(input, options, data, half),
        Data::Enum(data) => union::expand(input, options, data, half),
        Data::Union(_) => Err(syn::Error::new_spanned(&input.ident, "a union of an IDL is an enum here")),
    }
}

fn expand(result: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    result.unwrap_or_else(|error| error.to_compile_error()).into()
}

#[cfg(test)]
mod tests;
