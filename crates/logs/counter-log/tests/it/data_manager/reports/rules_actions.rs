use counter_log::data_manager::reports::{Limits, Options, Report, Rules};

use crate::data_manager::reports::ruled::{apply, on_report};
use crate::data_manager::reports::run::Run;

#[test]
fn nodes_are_inserted_on_three_axes_in_their_order() {
    let node = |axis: &str| {
        let ruled = apply(&on_report(&format!(
            "<Variable name='v'>&lt;\"&amp;</Variable><Insert select=\"Section[@name='Memory']\"><Node axis='{axis}'>\
             <New id='1' v='{{v}}'>{{v}}</New><New id='2'/></Node></Insert>"
        )));
        assert_eq!(ruled.failures(), [""; 0]);
        (ruled.ask("//New[@id=1]/following-sibling::*[1]/@id"), ruled.ask("string(//New[1]/@v)"), ruled)
    };
    let (order, value, ruled) = node("child");
    assert_eq!((&*order, &*value), ("1: 2", "<\"&"));
    assert_eq!(ruled.ask("count(/Report/Section[@name='Memory']/New[.='<\"&' or .=''])"), "2");
    let (order, _, ruled) = node("following-sibling");
    assert_eq!(
        (&*order, &*ruled.ask("string(/Report/Section[@name='Memory']/following-sibling::*[1]/@id)")),
        ("1: 2", "1")
    );
    let (order, _, ruled) = node("preceding-sibling");
    assert_eq!(
        (&*order, &*ruled.ask("string(/Report/Section[@name='Memory']/preceding-sibling::*[1]/@id)")),
        ("1: 2", "2")
    );
}

#[test]
fn nodes_beside_a_text_are_inserted_in_their_order_too() {
    for (axis, expected) in [("following-sibling", "old one two"), ("preceding-sibling", " one twoold")] {
        let ruled = apply(&on_report(&format!(
            "<Insert><Node axis='child'><Text>old</Text></Node></Insert>\
             <Insert select='Text/text()'><Node axis='{axis}'> one<New/> two</Node></Insert>"
        )));
        assert_eq!(
            (ruled.failures(), ruled.ask("string(/Report/Text)")),
            (vec![], expected.to_owned()),
            "{axis}"
        );
        assert_eq!(ruled.ask("count(/Report/Text/node())"), "3", "{axis}");
    }
}

#[test]
fn a_condition_decides_whether_nodes_are_inserted() {
    for (select, count) in [("count(Section) > 5", "1"), ("Nothing", "0")] {
        let ruled = apply(&on_report(&format!(
            "<Insert><Node axis='child' select='{}'><New/></Node></Insert>",
            select.replace('>', "&gt;")
        )));
        assert_eq!(ruled.ask("count(/Report/New)"), count, "{select}");
    }
}

#[test]
fn documents_of_the_run_are_inserted() {
    let ruled = apply(&on_report(
        "<Insert><Node axis='child' document='config.xml' select='/Config/Section'/></Insert>",
    ));
    assert_eq!(
        (ruled.failures(), ruled.ask("/Report/Section[@name='registry']/Table/@name")),
        (vec![], "1: keys".to_owned())
    );
    let ruled = apply(&on_report("<Insert><Node axis='child' document='config.xml'/></Insert>"));
    assert_eq!(ruled.ask("/Report/Config/a"), "1: 1");
}

#[test]
fn documents_outside_of_the_folder_of_the_run_are_never_asked_for() {
    for name in ["../secret.xml", "/etc/passwd", r"C:\secret.xml", "..", ".", "", "a/b", "file.xml:stream"] {
        let rules = format!(
            "<Rules><Group name='g'><Rule name='r'>{}</Rule></Group></Rules>",
            on_report(&format!("<Insert><Node axis='child' document='{name}'/></Insert>"))
        );
        let rules = Rules::read_document(rules.as_bytes(), &Limits::default()).expect("the rules are rules");
        let mut report = Report::build(None, &Run::server().source(), &Options::default());
        let mut asked = Vec::new();
        let mut documents = |name: &str| {
            asked.push(name.to_owned());
            Err(String::new())
        };
        let applied = rules.apply(&mut report, &mut documents, &Limits::default());
        assert_eq!(asked, [""; 0], "{name}");
        assert!(
            applied.failures[0].reason.contains("is no name of a file in the folder of the run"),
            "{name}"
        );
    }
}

#[test]
fn a_document_that_cannot_be_read_is_named_in_the_report() {
    let ruled = apply(&on_report("<Insert><Node axis='child' document='gone.xml'/></Insert>"));
    assert_eq!(
        ruled.ask("string(//Table[@name='remarks']/Item[last()]/Data)"),
        "Rules: group `g`, rule `r`: step 1: read `gone.xml`: there is no such file."
    );
    let ruled = apply(&on_report("<Insert><Node axis='child' document='bad.xml'/></Insert>"));
    assert!(ruled.failures()[0].contains("read `bad.xml`: line 1"), "{:?}", ruled.failures());
}

#[test]
fn texts_that_are_empty_are_no_nodes() {
    let ruled = apply(&on_report(
        "<Variable name='v'></Variable><Insert><Node axis='child'><New>{v}</New></Node><Node axis='child'>{v}</Node></Insert>",
    ));
    assert_eq!(
        (ruled.ask("count(/Report/New)"), ruled.ask("count(/Report/New/node() | /Report/text())")),
        ("1".to_owned(), "0".to_owned())
    );
}

#[test]
fn attributes_are_set_and_replaced() {
    let ruled = apply(&on_report(
        "<Insert select='Section'><Attribute name='key' value='7'/><Attribute name='seen' value='a'/></Insert>",
    ));
    assert_eq!(ruled.ask("count(/Report/Section[@key=7][@seen='a'][count(@key)=1])"), "6");
}

#[test]
fn nodes_and_attributes_are_deleted_but_the_root_is_not() {
    let ruled =
        apply(&on_report("<Delete select='Section[@name=\"Memory\"] | Section/@key | //Data/text()'/>"));
    assert_eq!(ruled.ask("count(/Report/Section) + count(//@key) + count(//Data/node())"), "5");
    let ruled = apply(&on_report("<Delete select='/Report'/>"));
    assert_eq!(ruled.ask("count(/Report/Section)"), "6");
    assert!(
        ruled.failures()[0].ends_with("the root of the report has no place beside it, and is not deleted")
    );
    // What is in a deleted node is gone with it, and no context any more.
    let ruled = apply(
        "<Step select='//Table'><Exists><When expression='true()'><Delete select='..'/></When></Exists></Step>",
    );
    assert_eq!((ruled.failures(), ruled.ask("count(/Report/Section)")), (vec![], "0".to_owned()));
}

#[test]
fn backslashes_begin_absolute_paths_as_the_specification_prints_them() {
    let ruled = apply(
        r"<Step select='\Report\Section[@name=&quot;Memory&quot;]'><Exists><When expression='true()'>
            <Insert select='\Report\Section'><Attribute name='absolute' value='1'/></Insert>
            <Insert select='Table'><Attribute name='relative' value='1'/></Insert>
            <Insert select='\\Data[.=&quot;a\b&quot;]'><Attribute name='quoted' value='1'/></Insert></When></Exists></Step>",
    );
    assert_eq!(
        (ruled.failures(), ruled.ask("count(//@absolute)"), ruled.ask("count(//@relative)")),
        (vec![], "6".to_owned(), "1".to_owned())
    );
}

#[test]
fn a_warning_without_its_table_fails() {
    let ruled =
        apply(&on_report("<Warning select='.' table='//Table[@name=\"none\"]' tag='t'><Item/></Warning>"));
    assert_eq!(ruled.applied.warnings, 0);
    assert!(
        ruled.failures()[0].ends_with("`table` of `Warning` selects no table, which has to be there before")
    );
}
