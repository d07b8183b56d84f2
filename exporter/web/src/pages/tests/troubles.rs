//! Many targets that fail for the same reason.

use super::*;

/// Seven targets that refuse connections, one whose name is not found, one that is up.
fn fleet() -> Fleet {
    let names = ["db1", "db2", "db3", "db4", "db5", "db6", "db7", "odd1", "web1"];
    let fleet = Fleet::of(&names);
    for target in 0..7 {
        fleet.fail(target, GeneralReason::ConnectionRefused);
    }
    fleet.fail(7, GeneralReason::NameNotFound);
    fleet.collect(8, [1, 2]);
    fleet
}

/// A text as it is on a page.
fn html_of(text: &str) -> String {
    let mut html = Html::new("");
    html.prose(text);
    html.finish()
}

#[test]
fn names_in_details_of_failures_are_set_apart() {
    let shown = |text: &str| {
        let mut html = Html::new("");
        html.detail(text);
        html.finish()
    };
    assert_eq!(shown("rejected by `<web1>`"), "<bdi>rejected by <code>&lt;web1&gt;</code></bdi>");
    assert_eq!(shown("a ` alone"), "<bdi>a ` alone</bdi>");
}

fn part<'a>(body: &'a str, id: &str) -> &'a str {
    let begin = body.find(&format!("id=\"{id}\"")).unwrap_or_else(|| panic!("no {id} in {body}"));
    body[begin + 4..].split(" id=\"live-").next().unwrap_or_default()
}

#[tokio::test]
async fn failures_that_many_targets_share_are_said_once() {
    let fleet = fleet();
    let body = fleet.page("/").await;
    let step = &html_of(GeneralReason::ConnectionRefused.next_step());
    let summary = part(&body, "live-summary");
    for text in [
        "7 targets down",
        step.as_str(),
        "<bdi>db1</bdi>",
        "<bdi>db5</bdi>",
        "and 2 more",
        "Show these 7 targets",
        "perfmon-exporter explain connection_refused",
    ] {
        assert!(summary.contains(text), "{text}\n{summary}");
    }
    assert!(!summary.contains("<bdi>db6</bdi>") && !summary.contains("odd1"), "{summary}");
    let table = part(&body, "live-targets");
    assert!(
        !table.contains(step.as_str()) && table.contains(&html_of(GeneralReason::NameNotFound.next_step())),
        "{table}"
    );
    let changes = part(&body, "live-changes");
    assert_eq!(changes.matches("<li>").count(), 2, "{changes}");
    assert!(changes.contains("and 2 more") && changes.matches(step.as_str()).count() == 1, "{changes}");
}

#[tokio::test]
async fn the_link_of_a_group_leads_to_its_targets_alone() {
    let fleet = fleet();
    let body = fleet.page("/").await;
    let summary = part(&body, "live-summary");
    let link =
        summary.split("<a href=\"./").find(|link| link.contains("Show these")).expect("there is a link");
    let query = link.split('"').next().unwrap_or_default().replace("&amp;", "&");
    let body = fleet.page(&format!("/{query}")).await;
    assert_eq!(part(&body, "live-targets").matches("role=\"rowheader\"").count(), 7, "{query}: {body}");
    assert!(!part(&body, "live-targets").contains("odd1"), "{body}");
    // A search keeps to them.
    assert!(body.contains("type=\"hidden\" name=\"reason\" value=\"connection_refused\""), "{body}");
}

#[tokio::test]
async fn a_table_without_problems_has_no_column_for_them() {
    let fleet = fleet();
    assert!(fleet.page("/?state=down").await.contains(">Problem</th>"));
    assert!(!fleet.page("/?state=up").await.contains(">Problem</th>"));
}
