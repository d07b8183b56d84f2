//! Laws of the reports of data managers: what it does with rules, which come with exported sets.

use counter_log::data_manager::reports::{
    Limits, Options, Report, Rules, RunFacts, Source, Statistics, Tree,
};
use counter_log::{Batch, Column, Sample};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use ms_pla::xml::Element;

use crate::input::Input;

/// Small, so that an input is done in a moment.
const LIMITS: Limits = Limits {
    actions_max: 200,
    expression_bytes_max: 1024,
    depth_max: 24,
    value_bytes_max: 1024,
    work_max: 50_000,
    nodes_max: 2_000,
    bytes_max: 64 << 10,
    documents_max: 4,
    failures_max: 10,
    log_lines_max: 10,
};

/// Rules on a small report: they end within their limits; the report stays XML with its root, and a page without scripts; the
/// same rules do the same again.
pub fn rules_document(bytes: &[u8]) {
    let bytes = Input::new(bytes).rest();
    let rules = match Rules::read_document(bytes, &LIMITS) {
        Ok(rules) => rules,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let (xml, report) = apply(&rules);
    assert_eq!(apply(&rules).0, xml, "rules do the same again");
    let limits = ms_pla::xml::Limits { depth_max: 100, ..ms_pla::xml::Limits::default() };
    let read = Element::read(xml.as_bytes(), &limits).expect("a report is XML");
    assert_eq!(read.name, "Report");
    // White space beside elements is dropped by readers.
    let again = Tree::from_element(&read).to_xml(true);
    let without_space = |xml: &str| xml.split_ascii_whitespace().collect::<String>();
    assert_eq!(without_space(&again), without_space(&xml), "it is read as it is written");
    let html = report.to_html();
    assert!(html.ends_with("</html>\n") && !html.contains("<script"), "a page has no scripts");
}

fn apply(rules: &Rules) -> (String, Report) {
    let mut report = report();
    let mut documents = |name: &str| {
        assert!(
            !name.contains(['/', '\\', ':']) && !matches!(name, "" | "." | ".."),
            "`{name}` is one component"
        );
        Ok(b"<Config><a>1</a><a>2</a></Config>".to_vec())
    };
    let applied = rules.apply(&mut report, &mut documents, &LIMITS);
    assert!(applied.work <= LIMITS.work_max && applied.failures.len() <= LIMITS.failures_max);
    assert!(applied.log.len() <= LIMITS.log_lines_max);
    (report.to_xml(), report)
}

/// Two processes, one of which has quotes in its name.
fn report() -> Report {
    let column = |instance: &str| Column {
        machine: "web1".to_owned(),
        object: "Process".to_owned(),
        parent: None,
        instance: Some(instance.to_owned()),
        instance_index: 0,
        counter: "ID Process".to_owned(),
        counter_type: 0,
        default_scale: 0,
        time_base: 0,
    };
    let columns = [column("a'b\"c"), column("{x}")];
    let mut batch = Batch::new(columns.len());
    let sample = |value: f64| Sample { value: Some(value), raw: None };
    batch.push(Timestamp::UNIX_EPOCH, [sample(4.0), sample(87.5)]);
    let mut statistics = Statistics::new(columns.len());
    batch.rows().for_each(|row| statistics.add(row));
    let facts = RunFacts {
        set: "Shop".to_owned(),
        host: "web1".to_owned(),
        start: Timestamp::UNIX_EPOCH,
        end: Timestamp::UNIX_EPOCH,
        zone: TimeZone::UTC,
        serial_number: None,
        files: Vec::new(),
        gaps: Vec::new(),
        records: Some(1),
        records_lost: Some(0),
        remarks: Vec::new(),
    };
    let source = Source { columns: &columns, statistics: &statistics, facts: &facts };
    Report::build(None, &source, &Options::default())
}
