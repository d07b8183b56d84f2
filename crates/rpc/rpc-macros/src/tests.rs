//! What the macros refuse, and why they say so.

use syn::{DeriveInput, parse_str};

use crate::interface::parse::Interface;
use crate::{Half, derive, interface};

/// Why a type is refused, by both derives alike.
fn refused(declaration: &str) -> String {
    let refuse = |half| {
        let input: DeriveInput = parse_str(declaration).expect("the declaration is Rust");
        derive(&input, half).expect_err("it is refused").to_string()
    };
    let (decode, encode) = (refuse(Half::Decode), refuse(Half::Encode));
    assert_eq!(decode, encode);
    decode
}

/// Why an interface is refused.
fn refused_interface(body: &str) -> String {
    refused_declaration(&format!(
        "pub interface Shelf(\"0a74ef1c-41a4-4e06-83ae-dc74fb1cdd53\", 1.0) -> Win32Error {{ {body} }}"
    ))
}

fn refused_declaration(declaration: &str) -> String {
    match parse_str::<Interface>(declaration) {
        Ok(interface) => interface::expand(&interface).expect_err("it is refused").to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_ndr_cannot_hold_is_no_structure() {
    for empty in ["struct Empty;", "struct Empty {}", "struct Two(u8, u8);"] {
        assert!(refused(empty).contains("has fields with names, or is a newtype"), "{empty}");
    }
    assert!(refused("union Raw { a: u32, b: f32 }").contains("an enum here"));
    let generic = refused("struct Any<T> { value: T }");
    assert!(generic.contains("no parameter but the lifetime of the stub"), "{generic}");
    assert_eq!(refused("struct Both<'a, 'b> { a: &'a u8, b: &'b u8 }"), generic);
}

#[test]
fn a_conformant_array_is_the_last_field() {
    let message = refused("struct List { #[ndr(conformant)] items: Vec<u8>, count: u32 }");
    assert_eq!(message, "only the last field of a structure can be a conformant array");
}

#[test]
fn an_attribute_that_is_none_is_refused_with_those_that_are() {
    let message = refused("struct Item { #[ndr(size = 4)] kind: u32 }");
    assert!(message.contains("`size_is`"), "{message}");
    let message = refused("#[ndr(length_is = 4)] struct Item { kind: u32 }");
    assert_eq!(message, "a type has `name`, `check`, `wire` or `switch`");
    let message = refused("struct Item { #[ndr(handle)] kind: u32 }");
    assert_eq!(message, "`handle` is for parameters of methods");
    let message = refused("struct Item { #[ndr(returned)] kind: u32 }");
    assert_eq!(message, "`returned` is for the last parameter of a reply");
    let message = refused("#[ndr(switch = u32)] struct Item { kind: u32 }");
    assert!(message.contains("unions, which are enums"), "{message}");
}

#[test]
fn a_union_has_a_tag_and_each_arm_one_case() {
    assert!(refused("enum Kind { One, Two }").contains("say the type of its tag"));
    let arms = |arms: &str| refused(&format!("#[ndr(switch = u32)] enum Info {{ {arms} }}"));
    assert_eq!(arms("One(u32)"), "an arm has `#[ndr(case = …)]` or `#[ndr(default)]`");
    assert_eq!(arms("#[ndr(case = 1)] One(u32), #[ndr(case = 1)] Two(u8)"), "two arms have the tag 1");
    assert_eq!(arms("#[ndr(case = 1, case = 2)] One(u32)"), "an arm has one `case` or is the `default`");
    assert_eq!(arms("#[ndr(case = 1)] One(u32, u8)"), "an arm holds one value or none");
    assert_eq!(arms("#[ndr(default)] Other"), "the default arm holds the tag");
    assert_eq!(arms("#[ndr(default)] Other(u32), #[ndr(default)] More(u32)"), "a union has one default arm");
    let message = refused("#[ndr(switch = u32, check = even)] enum Info { #[ndr(case = 1)] One }");
    assert!(message.contains("`check` is for structures"), "{message}");
}

#[test]
fn an_interface_has_a_uuid_and_a_version() {
    let uuid = refused_declaration("pub interface Shelf(\"0a74ef1c\", 1.0) -> Win32Error {}");
    assert!(uuid.contains("8-4-4-4-12 hexadecimal digits"), "{uuid}");
    let digits = refused_declaration(
        "pub interface Shelf(\"0a74ef1c-41a4-4e06-83ae-dc74fb1cdd5g\", 1.0) -> Win32Error {}",
    );
    assert_eq!(digits, uuid);
    let word =
        refused_declaration("pub trait Shelf(\"0a74ef1c-41a4-4e06-83ae-dc74fb1cdd53\", 1.0) -> u32 {}");
    assert!(word.contains("expected"), "{word}");
}

#[test]
fn methods_stand_once_each_in_order() {
    let message = refused_interface("1 => Count(shelf: u32); 1 => Again();");
    assert_eq!(message, "methods are in the order of their opnums; 1 came before");
    let message = refused_interface("5 => Count(shelf: u32); 2 => Again();");
    assert_eq!(message, "methods are in the order of their opnums; 5 came before");
}

#[test]
fn parameters_say_only_what_their_side_can() {
    let message = refused_interface("0 => Open(name: u32) -> (status: u32);");
    assert!(message.contains("give the parameter another name"), "{message}");
    let message = refused_interface("0 => Open(name: u32) -> (#[ndr(handle)] shelf: ContextHandle);");
    assert!(message.contains("`handle` is for requests"), "{message}");
    let message = refused_interface("0 => Open(#[ndr(conformant)] name: Vec<u8>);");
    assert!(message.contains("a parameter is a `Conformant`"), "{message}");
    let message = refused_interface(
        "0 => Read(room: u32) -> (#[ndr(length_is = room)] data: ConformantVaryingBytes<'stub>);",
    );
    assert_eq!(message, "`length_is` of a reply names parameters of the reply");
    for method in [
        "0 => IsOpen(#[ndr(returned)] shelf: u32);",
        "0 => IsOpen() -> (#[ndr(returned)] is_open: u32, books: u32);",
    ] {
        assert_eq!(refused_interface(method), "`returned` is for the last parameter of a reply");
    }
}

#[test]
fn an_interface_of_objects_inherits_and_has_neither_version_nor_handles() {
    let uuid = "\"0a74ef1c-41a4-4e06-83ae-dc74fb1cdd53\"";
    let message = refused_declaration(&format!("pub orpc interface ILamp({uuid}) -> HResult {{}}"));
    assert!(message.contains("at the least from `IUnknown`"), "{message}");
    let message =
        refused_declaration(&format!("pub orpc interface ILamp: IUnknown({uuid}, 1.0) -> HResult {{}}"));
    assert!(message.contains("is always 0.0"), "{message}");
    let method = "3 => Close(#[ndr(handle)] lamp: ContextHandle);";
    let message =
        refused_declaration(&format!("pub orpc interface ILamp: IUnknown({uuid}) -> HResult {{ {method} }}"));
    assert!(message.contains("no context handles"), "{message}");
    let message = refused_declaration(&format!("pub orpc class ILamp: IUnknown({uuid}) -> HResult {{}}"));
    assert!(message.contains("`orpc interface`"), "{message}");
}

#[test]
fn a_method_without_a_rust_name_has_that_of_the_idl_in_snake_case() {
    let name = |idl: &str| {
        let uuid = "\"0a74ef1c-41a4-4e06-83ae-dc74fb1cdd53\"";
        let declaration =
            format!("pub orpc interface ILamp: IUnknown({uuid}) -> HResult {{ 3 => {idl}(); }}");
        let interface: Interface = parse_str(&declaration).expect("it is an interface");
        let method = &interface.methods[0];
        (method.ident.to_string(), method.request_ident().to_string())
    };
    assert_eq!(name("SetXml"), ("set_xml".to_owned(), "SetXmlRequest".to_owned()));
    assert_eq!(name("get_FileName"), ("get_file_name".to_owned(), "GetFileNameRequest".to_owned()));
}
