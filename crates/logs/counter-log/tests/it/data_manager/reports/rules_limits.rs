use counter_log::data_manager::reports::{Limits, Options, Report, Rules};

use crate::data_manager::reports::ruled::{apply, apply_all};
use crate::data_manager::reports::run::Run;

#[test]
fn work_ends_rules_and_what_was_done_before_stays() {
    let rules = "<Rules><Group name='g'><Rule name='first'><Step select='/Report'><Exists><When expression='true()'>\
        <Insert><Attribute name='seen' value='1'/></Insert></When></Exists></Step></Rule>\
        <Rule name='endless'><Step select='//*[//*[//*[//*]]]'><Otherwise/></Step></Rule>\
        <Rule name='last'><Step select='/Report'><Exists><When expression='true()'><Delete select='Section'/></When></Exists>\
        </Step></Rule></Group></Rules>";
    let limits = Limits { work_max: 1_000_000, ..Limits::default() };
    let ruled = apply_all(rules, &limits);
    assert!(ruled.applied.work <= 1_000_000);
    assert_eq!(
        (ruled.ask("string(/Report/@seen)"), ruled.ask("count(/Report/Section)")),
        ("1".to_owned(), "6".to_owned())
    );
    assert_eq!(
        ruled.failures(),
        [
            "group `g`, rule `endless`: the rules take more than 1000000 units of work, which is the limit, so that they end here"
        ]
    );
}

#[test]
fn reports_that_double_with_each_step_stay_within_their_size() {
    let step = "<Step select='//Item'><Exists><When expression='true()'><Insert><Node axis='following-sibling'>\
        <Item><Data name='x'>some text</Data></Item></Node></Insert></When></Exists></Step>";
    let limits = Limits { nodes_max: 5_000, ..Limits::default() };
    let rules = format!("<Rules><Group name='g'><Rule name='r'>{}</Rule></Group></Rules>", step.repeat(20));
    let ruled = apply_all(&rules, &limits);
    assert!(ruled.failures()[0].contains("would have more than 5000 nodes"), "{:?}", ruled.failures());
    assert_eq!(ruled.ask("count(//node() | //@*) <= 5000 + 200"), "true");
}

#[test]
fn elements_are_not_inserted_in_one_another_without_end() {
    let step = "<Step select='//Deep[not(Deep)] | /Report[not(Deep)]'><Exists><When expression='true()'><Insert><Node axis='child'>\
        <Deep/></Node></Insert></When></Exists></Step>";
    let ruled = apply(&step.repeat(120));
    assert!(ruled.failures()[0].contains("elements would be 96 deep in one another, which is the limit"));
    assert_eq!(ruled.ask("count(//Deep[last()]/ancestor::Deep) < 96"), "true");
    // The deepest report is written and read again.
    let limits = ms_pla::xml::Limits { depth_max: 100, ..ms_pla::xml::Limits::default() };
    assert!(ms_pla::xml::Element::read(ruled.report.to_xml().as_bytes(), &limits).is_ok());
    assert!(ruled.report.to_html().ends_with("</html>\n"));
}

#[test]
fn variables_do_not_grow_without_end() {
    let double = "<Variable name='v'>{v}{v}</Variable>".repeat(40);
    let ruled = apply(&format!(
        "<Step select='/Report'><Variable name='v'>0123456789</Variable>{double}<Exists><Otherwise/></Exists></Step>"
    ));
    assert_eq!(
        ruled.failures(),
        ["group `g`, rule `r`: step 1: the variable `v` has more than 16384 bytes, which is the limit"]
    );
}

#[test]
fn documents_with_more_actions_than_the_limit_are_refused() {
    let rules = |count: usize| {
        let actions = "<Delete select='x'/>".repeat(count);
        format!(
            "<Rules><Group name='g'><Rule name='r'><Step select='/'><Otherwise>{actions}</Otherwise></Step></Rule></Group></Rules>"
        )
    };
    let limits = Limits { actions_max: 100, ..Limits::default() };
    assert!(Rules::read_document(rules(99).as_bytes(), &limits).is_ok());
    let refused =
        Rules::read_document(rules(100).as_bytes(), &limits).map(|_| ()).map_err(|error| error.to_string());
    assert!(refused.is_err_and(|error| {
        error.ends_with("there are more than 100 steps and actions, which is the limit")
    }));
}

#[test]
fn failures_and_lines_of_the_log_are_limited() {
    let step = "<Step select='//['><Otherwise/></Step>".repeat(200);
    let rules =
        format!("<Rules><Logging level='1'/><Group name='g'><Rule name='r'>{step}</Rule></Group></Rules>");
    let limits = Limits { failures_max: 5, log_lines_max: 7, ..Limits::default() };
    let applied = apply_all(&rules, &limits).applied;
    assert_eq!((applied.failures.len(), applied.log.len()), (5, 7));
}

#[test]
fn documents_that_are_read_are_work_and_do_not_take_memory_without_end() {
    let insert = |number: usize| {
        format!("<Insert><Node axis='child' document='{number}.xml' select='/a/none'/></Insert>")
    };
    let inserts: String = (0..100).map(insert).collect();
    let rules = format!(
        "<Rules><Group name='g'><Rule name='r'><Step select='/Report'><Exists><When expression='true()'>{inserts}</When></Exists>\
         </Step></Rule></Group></Rules>"
    );
    for document in [format!("<a>{}</a>", "<b/>".repeat(10_000)), format!("<a>{}</a>", "b".repeat(1 << 20))] {
        let limits = Limits { work_max: 1_000_000, ..Limits::default() };
        let rules = Rules::read_document(rules.as_bytes(), &limits).expect("the rules are rules");
        let mut report = Report::build(None, &Run::server().source(), &Options::default());
        let mut read = 0;
        let (mut applied, bytes) = (None, document.len());
        let taken = allocation_counter::measure(|| {
            let mut documents = |_: &str| {
                read += 1;
                Ok(document.clone().into_bytes())
            };
            applied = Some(rules.apply(&mut report, &mut documents, &limits));
        });
        let failures = applied.expect("they were applied").failures;
        assert_eq!(failures.len(), 1, "{failures:?}");
        assert!(
            failures[0].reason.starts_with("the rules take more than 1000000 units of work"),
            "{failures:?}"
        );
        assert!((1..10).contains(&read), "{read} of {bytes} bytes");
        assert!(taken.bytes_max < 16 << 20, "{read} of {bytes} bytes: {taken:?}");
    }
}

/// The most memory that rules take beside that of their document and of their report.
fn memory_of(rules: &str, limits: &Limits) -> (u64, Vec<String>) {
    let rules = Rules::read_document(rules.as_bytes(), limits).expect("the rules are rules");
    let mut report = Report::build(None, &Run::server().source(), &Options::default());
    let mut failures = Vec::new();
    let taken = allocation_counter::measure(|| {
        let mut documents = |_: &str| Err("there is no such file".to_owned());
        let applied = rules.apply(&mut report, &mut documents, limits);
        failures = applied.failures.iter().map(ToString::to_string).collect();
    });
    (taken.bytes_max, failures)
}

#[test]
fn what_is_too_long_is_not_made_before_it_is_refused() {
    let limits = Limits { bytes_max: 1 << 20, ..Limits::default() };
    // 100,000 times 10,000 bytes.
    let many = "{a}".repeat(100_000);
    let long = "0123456789".repeat(1000);
    let all = |strings: &str, name: &str, step: &str| {
        format!(
            "<Rules><Group name='g'><Rule name='{name}'><Step select='/Report'><Variable name='a'>{long}</Variable>\
             <Exists>{step}</Exists></Step></Rule></Group><StringTable>{strings}</StringTable></Rules>"
        )
    };
    let when = |actions: &str| format!("<When expression='true()'>{actions}</When>");
    let check = |rules: &str, reason: &str| {
        let (bytes, failures) = memory_of(rules, &limits);
        assert_eq!(failures.len(), 1, "{failures:?}");
        assert!(failures[0].contains(reason), "{reason}: {}", failures[0]);
        assert!(bytes < 8 << 20, "{reason}: {bytes}");
    };
    let variable = when(&format!("<Variable name='b'>{many}</Variable>"));
    check(&all("", "r", &variable), "the variable `b` has more than 16384 bytes");
    let attribute = when(&format!("<Insert><Attribute name='b' value='{many}'/></Insert>"));
    check(&all("", "r", &attribute), "a text with its variables replaced has more than 1048576 bytes");
    let text = when(&format!("<Insert><Node axis='child'><a>{many}</a></Node></Insert>"));
    check(&all("", "r", &text), "a text with its variables replaced has more than 1048576 bytes");
    for quote in ["", "\""] {
        let expression = format!("<When expression='{quote}{many}{quote}'><Delete select='x'/></When>");
        check(&all("", "r", &expression), "the expression has more than 4096 bytes");
    }
    let string = format!("<String ID='s'>{long}</String>");
    check(&all(&string, &"$(s)".repeat(100_000), &when("")), "the name has more than 16384 bytes");
}

#[test]
fn braces_and_brackets_without_an_end_are_searched_once() {
    // A search to the end of the text for each of them would look at a quarter of a tebibyte.
    for part in ["{", "$("] {
        let text = part.repeat(1 << 20);
        let ruled = apply(&format!(
            "<Step select='/Report'><Exists><When expression='true()'><Insert><Attribute name='b' value='{text}'/></Insert></When>\
             </Exists></Step>"
        ));
        assert_eq!(ruled.ask("string-length(/Report/@b)"), text.len().to_string());
    }
}

#[test]
fn texts_that_grow_at_their_beginning_take_their_memory_once_and_their_bytes_are_work() {
    // 1,000 times a megabyte would be moved, or kept.
    let text = "x".repeat(1 << 20);
    let grow = "<Insert select='Text/text()'><Node axis='preceding-sibling'>y</Node></Insert>".repeat(1000);
    let rules = format!(
        "<Rules><Group name='g'><Rule name='r'><Step select='/Report'><Exists><When expression='true()'>\
         <Insert><Node axis='child'><Text>{text}</Text></Node></Insert>{grow}</When></Exists></Step></Rule></Group></Rules>"
    );
    let (bytes, failures) = memory_of(&rules, &Limits::default());
    assert!(failures[0].contains("the rules take more than 50000000 units of work"), "{failures:?}");
    assert!(bytes < 8 << 20, "{bytes}");
    let few = rules.replace(&grow, &grow[..grow.len() / 500]);
    let ruled = apply_all(&few, &Limits::default());
    assert_eq!(ruled.ask("substring(/Report/Text, 1, 4)"), "yyxx");
    assert_eq!(ruled.ask("count(/Report/Text/text())"), "1");
}

#[test]
fn an_element_has_as_many_attributes_as_readers_take() {
    let attributes: String =
        (0..70).map(|number| format!("<Attribute name='a{number}' value='1'/>")).collect();
    let ruled = apply(&format!(
        "<Step select='/Report'><Exists><When expression='true()'><Insert>{attributes}</Insert></When></Exists></Step>"
    ));
    assert!(ruled.failures()[0].contains("more than 64 attributes"), "{:?}", ruled.failures());
    let written = ruled.report.to_xml();
    assert!(ms_pla::xml::Element::read(written.as_bytes(), &ms_pla::xml::Limits::default()).is_ok());
}

/// The work of rules with these actions on the report.
fn work_of(actions: &str) -> usize {
    apply(&format!(
        "<Step select='/Report'><Exists><When expression='true()'>{actions}</When></Exists></Step>"
    ))
    .applied
    .work
}

#[test]
fn what_is_copied_and_looked_at_is_work() {
    let long = "n".repeat(40_000);
    assert!(work_of(&format!("<Insert><Node axis='child'><{long}/></Node></Insert>")) > 10_000);
    let asks = |function: &str| format!("<Variable name='x' expression='count(//Data[{function}])'/>");
    let attributes: String =
        (0..60).map(|number| format!("<Attribute name='a{number}' value='1'/>")).collect();
    let crowded = format!("<Insert>{attributes}</Insert>");
    for function in ["lang(\"en\")", "namespace-uri() = \"\""] {
        let (few, many) = (work_of(&asks(function)), work_of(&format!("{crowded}{}", asks(function))));
        // Each of more than 200 `Data` is in the report.
        assert!(many > few + 200 * 60, "{function}: {few}, {many}");
    }
}
