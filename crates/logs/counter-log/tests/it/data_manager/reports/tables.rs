use counter_log::data_manager::reports::xpath::{Answer, Expression, Work};
use counter_log::data_manager::reports::{Options, Report};
use ms_pla::xml::{Element, Limits};

use crate::data_manager::reports::run::{Run, column};

fn schema(inner: &str) -> Element {
    let text = format!(
        "<ReportSchema><Report name='shop' version='2' threshold='7'>{inner}</Report></ReportSchema>"
    );
    Element::read(text.as_bytes(), &Limits::default()).expect("the schema is XML")
}

fn build(schema: Option<&Element>) -> Report {
    Report::build(schema, &Run::server().source(), &Options::default())
}

/// The texts of all nodes that an expression selects.
fn texts(report: &Report, expression: &str) -> Vec<String> {
    let ask = |expression: &str| {
        let expression = Expression::parse(expression, 4096, 24).expect("the expression is one");
        expression.answer(report.tree(), &mut Work::new(10_000_000)).expect("the expression has a value")
    };
    let count = if let Answer::Nodes(count, _) = ask(expression) { count } else { 0 };
    let text = |index| {
        let answer = ask(&format!("string(({expression})[{index}])"));
        if let Answer::Text(text) = answer { text } else { String::new() }
    };
    (1..=count).map(text).collect()
}

#[test]
fn without_a_schema_each_object_has_a_section_with_a_table() {
    let report = build(None);
    assert_eq!(
        texts(&report, "/Report/Section/@name"),
        ["header", "advice", "Processor", "PhysicalDisk", "Memory", "Process"]
    );
    let disk = "/Report/Section[@name='PhysicalDisk']/Table[@name='PhysicalDisk']";
    assert_eq!(
        texts(&report, &format!("{disk}/Header/Data/@name")),
        ["counter", "instance", "mean", "min", "max"]
    );
    assert_eq!(
        texts(&report, &format!("{disk}/Item[Data[@name='instance']='1 D:']/Data")),
        ["Avg. Disk sec/Read", "1 D:", "0.03875", "0.031", "0.0465"]
            .into_iter()
            .chain(["Current Disk Queue Length", "1 D:", "2.6666666666666665", "0", "7"])
            .collect::<Vec<_>>()
    );
    // [MS-PLA] 2.2.3.3: without instances, there is no column of them.
    assert_eq!(
        texts(&report, "/Report/Section[@name='Memory']/Table/Header/Data/@name"),
        ["counter", "mean", "min", "max"]
    );
    assert_eq!(texts(&report, "//Item[Data='Pages/sec']/Data"), ["Pages/sec", "", "", ""]);
    assert_eq!(texts(&report, "/Report/@*"), ["Shop & Sons", "1", "25", "1"]);
}

#[test]
fn the_run_is_told_and_warnings_have_a_table_before_there_are_any() {
    let report = build(None);
    let run = "/Report/Section[@name='header']/Table[@name='run']/Item/Data";
    assert_eq!(texts(&report, &format!("{run}[@name='start']")), ["2026-11-26T13:00:00+01:00"]);
    assert_eq!(texts(&report, &format!("{run}[@name='duration']")), ["3671"]);
    assert_eq!(texts(&report, &format!("{run}[@name='gaptime']")), ["60"]);
    assert_eq!(texts(&report, &format!("{run}[@name='serialnumber']")), ["11"]);
    assert_eq!(
        texts(&report, "//Table[@name='gaps']/Item/Data[@name='reason']"),
        ["the host did not answer"]
    );
    assert_eq!(texts(&report, "//Table[@name='files']/Item/Data"), ["Shop.csv", "123456", "3600"]);
    assert_eq!(texts(&report, "/Report/Section[@name='advice']/Table[@name='warning'][not(*)]"), [""]);
}

#[test]
fn tables_of_a_schema_take_the_counters_and_instances_that_they_name() {
    let report = build(Some(&schema(
        "<Sections><Section name='cpu' key='3' note='busy?'>
           <CounterTable name='second' topic='t' object='processor' key='2'><Exclude counter='i/INT*/'/><Exclude column='min'/>
             <Include instance='/?/'/></CounterTable>
           <CounterTable name='last' topic='t' object='Memory'/>
           <CounterTable name='first' topic='t' object='Process' key='1' threshold='3' note='top'>
             <Include instance='/worker0?/'/><Include instance='i/WORKER39/'/></CounterTable>
         </Section>
         <Section name='disk' key='1'><CounterTable name='disks' topic='t' object='PhysicalDisk' level='2'/>
           <CounterTable name='shown' topic='t' object='PhysicalDisk'/></Section></Sections>
         <StringTable><String ID='cpu'>Processors</String></StringTable>",
    )));
    assert_eq!(texts(&report, "/Report/Section/@name"), ["header", "advice", "disk", "cpu"]);
    assert_eq!(texts(&report, "/Report/Section[@name='cpu']/Table/@name"), ["first", "second", "last"]);
    assert_eq!(texts(&report, "//Table[@name='second']/Item/Data[@name='instance']"), ["0", "1"]);
    assert_eq!(
        texts(&report, "//Table[@name='second']/Item/Data[@name='counter']"),
        ["% Processor Time", "% Processor Time"]
    );
    assert_eq!(
        texts(&report, "//Table[@name='second']/Header/Data/@name"),
        ["counter", "instance", "mean", "max"]
    );
    assert_eq!(texts(&report, "//Table[@name='first']/Item/Data[@name='instance']").len(), 11);
    assert_eq!(texts(&report, "//Table[@name='first']/@*"), ["first", "t", "Process", "1", "top", "3"]);
    assert_eq!(texts(&report, "//Table[@name='disks']"), [""; 0]);
    assert_eq!(texts(&report, "/Report/@*"), ["shop", "2", "7", "1"]);
    assert_eq!(texts(&report, "/Report/StringTable/String[@ID='cpu']"), ["Processors"]);
    assert!(report.to_html().contains(">Processors</h2>"));
}

#[test]
fn a_higher_level_generates_more_tables() {
    let schema = schema(
        "<Sections><Section name='disk' key='1'><CounterTable name='a' topic='t' object='Memory' level='2'/>
         <CounterTable name='b' topic='t' object='Memory' level='3'/></Section></Sections>",
    );
    let options = Options { level: 2, ..Options::default() };
    let report = Report::build(Some(&schema), &Run::server().source(), &options);
    assert_eq!(texts(&report, "/Report/Section[@name='disk']/Table/@name"), ["a"]);
}

#[test]
fn what_a_schema_asks_for_and_is_not_here_is_named() {
    let report = build(Some(&schema(
        "<Import file='%systemroot%\\pla\\reports\\Report.System.CPU.xml'/>
         <Sections><Section name='s' key='1'><EventTable name='Files read' topic='t'/>
         <CounterTable name='odd' topic='t' object='Memory' level='9'/></Section></Sections>",
    )));
    assert_eq!(
        texts(&report, "//Table[@name='remarks']/Item/Data"),
        [
            "The set asks for the binary format; the log is written as CSV.",
            "The report schema imports `%systemroot%\\pla\\reports\\Report.System.CPU.xml`, a file of the host, which is not read \
             here.",
            "The table `Files read` of the report schema is made of events, which are traced on the host; only counters are \
             recorded here.",
            "The level of the table `odd` of the report schema is none of 1 to 5.",
        ]
    );
    // Nothing of it can be shown, so that there is what there would be without a schema.
    assert_eq!(texts(&report, "/Report/Section[@name='Memory']/Table/@name"), ["Memory"]);
}

#[test]
fn a_schema_that_is_none_is_named() {
    let element =
        Element::read(b"<ReportSchema><Other/></ReportSchema>", &Limits::default()).expect("it is XML");
    let report = build(Some(&element));
    let remarks = texts(&report, "//Table[@name='remarks']/Item/Data");
    assert_eq!(
        remarks.last().map(String::as_str),
        Some("The report schema has no element Report, so that it is not used.")
    );
}

#[test]
fn rows_above_the_limit_are_left_out_and_counted() {
    let options = Options { rows_max: 10, ..Options::default() };
    let report = Report::build(None, &Run::server().source(), &options);
    assert_eq!(texts(&report, "/Report/Section[@key>1]/Table/Item").len(), 10);
    let remarks = texts(&report, "//Table[@name='remarks']/Item/Data");
    assert_eq!(
        remarks.last().map(String::as_str),
        Some("44 counters are left out of this report, which has at most 10; the log has all of them.")
    );
}

#[test]
fn tables_that_take_too_much_work_are_left_out_and_counted() {
    let table = "<CounterTable name='t' topic='t' object='Process'/>";
    let slow = format!(
        "<CounterTable name='slow' topic='t' object='Process'><Exclude counter='i/{}!/'/></CounterTable>",
        "*o".repeat(20)
    );
    let schema = schema(&format!(
        "<Sections><Section name='s' key='1'>{table}{slow}</Section><Section name='r' key='2'>{table}</Section></Sections>"
    ));
    // Of 40 columns each.
    let options = Options { work_max: 900, ..Options::default() };
    let report = Report::build(Some(&schema), &Run::server().source(), &options);
    assert_eq!(texts(&report, "/Report/Section[@key>0]/Table/@name"), ["warning", "t"]);
    assert_eq!(
        texts(&report, "//Table[@name='remarks']/Item/Data").last().map(String::as_str),
        Some(
            "2 tables of the report schema are left out, because they take more than 900 units of work: it has too many tables, \
             or patterns with too many `*`."
        )
    );
    let report = Report::build(Some(&schema), &Run::server().source(), &Options::default());
    assert_eq!(texts(&report, "/Report/Section[@key>0]/Table/@name"), ["warning", "t", "slow", "t"]);
}

#[test]
fn parents_indexes_and_machines_are_shown_where_there_are_some() {
    let mut thread = column("Thread", Some("0"), "% Processor Time");
    (thread.parent, thread.instance_index) = (Some("explorer".to_owned()), 2);
    let mut other = column("Thread", Some("1"), "% Processor Time");
    other.machine = "web2".to_owned();
    let report = Report::build(
        None,
        &Run::of(vec![(thread, vec![1.0]), (other, vec![2.0])]).source(),
        &Options::default(),
    );
    let table = "/Report/Section[@name='Thread']/Table";
    assert_eq!(texts(&report, &format!("{table}/Item/Data[@name='instance']")), ["explorer/0#2", "1"]);
    assert_eq!(texts(&report, &format!("{table}/Item/Data[@name='machine']")), ["web1", "web2"]);
}

#[test]
fn the_xml_is_read_again_as_what_it_was() {
    let report = build(None);
    let read = Element::read(report.to_xml().as_bytes(), &Limits::default()).expect("the report is XML");
    assert_eq!(counter_log::data_manager::reports::Tree::from_element(&read).to_xml(true), report.to_xml());
}
