use counter_log::data_manager::reports::{Limits, Rules};

use crate::data_manager::reports::ruled::{Ruled, apply, apply_all, on_report};

const TOTAL: &str = "//Table[@object=\"Processor\"]/Item[Data=\"% Processor Time\"][Data=\"_Total\"]";

#[test]
fn the_example_warns_of_busy_processors_and_slow_disks() {
    let ruled = apply_all(include_str!("../../../data/reports/rules.xml"), &Limits::default());
    assert_eq!((ruled.failures(), ruled.applied.warnings), (vec![], 2));
    let warnings = "/Report/Section[@name='advice']/Table[@name='warning']/Item";
    assert_eq!(
        ruled.ask(&format!("{warnings}/Data[@name='symptom']")),
        "2: The processors are busy: 87.5 % of the time."
    );
    assert_eq!(
        ruled.ask(&format!("string({warnings}[2]/Data[@name='symptom'])")),
        "Reads from the disk 1 D: take 39 ms."
    );
    // [MS-PLA] 2.2.8: the warning and what it is about have one tag.
    assert_eq!(ruled.ask("//Data[@warning='BusyCpu']"), "1: 87.5");
    assert_eq!(ruled.ask("//Data[@warning='Slow 1 D:']"), "1: 0.03875");
    assert_eq!(ruled.ask("//Data[@note='The busiest is 1']"), "2: 1");
    assert_eq!(
        ruled.applied.log.first().map(String::as_str),
        Some("group `Processors`, rule `Busy processors`: step 1 is done")
    );
}

#[test]
fn a_fatal_step_without_anything_to_do_ends_its_rule_and_others_do_not() {
    let steps = |fatal: &str| {
        let step =
            "<Step select='//Nothing' fatal='FATAL'><Exists><When expression='true()'/></Exists></Step>";
        format!(
            "{}{}",
            step.replace("FATAL", fatal),
            on_report("<Insert><Attribute name='seen' value='yes'/></Insert>")
        )
    };
    assert_eq!(apply(&steps("false")).ask("/Report/@seen"), "1: yes");
    assert_eq!(apply(&steps("true")).ask("/Report/@seen"), "0: ");
    // Not one `When` that holds, and no `Otherwise`, is nothing to do as well.
    let unmet = "<Step select='/Report' fatal='true'><Exists><When expression='false()'/></Exists><Otherwise/></Step>";
    let then = on_report("<Insert><Attribute name='seen' value='yes'/></Insert>");
    assert_eq!(apply(&format!("{unmet}{then}")).ask("/Report/@seen"), "0: ");
    // An error is a failure, too.
    let broken = "<Step select='//[' fatal='true'><Otherwise/></Step>";
    let ruled = apply(&format!("{broken}{then}"));
    assert_eq!(ruled.ask("/Report/@seen"), "0: ");
    assert_eq!(
        ruled.failures(),
        [
            "group `g`, rule `r`: step 1: `select` of the step: the expression is wrong at character 3: a name is expected here"
        ]
    );
}

#[test]
fn the_first_when_that_holds_is_done_else_otherwise() {
    let step = |first: &str, second: &str| {
        let mark = |name: &str| format!("<Insert><Attribute name='{name}' value='1'/></Insert>");
        let ruled = apply(&format!(
            "<Step select='/Report'><Exists><When expression='{first}'>{}</When><When expression='{second}'>{}</When>\
             <Otherwise>{}</Otherwise></Exists><Otherwise>{}</Otherwise></Step>",
            mark("first"),
            mark("second"),
            mark("otherwise"),
            mark("absent")
        ));
        ruled.ask("name(/Report/@*[last()])")
            + if ruled.ask("count(/Report/@*)") == "5" { "" } else { " and others" }
    };
    assert_eq!(step("Section", "Section"), "first");
    assert_eq!(step("Nothing", "count(Section) = 6"), "second");
    assert_eq!(step("0", "\"\""), "otherwise");
    let absent = apply(
        "<Step select='//Nothing'><Exists/><Otherwise><Insert select='/Report'><Attribute name='absent' value='1'/></Insert></Otherwise></Step>",
    );
    assert_eq!(absent.ask("/Report/@absent"), "1: 1");
}

#[test]
fn sort_types_choose_the_contexts() {
    let mark = |attributes: &str| {
        let ruled = apply(&format!(
            "<Step select='//Table[@object=\"Process\"]/Item' {attributes}><Exists><When expression='true()'>\
             <Insert><Attribute name='chosen' value='yes'/></Insert></When></Exists></Step>"
        ));
        assert_eq!(ruled.failures(), [""; 0]);
        ruled.ask("//Item[@chosen]/Data[@name='instance']")
    };
    assert_eq!(mark(""), "40: worker00");
    assert_eq!(mark("sortType='all'"), "40: worker00");
    assert_eq!(mark("sortType='max' sortDataType='number' sortNode='Data[@name=\"mean\"]'"), "1: worker39");
    assert_eq!(mark("sortType='min' sortDataType='number' sortNode='-Data[@name=\"mean\"]'"), "1: worker39");
    // As texts, 9.67 is the largest.
    assert_eq!(mark("sortType='max' sortDataType='string' sortNode='Data[@name=\"mean\"]'"), "1: worker29");
    assert_eq!(mark("sortType='min' sortNode='Data[@name=\"instance\"]'"), "1: worker00");
    assert_eq!(mark("sortType='max' sortDataType='number' sortNode='Data[@name=\"instance\"]'"), "0: ");
}

#[test]
fn variables_are_numbers_truths_and_texts_of_expressions_and_texts_of_rules() {
    let ruled = apply(&format!(
        "<Step select='{TOTAL}'>
           <Variable name='busy' expression='Data[@name=\"mean\"]'/>
           <Variable name='free' expression='100 - {{busy}}'/>
           <Variable name='is' expression='{{busy}} &gt; 80'/>
           <Variable name='row'>../Item[Data=&quot;_Total&quot;]</Variable>
           <Variable name='text'>{{busy}} busy, {{free}} free, {{is}}, {{unset}}, {{AB-12}}</Variable>
           <Exists><When expression='{{is}} and count({{row}}) = 2 and \"{{text}}\" != \"\"'>
             <Insert select='/Report'><Attribute name='text' value='{{text}}'/></Insert></When></Exists></Step>"
    ));
    assert_eq!(ruled.failures(), [""; 0]);
    assert_eq!(ruled.ask("string(/Report/@text)"), "87.5 busy, 12.5 free, true, {unset}, {AB-12}");
}

#[test]
fn a_variable_is_known_in_all_that_comes_after_it() {
    // [MS-PLA] 2.2.4: "any XPath expression used after it is defined", so that other rules and groups have it, too.
    let set = on_report("<Variable name='sections' expression='count(Section)'/>");
    let ask = on_report("<Insert><Attribute name='seen' value='{sections}'/></Insert>");
    let ruled = apply_all(
        &format!(
            "<Rules><Group name='g'><Rule name='asks'>{ask}</Rule><Rule name='sets'>{set}</Rule></Group>\
             <Group name='h'><Rule name='r'><Step select='/Report[count(Section) = {{sections}}]'><Exists><Otherwise>\
             <Insert><Attribute name='later' value='{{sections}}'/></Insert></Otherwise></Exists></Step></Rule></Group></Rules>"
        ),
        &Limits::default(),
    );
    assert_eq!(ruled.failures(), [""; 0]);
    assert_eq!(
        (ruled.ask("string(/Report/@seen)"), ruled.ask("string(/Report/@later)")),
        ("{sections}".to_owned(), "6".to_owned())
    );
}

#[test]
fn variables_that_cannot_stand_where_they_stand_are_refused_by_name() {
    let check = |expression: &str| {
        let ruled = apply(&format!(
            "<Step select='{TOTAL}'><Variable name='who' expression='Data[@name=\"instance\"]'/>\
             <Exists><When expression='{expression}'/></Exists></Step>"
        ));
        ruled.failures().first().cloned().unwrap_or_default()
    };
    assert_eq!(
        check("{who} = 1"),
        "group `g`, rule `r`: step 1: `expression` of `When`: the variable `who` is a text of the report, which is written in \
         quotes: write '{who}'"
    );
    assert_eq!(
        check("{nobody} = 1"),
        "group `g`, rule `r`: step 1: `expression` of `When`: the variable `nobody` is not set"
    );
    assert_eq!(check("\"{who}\" = \"_Total\""), "");
}

#[test]
fn strings_are_replaced_and_missing_ones_stop_what_they_name() {
    let rules = |group: &str, rule: &str| {
        let mark = |name: &str| {
            on_report(&format!("<Insert><Attribute name='{name}' value='$(text) $(no)'/></Insert>"))
        };
        apply_all(
            &format!(
                "<Rules><StringTable><String ID='text'>words</String></StringTable>
                 <Group name='{group}'><Rule name='{rule}'>{}</Rule><Rule name='r2'>{}</Rule></Group>
                 <Group name='g2'><Rule name='r3'>{}</Rule></Group></Rules>",
                mark("one"),
                mark("two"),
                mark("three")
            ),
            &Limits::default(),
        )
    };
    let seen =
        |ruled: &Ruled| ["one", "two", "three"].map(|name| ruled.ask(&format!("string(/Report/@{name})")));
    assert_eq!(seen(&rules("$(text)", "$(text)")), ["words $(no)"; 3]);
    // [MS-PLA] 2.2.3.4: a rule without its name is skipped; a group without its name ends all.
    let skipped = rules("g", "$(missing)");
    assert_eq!(seen(&skipped), ["", "words $(no)", "words $(no)"]);
    assert_eq!(
        skipped.failures(),
        ["group `g`, rule `$(missing)`: no string has the id `missing`, so that the rule is skipped"]
    );
    let ended = rules("$(missing)", "r");
    assert_eq!(seen(&ended), ["", "", ""]);
    assert_eq!(
        ended.failures(),
        [
            "group `$(missing)`: no string has the id `missing`, so that this group and those behind it do not run"
        ]
    );
}

#[test]
fn groups_rules_and_steps_that_are_not_enabled_do_nothing() {
    for (group, rule, step) in
        [("false", "true", "true"), ("true", "false", "true"), ("true", "true", "false")]
    {
        let ruled = apply_all(
            &format!(
                "<Rules><Group name='g' enabled='{group}'><Rule name='r' enabled='{rule}'>\
                 <Step select='/Report' enabled='{step}'><Exists><Otherwise><Delete select='Section'/></Otherwise></Exists></Step>\
                 </Rule></Group></Rules>"
            ),
            &Limits::default(),
        );
        assert_eq!(ruled.ask("count(/Report/Section)"), "6");
    }
}

#[test]
fn imports_are_named_and_the_log_is_kept_only_where_it_is_asked_for() {
    let rules = "<Rules>LOG<Import file='%systemroot%\\pla\\rules\\Rules.System.CPU.xml'/><Group name='g'><Rule name='r'>STEP</Rule></Group></Rules>";
    let rules = rules.replace("STEP", &on_report("<Notify type='event'/>"));
    let quiet = apply_all(&rules.replace("LOG", "<Logging level='0'/>"), &Limits::default());
    assert_eq!(quiet.applied.log, [""; 0]);
    assert_eq!(
        quiet.ask("string(//Table[@name='remarks']/Item[last()]/Data)"),
        "The rules import `%systemroot%\\pla\\rules\\Rules.System.CPU.xml`, a file of the host, which is not read here."
    );
    let loud = apply_all(&rules.replace("LOG", "<Logging level='15' file='rules.log'/>"), &Limits::default());
    assert_eq!(
        loud.applied.log,
        ["group `g`, rule `r`: an event is not raised here", "group `g`, rule `r`: step 1 is done"]
    );
}

#[test]
fn rules_that_are_wrong_say_where() {
    let check = |rules: &str| {
        Rules::read_document(rules.as_bytes(), &Limits::default())
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    let wrong = |reason: &str| Err(reason.to_owned());
    assert_eq!(check("<Other/>"), wrong("rules, line 1, column 1: the root of rules is the element `Rules`"));
    assert_eq!(
        check("<Rules><Group name='g'><Rule name='r'>\n <Step/></Rule></Group></Rules>"),
        wrong("rules, group `g`, rule `r`, line 2, column 2: `Step` has no attribute `select`")
    );
    assert_eq!(
        check(
            "<Rules><Group name='g'><Rule name='r'><Step select='/' fatal='maybe'/></Rule></Group></Rules>"
        ),
        wrong("rules, group `g`, rule `r`, line 1, column 39: `fatal` is `maybe`, and is `true` or `false`")
    );
    let action = |action: &str| {
        check(&format!(
            "<Rules><Group name='g'><Rule name='r'><Step select='/'><Otherwise>{action}</Otherwise></Step></Rule></Group></Rules>"
        ))
    };
    let place = "rules, group `g`, rule `r`, line 1, column";
    assert_eq!(action("<Run/>"), wrong(&format!("{place} 67: `Run` is no action")));
    assert_eq!(
        action("<Variable name='a b'/>"),
        wrong(&format!("{place} 67: `a b` is no name of a variable, which has letters and digits"))
    );
    assert_eq!(
        action("<Insert><Attribute name='a b' value=''/></Insert>"),
        wrong(&format!("{place} 75: `a b` is no name of an attribute"))
    );
    assert_eq!(
        action("<Insert><Node axis='parent'/></Insert>"),
        wrong(&format!(
            "{place} 75: `axis` is `parent`, and is child, following-sibling or preceding-sibling"
        ))
    );
    assert!(check("<Rules").is_err_and(|error| error.starts_with("read the rules: line 1")));
}
