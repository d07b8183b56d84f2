use proc_macro2::Span;
use quote::format_ident;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Ident, LitFloat, LitInt, LitStr, Path, Token, Type, Visibility, braced, parenthesized};

use crate::member::{Member, lifetime_in};

pub(crate) struct Interface {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) ident: Ident,
    /// Its name in logs.
    pub(crate) name: String,
    pub(crate) uuid: u128,
    pub(crate) major: u16,
    pub(crate) minor: u16,
    /// What an interface of objects inherits from.
    pub(crate) base: Option<Path>,
    pub(crate) status: Type,
    pub(crate) methods: Vec<Method>,
}

pub(crate) struct Method {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) opnum: u16,
    pub(crate) idl_name: Ident,
    pub(crate) ident: Ident,
    pub(crate) requests: Vec<Parameter>,
    pub(crate) replies: Vec<Parameter>,
}

/// A parameter and its documentation.
pub(crate) struct Parameter {
    pub(crate) docs: Vec<Attribute>,
    pub(crate) member: Member,
}

impl Method {
    pub(crate) fn request_ident(&self) -> Ident {
        format_ident!("{}Request", camel(&self.ident))
    }

    pub(crate) fn reply_ident(&self) -> Ident {
        format_ident!("{}Reply", camel(&self.ident))
    }

    /// The context handles that a request names.
    pub(crate) fn handles(&self) -> impl Iterator<Item = &Ident> {
        let handles = self.requests.iter().filter(|parameter| parameter.member.options.is_handle);
        handles.map(|parameter| &parameter.member.ident)
    }
}

/// Whether a message borrows from its stub.
pub(crate) fn borrows(parameters: &[Parameter]) -> bool {
    parameters.iter().any(|parameter| lifetime_in(&parameter.member.ty))
}

/// `$(#[…])* pub interface Name("uuid", 1.0) -> Status { methods }`, and
/// `$(#[…])* pub orpc interface Name: Base("uuid") -> Status { methods }`
impl Parse for Interface {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let mut keyword: Ident = input.parse()?;
        let is_of_objects = keyword == "orpc";
        if is_of_objects {
            keyword = input.parse()?;
        }
        if keyword != "interface" {
            return Err(syn::Error::new(keyword.span(), "expected `interface`, or `orpc interface`"));
        }
        let ident: Ident = input.parse()?;
        let base = if is_of_objects { Some(parse_base(input, &ident)?) } else { None };
        let content;
        parenthesized!(content in input);
        let uuid = parse_uuid(&content.parse()?)?;
        let (major, minor) = if is_of_objects {
            // [MS-DCOM] 1.7
            (0, 0)
        } else {
            content.parse::<Token![,]>()?;
            parse_version(&content.parse()?)?
        };
        if !content.is_empty() {
            return Err(content.error("the version of an interface of objects is always 0.0"));
        }
        input.parse::<Token![->]>()?;
        let status = input.parse()?;
        let content;
        braced!(content in input);
        let mut methods: Vec<Method> = Vec::new();
        while !content.is_empty() {
            let method: Method = content.parse()?;
            if let Some(before) = methods.last()
                && before.opnum >= method.opnum
            {
                let message =
                    format!("methods are in the order of their opnums; {} came before", before.opnum);
                return Err(syn::Error::new(method.idl_name.span(), message));
            }
            if let Some(handle) = method.handles().next().filter(|_| is_of_objects) {
                let message = "an object has no context handles: it is the state";
                return Err(syn::Error::new(handle.span(), message));
            }
            methods.push(method);
        }
        let name = crate::member::doc_alias(&attributes).unwrap_or_else(|| ident.to_string());
        Ok(Self { attributes, visibility, ident, name, uuid, major, minor, base, status, methods })
    }
}

/// `$(#[…])* 15 => IdlName as rust_name(parameters) -> (parameters);`
impl Parse for Method {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let opnum = input.parse::<LitInt>()?.base10_parse()?;
        input.parse::<Token![=>]>()?;
        let idl_name: Ident = input.parse()?;
        let ident = if input.parse::<Option<Token![as]>>()?.is_some() {
            input.parse()?
        } else {
            Ident::new(&snake(&idl_name.to_string()), idl_name.span())
        };
        let requests = parse_parameters(input)?;
        let replies = match input.parse::<Option<Token![->]>>()? {
            Some(_) => parse_parameters(input)?,
            None => Vec::new(),
        };
        input.parse::<Token![;]>()?;
        if let Some(wrong) = replies.iter().find(|parameter| parameter.member.ident == "status") {
            let message = "a reply's `status` is what the method returns; give the parameter another name";
            return Err(syn::Error::new(wrong.member.ident.span(), message));
        }
        Ok(Self { attributes, opnum, idl_name, ident, requests, replies })
    }
}

impl Parse for Parameter {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let ident: Ident = input.parse()?;
        input.parse::<Token![:]>()?;
        let member = Member::new(ident, input.parse()?, &attributes)?;
        if member.options.is_conformant {
            let message = "`conformant` is for the last field of a structure; a parameter is a `Conformant`";
            return Err(syn::Error::new(member.ident.span(), message));
        }
        let docs = attributes.into_iter().filter(|attribute| attribute.path().is_ident("doc")).collect();
        Ok(Self { docs, member })
    }
}

fn parse_parameters(input: ParseStream<'_>) -> syn::Result<Vec<Parameter>> {
    let content;
    parenthesized!(content in input);
    Ok(Punctuated::<Parameter, Token![,]>::parse_terminated(&content)?.into_iter().collect())
}

fn parse_base(input: ParseStream<'_>, ident: &Ident) -> syn::Result<Path> {
    if input.peek(Token![:]) {
        input.parse::<Token![:]>()?;
        input.call(Path::parse_mod_style)
    } else {
        let message = "an interface of objects inherits from another one, at the least from `IUnknown`";
        Err(syn::Error::new(ident.span(), message))
    }
}

fn parse_uuid(text: &LitStr) -> syn::Result<u128> {
    let value = text.value();
    let groups: Vec<usize> = value.split('-').map(str::len).collect();
    let digits = value.replace('-', "");
    let uuid = u128::from_str_radix(&digits, 16).ok().filter(|_| groups == [8, 4, 4, 4, 12]);
    uuid.ok_or_else(|| syn::Error::new(text.span(), "an interface has a UUID: 8-4-4-4-12 hexadecimal digits"))
}

fn parse_version(version: &LitFloat) -> syn::Result<(u16, u16)> {
    let parts = version.base10_digits().split_once('.');
    let numbers = parts.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    numbers.ok_or_else(|| syn::Error::new(version.span(), "an interface has a version: `1.0`"))
}

fn camel(ident: &Ident) -> Ident {
    let text = ident.to_string();
    let words = text.split('_').map(|word| {
        let mut chars = word.chars();
        chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
    });
    Ident::new(&words.collect::<String>(), Span::call_site())
}

/// `OpenKey` is `open_key`, and a property's `get_Name` is `get_name`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    let mut after_small = false;
    for letter in name.chars() {
        if letter.is_uppercase() && after_small {
            snake.push('_');
        }
        after_small = !letter.is_uppercase() && letter != '_';
        snake.extend(letter.to_lowercase());
    }
    snake
}
