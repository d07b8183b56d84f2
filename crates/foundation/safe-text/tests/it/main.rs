//! Components of paths: harmless, and each of one text.

use std::collections::BTreeSet;

use proptest::prelude::*;
use safe_text::{COMPONENT_BYTES_MAX, component, text_of};

/// Texts and their components.
const CASES: &[(&str, &str)] = &[
    ("", "%"),
    (".", "%2E"),
    ("..", "%2E%2E"),
    ("...", "%2E.%2E"),
    (".hidden", "%2Ehidden"),
    ("end.", "end%2E"),
    (" both ", "%20both%20"),
    ("a/b\\c", "a%2Fb%5Cc"),
    ("50%", "50%25"),
    ("%2F", "%252F"),
    ("%~", "%25~"),
    ("C:", "C%3A"),
    ("a\0b\nc\u{7f}", "a%00b%0Ac%7F"),
    ("a\u{85}b", "a%C2%85b"),
    ("a<b>c\"d|e?f*", "a%3Cb%3Ec%22d%7Ce%3Ff%2A"),
    ("a\u{202e}b", "a%E2%80%AEb"),
    ("\u{feff}a\u{200b}", "%EF%BB%BFa%E2%80%8B"),
    ("../../etc/passwd", "%2E.%2F..%2Fetc%2Fpasswd"),
    ("CON", "%43ON"),
    ("nul", "%6Eul"),
    ("Aux.csv", "%41ux.csv"),
    ("PRN .tar.gz", "%50RN .tar.gz"),
    ("COM1", "%43OM1"),
    ("com9.csv", "%63om9.csv"),
    ("LPT³", "%4CPT³"),
    ("conin$", "%63onin$"),
    ("con\u{a0}.csv", "con\u{a0}.csv"),
    ("con\t.csv", "con%09.csv"),
    ("COM10", "COM10"),
    ("console", "console"),
    ("Office hours", "Office hours"),
    ("größe 5", "größe 5"),
    ("[2001:db8::1]", "[2001%3Adb8%3A%3A1]"),
    ("web1.corp.example.com", "web1.corp.example.com"),
    ("a(b)_c#2", "a(b)_c#2"),
    ("a\u{308}", "a\u{308}"),
    (
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    ),
    (
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx%~84a0678c90937f5dcf9994d5866668da",
    ),
    (
        "äääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääää",
        "äääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääää%~ca1341e52c9b1ea71cfc2c590e300efc",
    ),
    (
        "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy/yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy",
        "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy%~bd8a7057c5bf5e1d6c9f6f6f9f0b1e44",
    ),
];

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

#[test]
fn a_component_tells_its_text() {
    for (name, expected) in CASES {
        assert_eq!(component(name), *expected, "{name:?}");
        match expected.split_once("%~") {
            None => assert_eq!(text_of(expected), *name, "{expected:?}"),
            Some((kept, _)) => assert_eq!(text_of(expected), format!("{kept}…")),
        }
    }
}

#[test]
fn no_two_names_share_a_component() {
    let long = "x".repeat(300);
    let names = [
        "",
        "%",
        "a b",
        "a%20b",
        "a.",
        ".a",
        "%2Ea",
        "A",
        "a",
        "ä",
        "a\u{308}",
        "~",
        "%7E",
        &long,
        &long[1..],
        &"ä".repeat(130),
        &"x".repeat(200),
        &"x".repeat(201),
        &component(&long),
    ];
    let components: BTreeSet<String> = names.iter().map(|name| component(name)).collect();
    assert_eq!(components.len(), names.len());
    for component in components {
        let is_harmless = !component.starts_with('.') && !component.contains(['/', '\0']);
        assert!(component.len() <= COMPONENT_BYTES_MAX && is_harmless, "{component}");
    }
    assert_eq!(text_of(&component(&long)), format!("{}…", "x".repeat(COMPONENT_BYTES_MAX - "%~".len() - 32)));
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
