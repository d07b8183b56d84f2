//! What settings of a source collect, as its plugin says.

use plugin_abi::{FamilyKey, Problem, Selects};
use plugin_host::Library;

use crate::rust::linked;
use crate::support::{World, config};

fn asked(library: &Library, source: &str, family: [&str; 4]) -> Selects {
    let [namespace, object, item, part] = family.map(str::to_owned);
    let family = FamilyKey { namespace, object, item, part };
    library.selects(source, &config("web1.example"), &family).expect("the source answers")
}

#[test]
fn a_plugin_says_what_its_settings_collect_and_which_would() {
    let library = World::new().load("zoo/selects.c");
    let problem = |pointer: &str, message: &str, suggestion: &str| Problem {
        is_warning: false,
        pointer: pointer.to_owned(),
        message: message.to_owned(),
        suggestion: suggestion.to_owned(),
    };
    assert_eq!(asked(&library, "animal", ["zoo", "cow", "milk", "base"]), Selects::Yes);
    assert_eq!(asked(&library, "animal", ["zoo", "cow", "milk", ""]), Selects::Unknown);
    let feed = Selects::No(vec![problem("/food", "feed it", "hay")]);
    assert_eq!(asked(&library, "animal", ["", "horse", "", ""]), feed);
    assert_eq!(asked(&library, "animal", ["", "stone", "", ""]), Selects::No(Vec::new()));
}

#[test]
fn nothing_is_known_of_a_plugin_that_does_not_say() {
    let world = World::new();
    let silent = world.load("zoo/well_behaved.c");
    assert_eq!(asked(&silent, "animal", ["", "cow", "milk", ""]), Selects::Unknown);
}

#[test]
fn what_a_source_of_the_sdk_says_arrives() {
    let (_host, library) = linked(|_| {});
    assert_eq!(asked(&library, "counting", ["count", "Start", "Collections", ""]), Selects::Yes);
    let Selects::No(problems) = asked(&library, "counting", ["count", "Start", "Naps", ""]) else {
        panic!("naps are not selected")
    };
    assert_eq!((problems[0].pointer.as_str(), problems[0].suggestion.as_str()), ("/action", "wait"));
    assert_eq!(asked(&library, "blocking", ["count", "Start", "Collections", ""]), Selects::Unknown);
}
