//! The page of counter logs: sets by their series, runs and files by the directory.

use std::time::{Duration, SystemTime};

use exposition::testing::plugin::gauge;

use super::*;
use crate::page_state::Kept;

const STATUS: usize = 0;
const NEXT_START: usize = 1;
const SERIAL_NUMBER: usize = 2;
const RECORDS: usize = 3;
const BYTES: usize = 4;
const WAITING: usize = 5;
const FAILING: usize = 6;

const DAY: Duration = Duration::from_secs(86_400);

type Labels<'a> = &'a [(&'a str, &'a str)];

fn families() -> [FamilyDef<'static>; 7] {
    let of = |object, item| FamilyDef {
        namespace: "pens",
        object,
        display: Display::by(DisplayRule::Value),
        ..gauge(item)
    };
    [
        of("Run", "Status"),
        of("Run", "Next Start Timestamp"),
        of("Run", "Serial Number"),
        of("Log", "Records"),
        of("Log", "Bytes"),
        of("Log", "Waiting"),
        of("Log", "Failing"),
    ]
}

/// Registers series of the first target, each of one of these families, and gives them these values.
fn offer(fleet: &Fleet, series: &[(usize, Labels<'_>, f64)]) {
    let (store, mut verdicts) = (&fleet.stores[0], Vec::new());
    store.register_families(&families(), &mut verdicts);
    for (family, labels, _) in series {
        let family = u32::try_from(*family).expect("there are seven");
        store.register_series(&[SeriesDef::new(family, labels, None)], &mut verdicts);
    }
    fleet.bring(0, &series.iter().map(|(.., value)| *value).collect::<Vec<_>>());
}

/// A site that keeps files, and the directory of these.
fn keeping(downloads: bool) -> (Fleet, tempfile::TempDir) {
    let (fleet, folder) = (Fleet::of(&["web1"]), tempfile::tempdir().expect("a folder can be made"));
    fleet.site.page_state.files.set(Some(Kept { directory: folder.path().to_owned(), downloads }));
    (fleet, folder)
}

fn write(folder: &tempfile::TempDir, path: &str, text: &str) {
    let path = folder.path().join(path);
    std::fs::create_dir_all(path.parent().expect("it is below the folder")).expect("the folder is ours");
    std::fs::write(path, text).expect("the folder is ours");
}

/// The rows of the table with this caption.
fn rows(body: &str, caption: &str) -> Vec<String> {
    let table = body.split(caption).nth(1).unwrap_or_default();
    let table = table.split("</table>").next().unwrap_or_default();
    table.split("<tr role=\"row\">").skip(2).map(str::to_owned).collect()
}

#[tokio::test]
async fn each_set_has_what_its_series_say_of_it() {
    let (fleet, _folder) = keeping(false);
    let set = ("set", "Office hours");
    // Less than an hour is not shown beside days.
    let in_two_days = SystemTime::now() + 2 * DAY + DAY / 48;
    let in_two_days =
        in_two_days.duration_since(SystemTime::UNIX_EPOCH).expect("it is after 1970").as_secs_f64();
    offer(
        &fleet,
        &[
            (STATUS, &[set, ("status", "running")], 1.0),
            (STATUS, &[set, ("status", "stopped")], 0.0),
            (STATUS, &[("set", HOSTILE), ("status", "stopped")], 1.0),
            (NEXT_START, &[set], in_two_days),
            (SERIAL_NUMBER, &[set], 17.0),
            (RECORDS, &[set, ("log", "a")], 1_000.0),
            (RECORDS, &[set, ("log", "b")], 234.0),
            (BYTES, &[set, ("log", "a")], 1_536.0),
            (WAITING, &[set, ("log", "a")], 3.0),
        ],
    );
    let body = fleet.page("/logs").await;
    let [hostile, office] = &rows(&body, "Sets that log counters")[..] else { panic!("{body}") };
    for text in [
        "<bdi>Office hours</bdi>",
        "href=\"targets/web1\"",
        "</span> running</span>",
        ">17<",
        ">1,234<",
        ">1.50 KiB<",
        "data-label=\"Waiting\">3<",
        "data-label=\"Gaps\">–<",
        "in 2 d<",
    ] {
        assert!(office.contains(text), "{text}\n{office}");
    }
    assert!(hostile.contains("</span> stopped</span>") && !hostile.contains("<script>"), "{hostile}");
    assert!(body.contains("<a href=\"logs\" aria-current=\"page\">Counter logs</a>"), "{body}");
}

#[tokio::test]
async fn a_set_whose_records_are_not_written_comes_first_and_is_not_green() {
    let (fleet, _folder) = keeping(false);
    let series = |failing: f64| {
        let of = |set: &'static str| [("set", set), ("log", "a")];
        let mut values = Vec::new();
        for (set, failing) in [("Day", 0.0), ("Night", failing)] {
            values.push((STATUS, vec![("set", set), ("status", "running")], 1.0));
            values.push((FAILING, of(set).to_vec(), failing));
        }
        values
    };
    let offered = series(1.0);
    offer(
        &fleet,
        &offered.iter().map(|(family, labels, value)| (*family, &labels[..], *value)).collect::<Vec<_>>(),
    );
    let body = fleet.page("/logs").await;
    let [night, day] = &rows(&body, "Sets that log counters")[..] else { panic!("{body}") };
    assert!(night.contains("<bdi>Night</bdi>") && night.contains("state down"), "{night}");
    assert!(night.contains("</span> failing</span>") && !night.contains("state up"), "{night}");
    assert!(day.contains("</span> running</span>"), "{day}");
    let summary =
        body.split("class=\"tiles\"").nth(1).and_then(|rest| rest.split("</ul>").next()).unwrap_or_default();
    assert!(summary.contains("Sets failing"), "{summary}");

    fleet.bring(0, &series(0.0).iter().map(|(.., value)| *value).collect::<Vec<_>>());
    let body = fleet.page("/logs").await;
    let [day, night] = &rows(&body, "Sets that log counters")[..] else { panic!("{body}") };
    assert!(day.contains("<bdi>Day</bdi>") && night.contains("state up"), "{night}");
    assert!(!body.contains("Sets failing"), "{body}");
}

#[tokio::test]
async fn runs_have_their_files_and_the_newest_comes_first() {
    let (fleet, folder) = keeping(true);
    write(&folder, "web1/Office hours/000001/a.csv", "1");
    write(&folder, "web1/Office hours/000001/report.html", "<p>");
    write(&folder, "gone/%3Cscript%3E/000009/b & c.csv", "12");
    let then = SystemTime::now() - 2 * DAY;
    for name in ["a.csv", "report.html"] {
        let file = std::fs::File::options()
            .append(true)
            .open(folder.path().join("web1/Office hours/000001").join(name));
        file.expect("it is there").set_modified(then).expect("it is ours");
    }
    let body = fleet.page("/logs").await;
    let [newest, oldest] = &rows(&body, "Runs, the newest first")[..] else { panic!("{body}") };
    for text in [
        "<bdi>000009</bdi>",
        "<bdi>&lt;script&gt;</bdi>",
        "<bdi>gone</bdi> (no target now)",
        "<summary>1 file</summary>",
        "href=\"logs/files/gone/%253Cscript%253E/000009/b%20%26%20c.csv\" download",
        ">2 B<",
    ] {
        assert!(newest.contains(text), "{text}\n{newest}");
    }
    for text in [
        "href=\"targets/web1\"",
        "2 d ago<",
        "<a href=\"logs/files/web1/Office%20hours/000001/report.html\">Open <bdi>report.html</bdi></a>",
        "<bdi>a.csv</bdi>",
    ] {
        assert!(oldest.contains(text), "{text}\n{oldest}");
    }
    let found = fleet.page("/logs?q=OFFICE").await;
    assert_eq!(rows(&found, "Runs, the newest first").len(), 1);
    assert!(fleet.page("/logs?q=nothing").await.contains("No run matches"));
    let one = fleet.page("/logs?run=web1/Office%20hours/000001").await;
    assert_eq!(rows(&one, "Files of the run").len(), 2, "{one}");
    let (status, body) = fleet.get("/logs?run=web1/Office%20hours/000002").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(body.contains("No such run"), "{body}");
}

#[tokio::test]
async fn without_downloads_the_names_are_no_links() {
    let (fleet, folder) = keeping(false);
    write(&folder, "web1/set/000001/a.csv", "1");
    for path in ["/logs", "/logs?run=web1/set/000001"] {
        let body = fleet.page(path).await;
        assert!(body.contains("<bdi>a.csv</bdi>") && !body.contains("logs/files"), "{body}");
        assert!(body.contains("downloads: true"), "{body}");
    }
}

#[tokio::test]
async fn what_is_missing_is_said_with_what_to_do() {
    let (fleet, folder) = keeping(true);
    let body = fleet.page("/logs").await;
    assert!(body.contains("No set logs counters") && body.contains("There are no files yet"), "{body}");
    fleet.site.page_state.files.set(Some(Kept { directory: folder.path().join("none"), downloads: true }));
    assert!(fleet.page("/logs").await.contains("cannot be read"));
    fleet.site.page_state.files.set(None);
    let body = fleet.page("/logs").await;
    assert!(body.contains("<code>storage: {directory: "), "{body}");
    assert!(!body.contains("href=\"logs\""), "without files there is no link to the page");
}

#[tokio::test]
async fn a_run_with_many_files_and_many_runs_are_turned() {
    let (fleet, folder) = keeping(true);
    for number in 0..201 {
        write(&folder, &format!("web1/set/000001/{number:03}.csv"), "1");
    }
    (2..=60).for_each(|number| write(&folder, &format!("web1/set/{number:06}/a.csv"), "1"));
    let first = fleet.page("/logs").await;
    assert_eq!(rows(&first, "Runs, the newest first").len(), 50);
    assert!(first.contains("href=\"logs?page=2\""), "{first}");
    let second = fleet.page("/logs?page=2").await;
    let rows_of_second = rows(&second, "Runs, the newest first");
    assert_eq!(rows_of_second.len(), 10);
    assert!(rows_of_second.iter().any(|row| row.contains("All files of the run")), "{second}");
    let run = "/logs?run=web1/set/000001";
    assert_eq!(rows(&fleet.page(run).await, "Files of the run").len(), 200);
    assert_eq!(rows(&fleet.page(&format!("{run}&page=2")).await, "Files of the run").len(), 1);
}
