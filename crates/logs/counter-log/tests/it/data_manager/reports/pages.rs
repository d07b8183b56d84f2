use counter_log::data_manager::reports::{Limits, Options, Report};

use crate::data_manager::reports::ruled::{apply, apply_all};
use crate::data_manager::reports::run::{Run, column};

/// The texts between two others.
fn between<'a>(text: &'a str, begin: &str, end: &str) -> Vec<&'a str> {
    text.split(begin).skip(1).filter_map(|rest| rest.split_once(end)).map(|(inner, _)| inner).collect()
}

#[test]
fn warnings_stand_first_and_lead_to_what_they_are_about_and_back() {
    let html =
        apply_all(include_str!("../../../data/reports/rules.xml"), &Limits::default()).report.to_html();
    let headings: Vec<&str> = between(&html, "<h2>", "</h2>");
    assert_eq!(headings, ["Advice", "Processor", "PhysicalDisk", "Memory", "Process", "The run"]);
    let links = between(&html, "<p class=\"symptom\">", "</p>");
    assert!(
        links[0].contains("<a href=\"#w1\">The processors are busy: 87.5 % of the time.</a>"),
        "{links:?}"
    );
    let target = between(&html, " id=\"w1\"", "</td>")[0];
    assert!(target.contains("The processors are busy: 87.5 % of the time.\nMore work than 80 %"), "{target}");
    assert!(
        target.contains("<data value=\"87.5\">87.50</data>") && target.contains("href=\"#about-w1\""),
        "{target}"
    );
    assert_eq!(html.matches("id=\"about-w1\"").count(), 1);
}

#[test]
fn every_link_of_a_page_leads_somewhere_and_ids_are_unique() {
    let html =
        apply_all(include_str!("../../../data/reports/rules.xml"), &Limits::default()).report.to_html();
    let mut ids = between(&html, " id=\"", "\"");
    for link in between(&html, "href=\"#", "\"") {
        assert!(ids.contains(&link), "{link}");
    }
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

#[test]
fn tables_have_names_that_tell_them_apart() {
    let html = Report::build(None, &Run::server().source(), &Options::default()).to_html();
    let regions = between(&html, "role=\"region\" aria-label=\"", "\"");
    assert_eq!(
        regions,
        [
            "Processor",
            "PhysicalDisk",
            "Memory",
            "Process",
            "Process, more rows",
            "Files, The run",
            "Gaps, The run"
        ]
    );
}

#[test]
fn names_of_hosts_are_text() {
    let hostile = "x<script>alert(1)</script>\"'><img src=x onerror=alert(1)>&amp;\u{202e}gpj\u{1}";
    let mut run = Run::of(vec![(column(hostile, Some(hostile), hostile), vec![1.0])]);
    run.facts.set = hostile.to_owned();
    run.facts.host = hostile.to_owned();
    run.facts.remarks = vec![hostile.to_owned()];
    run.facts.files[0].name = hostile.to_owned();
    let html = Report::build(None, &run.source(), &Options::default()).to_html();
    assert!(!html.contains("<script") && !html.contains("<img") && !html.contains(['\u{202e}', '\u{1}']));
    let shown = "x&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&gt;&lt;img src=x onerror=alert(1)&gt;&amp;amp;\u{fffd}gpj\u{fffd}";
    assert_eq!(between(&html, "<h1>", "</h1>"), [shown]);
    assert!(html.contains(&format!("<th scope=\"row\">{shown}</th><td>{shown}</td>")));
}

#[test]
fn rows_above_the_threshold_are_there_to_be_opened() {
    let html = Report::build(None, &Run::server().source(), &Options::default()).to_html();
    assert_eq!(between(&html, "<summary>", "</summary>"), ["Show 15 more of Process"]);
    assert_eq!(html.matches("<th scope=\"row\">% Processor Time</th>").count(), 43);
}

#[test]
fn what_rules_hide_is_not_shown() {
    let html = apply(
        "<Step select='//Table[@object=\"Memory\"]/Item[1]'><Exists><When expression='true()'><Insert><Attribute name='visible' value='false'/>\
         </Insert></When></Exists></Step><Step select='//Section[@name=\"Process\"]/Table'><Exists><When expression='true()'>\
         <Insert><Attribute name='level' value='3'/></Insert></When></Exists></Step>",
    );
    let html = html.report.to_html();
    assert!(!html.contains("Committed Bytes") && html.contains("Pages/sec") && !html.contains("worker00"));
}

#[test]
fn a_page_needs_nothing_else() {
    let html = Report::build(None, &Run::server().source(), &Options::default()).to_html();
    for other in ["<script", "src=", "http:", "https:", "@import", "url("] {
        assert!(!html.contains(other), "{other}");
    }
}

/// Rules that warn of each process, with one tag.
fn warn_of_each(item: &str) -> String {
    apply(&format!(
        "<Step select='//Table[@object=\"Process\"]/Item/Data[@name=\"mean\"]'><Exists><When expression='true()'>\
         <Warning select='.' table='//Table[@name=\"warning\"]' tag='one'><Item>{item}</Item></Warning></When></Exists></Step>"
    ))
    .report
    .to_html()
}

#[test]
fn many_warnings_of_one_tag_do_not_repeat_all_their_texts_at_each_place() {
    let text = "busy ".repeat(100);
    let html = warn_of_each(&format!("<Data name='symptom' link='one' message='one'>{text}</Data>"));
    // 40 times the texts of 40 warnings would be 2.4 MB.
    assert_eq!(html.matches("<li id=\"about-w1\">").count(), 1);
    assert_eq!(html.matches(&format!("{text}</a></p>")).count(), 40);
    assert!(html.len() < 300_000, "{}", html.len());
    assert!(
        html.contains("busy\u{2026}\"") || html.contains("\u{2026}\" aria-label"),
        "what is left out is marked"
    );
}

#[test]
fn a_flag_leads_nowhere_if_no_warning_has_its_tag() {
    let html = warn_of_each("<Data name='symptom'>The author forgot the link.</Data>");
    assert!(
        !html.contains("#about-w") && html.contains("role=\"img\" title=\"one\" aria-label=\"Warning: one\""),
        "{html}"
    );
}

#[test]
fn a_page_ends_where_it_would_be_too_large_and_says_so() {
    let section =
        "<Section name='s'><CounterTable name='s' object='Memory' note='s'/></Section>".repeat(4000);
    let schema = format!(
        "<Report><Sections>{section}</Sections><StringTable><String ID='s'>{}</String></StringTable></Report>",
        "long ".repeat(100_000)
    );
    let schema = ms_pla::xml::Element::read(schema.as_bytes(), &ms_pla::xml::Limits::default());
    let schema = schema.expect("the schema is XML");
    let html = Report::build(Some(&schema), &Run::server().source(), &Options::default()).to_html();
    assert!(html.len() < 33 << 20, "{}", html.len());
    assert!(html.contains("This page ends here") && html.ends_with("</html>\n"));
}
