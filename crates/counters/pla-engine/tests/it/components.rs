use pla_engine::{COMPONENT_BYTES_MAX, component};
use proptest::prelude::*;

/// The exporter's tests have the same ones.
const CASES: &[(&str, &str)] = &include!("../data/components.in");

#[test]
fn what_a_path_or_a_file_system_gives_a_meaning_is_escaped() {
    for (text, expected) in CASES {
        assert_eq!(component(text), *expected, "{text:?}");
    }
}

#[test]
fn a_long_name_is_cut_and_stays_its_own() {
    let long = |end: &str| component(&format!("{}{end}", "ä".repeat(300)));
    assert!(long("").len() <= COMPONENT_BYTES_MAX && long("").starts_with("ääääää"));
    assert_ne!(long("1"), long("2"));
    let longest = "x".repeat(COMPONENT_BYTES_MAX);
    assert_eq!(component(&longest), longest);
    assert_ne!(component(&long("")), long(""), "no other text has the component of a long one");
}

/// The text of a component that was not cut, by the rules of URLs.
fn unescaped(component: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = component.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        match (first, after.split_at_checked(2)) {
            (b'%', Some((digits, after))) => {
                let digits = str::from_utf8(digits).expect("hexadecimal digits");
                bytes.push(u8::from_str_radix(digits, 16).expect("hexadecimal digits"));
                rest = after;
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).expect("a text")
}

fn any_text() -> impl Strategy<Value = String> {
    let device = proptest::sample::select(vec![
        "CON", "nul", "Com1", "lpt²", ".", "..", " ", "%", "%2e", "%~", "/", "\\", ":",
    ]);
    let piece =
        prop_oneof![device.prop_map(str::to_owned), "\\PC{0,4}", any::<char>().prop_map(String::from)];
    prop_oneof![
        9 => proptest::collection::vec(piece.clone(), 0..8).prop_map(|pieces| pieces.concat()),
        1 => proptest::collection::vec(piece, 60..200).prop_map(|pieces| pieces.concat()),
    ]
}

proptest! {
    #[test]
    fn a_component_is_harmless(text in any_text()) {
        let name = component(&text);
        prop_assert!((1..=COMPONENT_BYTES_MAX).contains(&name.len()));
        let forbidden = |c: char| c.is_control() || r#"/\<>:"|?*"#.contains(c);
        prop_assert!(!name.contains(forbidden), "{}", name);
        prop_assert!(!name.starts_with(['.', ' ']) && !name.ends_with(['.', ' ']), "{}", name);
        let stem = name.split('.').next().unwrap_or_default().trim_end().to_lowercase();
        for device in ["con", "prn", "aux", "nul", "com1", "com2", "lpt1", "lpt²", "conin$", "conout$"] {
            prop_assert_ne!(&stem, device);
        }
    }

    #[test]
    fn a_component_has_its_text(text in any_text()) {
        let name = component(&text);
        if !(name.contains("%~") || text.is_empty()) {
            prop_assert_eq!(unescaped(&name), text);
        }
    }

    #[test]
    fn two_texts_have_two_components(one in any_text(), other in any_text()) {
        prop_assert_eq!(component(&one) == component(&other), one == other);
    }
}
