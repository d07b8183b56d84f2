use pla_engine::{TaskArguments, TaskValues};
use proptest::prelude::*;

const VALUES: TaskValues<'_> = TaskValues {
    name: "my alert",
    counter: r"\Processor(_Total)\% Processor Time",
    date: "2026-11-25 12:00:00",
    threshold: "80",
    value: "93.5",
    logs: r"/logs/web1/Nightly/000001/Nightly.csv",
    state: "0",
    user_text: r#"ch&(26D@!k "{name}" $(reboot)"#,
};

fn words(text: &str) -> Vec<String> {
    text.parse::<TaskArguments>().expect("arguments").words(&VALUES)
}

#[test]
fn values_are_inserted_after_words_were_split() {
    assert_eq!(words("{name} {VALUE}>{threshold}"), ["my alert", "93.5>80"]);
    assert_eq!(
        words(r#"--at="{date} UTC"  {counter}"#),
        ["--at=2026-11-25 12:00:00 UTC", r"\Processor(_Total)\% Processor Time"]
    );
    assert_eq!(words("{state}={logs}"), [format!("0={}", VALUES.logs)]);
    assert_eq!(words("{usertext}"), [VALUES.user_text], "variables in it stay as they are");
}

#[test]
fn what_is_no_variable_stays_as_it_is() {
    assert_eq!(
        words(r#"{key} { name} {{name}} {name "" {}"#),
        ["{key}", "{", "name}", "{my alert}", "{name", "", "{}"]
    );
    assert_eq!(words("  "), [] as [String; 0]);
}

#[test]
fn what_cannot_be_split_is_told_with_its_position() {
    let refused = |text: &str| text.parse::<TaskArguments>().unwrap_err().to_string();
    assert_eq!(refused("a \"b c"), "task arguments: this quotation mark is not closed, at character 3");
    assert_eq!(refused("a\nb"), "task arguments: a control character, at character 2");
    assert!(refused(&"x".repeat(8193)).contains("at character 8193"));
}

proptest! {
    #[test]
    fn no_value_adds_a_word(text in r#"[a{}n " ]{0,30}"#, value: String) {
        let Ok(arguments) = text.parse::<TaskArguments>() else { return Ok(()) };
        let values = TaskValues { name: &value, counter: &value, date: &value, ..TaskValues::default() };
        prop_assert_eq!(arguments.words(&values).len(), arguments.words(&TaskValues::default()).len());
    }
}
