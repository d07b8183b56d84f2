use super::*;

/// The edges that are part of a circle, in a package of these files.
fn circles(files: &[(&str, &str)]) -> Vec<String> {
    found(files)
        .into_iter()
        .map(|Edge { parent, from, to, .. }| format!("{parent}: {from} -> {to}"))
        .collect()
}

fn found(files: &[(&str, &str)]) -> Vec<Edge> {
    let source = |(name, text): &(&str, &str)| Source {
        module: module_of(name, "src/lib.rs"),
        file: (*name).to_owned(),
        text: (*text).to_owned(),
    };
    in_circles(&edges(&read(&files.iter().map(source).collect::<Vec<_>>())))
}

const NONE: &[&str] = &[];

#[test]
fn two_siblings_that_import_each_other_are_a_circle_and_one_that_imports_both_is_not_in_it() {
    let files = [
        ("src/lib.rs", "mod a; mod b; mod c;"),
        ("src/a.rs", "use crate::b::B; pub struct A;"),
        ("src/b.rs", "pub struct B(crate::a::A);"),
        ("src/c.rs", "use crate::{a, b::B};"),
    ];
    assert_eq!(circles(&files), ["crate: a -> b", "crate: b -> a"]);
}

#[test]
fn modules_in_layers_and_parents_with_their_children_are_no_circle() {
    let files = [
        ("src/lib.rs", "mod a; mod b; pub use self::a::A; use self::b::B;"),
        ("src/a/mod.rs", "mod deep; use self::deep::D; use crate::b::{self, B}; pub struct A;"),
        ("src/a/deep.rs", "use super::A; use crate::a::A as Other; pub struct D;"),
        ("src/b.rs", "use crate::Outside; pub struct B; impl B { fn b() { self::c(); other::a::b(); } }"),
    ];
    assert_eq!(circles(&files), NONE);
}

#[test]
fn circles_are_found_at_any_depth_and_between_what_stands_below_siblings() {
    let files = [
        ("src/a/mod.rs", ""),
        ("src/a/x.rs", "use super::y::Y; pub struct X;"),
        ("src/a/y/mod.rs", "pub struct Y;"),
        ("src/a/y/z.rs", "fn z() -> super::super::x::X { loop {} }"),
    ];
    assert_eq!(circles(&files), ["crate::a: x -> y", "crate::a: y -> x"]);
}

#[test]
fn every_form_of_import_and_path_counts() {
    for import in [
        "use crate::b;",
        "use crate::b::{B};",
        "use crate::{c, b::{self}};",
        "use crate::{b::{B as Other, *}};",
        "use super::b::B;",
        "use super::{c::C, b::B};",
        "pub(crate) use crate::b::B;",
        "pub(in crate::c) use super::b::*;",
        "fn f(b: &crate::b::B<'_>) {}",
        "fn f() { macro!(\"crate::c\", super::b::b()) }",
        "mod inner { use super::super::b::B; }",
        "#[cfg(not(test))] use crate::b;",
    ] {
        let files = [
            ("src/lib.rs", ""),
            ("src/a.rs", import),
            ("src/b.rs", "use crate::a; pub struct B;"),
            ("src/c.rs", "pub struct C;"),
        ];
        assert_eq!(circles(&files), ["crate: a -> b", "crate: b -> a"], "{import}");
    }
}

#[test]
fn names_that_a_parent_passes_on_count_for_the_module_that_has_them() {
    for (parent, import) in [
        ("pub use self::b::B;", "use super::B;"),
        ("pub use self::b::B as C;", "fn f(_: crate::C) {}"),
        ("pub use self::b::*;", "use crate::B;"),
        ("use self::b as c;", "use super::c::B;"),
    ] {
        let files =
            [("src/lib.rs", parent), ("src/a.rs", import), ("src/b.rs", "use super::a; pub struct B;")];
        assert_eq!(circles(&files), ["crate: a -> b", "crate: b -> a"], "{parent} {import}");
    }
}

#[test]
fn tests_comments_and_visibility_import_nothing() {
    for text in [
        "// use crate::b;\n/* crate::b::B */ /// [`crate::b`]\nconst T: &str = \"use crate::b;\";",
        "#[cfg(test)] mod tests { use crate::b::B; fn f() {} }",
        "#[cfg(test)]\n#[expect(unused)]\nmod tests;",
        "#[cfg(all(test, unix))] use crate::b;",
        "#[cfg(test)] fn f() -> [u8; 3] { crate::b::B; [0; 3] }",
        "pub(in crate::b) struct A;",
    ] {
        let files = [
            ("src/lib.rs", ""),
            ("src/a/mod.rs", text),
            ("src/a/tests.rs", if text.contains("mod tests;") { "use crate::b;" } else { "" }),
            ("src/b.rs", "use crate::a; pub struct B;"),
        ];
        assert_eq!(circles(&files), NONE, "{text}");
    }
}

#[test]
fn what_stands_behind_a_test_counts_again() {
    let text = "#[cfg(test)] mod tests { fn f() {} }\nuse crate::b;";
    let edge = found(&[("src/a.rs", text), ("src/b.rs", "use crate::a;")]).swap_remove(0);
    assert_eq!((edge.from.as_str(), edge.file.as_str(), edge.line), ("a", "src/a.rs", 2));
}

#[test]
fn a_circle_is_named_by_package_and_by_the_line_that_imports() {
    let edges = found(&[("src/a.rs", "\nuse crate::b;"), ("src/b.rs", "use crate::a;")]);
    let told = problem("p", &edges[0]);
    let begin = "p | crate | a -> b: modules import each other in a circle, here in src/a.rs, line 2;";
    assert!(told.starts_with(begin), "{told}");
}
