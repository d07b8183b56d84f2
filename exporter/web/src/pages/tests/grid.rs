//! Applications and such stand in tables on the page of their target.

use super::*;

type Series<'a> = (FamilyDef<'static>, &'a [(&'a str, &'a str)], f64);

const SHOP: (&str, &str) = ("application_id", "0a");
const BASKET: (&str, &str) = ("clsid", "c1");

fn figure(object: &'static str, item: &'static str, unit: &'static str) -> FamilyDef<'static> {
    FamilyDef {
        namespace: "complus",
        object,
        item,
        part: "",
        kind: Kind::Gauge,
        unit,
        help: "",
        origin: "",
        value: ValueKind::F64,
        bounds: &[],
        display: Display::by(DisplayRule::Value),
    }
}

fn info(object: &'static str) -> FamilyDef<'static> {
    FamilyDef { kind: Kind::Info, display: Display::NONE, ..figure(object, "", "") }
}

/// A collection that brings these series of the first target, one of each family.
fn bring(fleet: &Fleet, series: &[Series<'_>]) {
    let (store, mut verdicts) = (&fleet.stores[0], Vec::new());
    for (family, labels, _) in series {
        store.register_families(std::slice::from_ref(family), &mut verdicts);
        let Some(plugin_abi::Verdict::Accepted(family)) = verdicts.pop() else { panic!("{verdicts:?}") };
        store.register_series(&[SeriesDef::new(family, labels, None)], &mut verdicts);
    }
    let values: Vec<f64> = series.iter().map(|(_, _, value)| *value).collect();
    fleet.bring(0, &values);
}

/// The text of each cell of the row with this heading.
fn cells(body: &str, heading: &str) -> Vec<String> {
    let row = body.split("<tr role=\"row\">").find(|row| row.contains(heading));
    let row =
        row.unwrap_or_else(|| panic!("no {heading} in {body}")).split("</tr>").next().unwrap_or_default();
    let text = |cell: &str| {
        cell.split_once('>').unwrap_or_default().1.split('<').next().unwrap_or_default().to_owned()
    };
    row.split("<td ").skip(1).map(text).collect()
}

#[tokio::test]
async fn each_thing_of_a_source_has_a_row_with_its_names_and_figures() {
    let fleet = Fleet::of(&["web1"]);
    let others = [SHOP, ("name", "Shop <b>"), ("type", "server")];
    bring(
        &fleet,
        &[
            (figure("Application", "Instances", ""), &[SHOP], 7.0),
            (figure("Application", "Calls/sec", ""), &[("application_id", "0b")], 2.5),
            (info("Application"), &others, 1.0),
            (figure("Component", "Call Time", "seconds"), &[SHOP, BASKET], 0.25),
            (figure("Component", "References", ""), &[SHOP, BASKET], 3.0),
            (info("Component"), &[SHOP, BASKET, ("name", "Shop.Basket")], 1.0),
        ],
    );
    let body = fleet.page("/targets/web1").await;
    // The named one first, then the one without a name.
    let at = |text: &str| body.find(text).unwrap_or_else(|| panic!("no {text} in {body}"));
    assert!(at("<bdi>Shop &lt;b&gt;</bdi></a>") < at("<bdi>application_id=0b</bdi></a>"));
    assert_eq!(cells(&body, "<bdi>Shop &lt;b&gt;</bdi></a>"), ["7", "–"]);
    assert_eq!(cells(&body, "<bdi>application_id=0b</bdi></a>"), ["–", "2.50"]);
    assert!(body.contains("<bdi>type</bdi>=<bdi>server</bdi>"), "{body}");
    // A component says which application it is of.
    assert!(
        body.contains("<bdi>Shop.Basket</bdi></a> <span class=\"when\">of <bdi>Shop &lt;b&gt;</bdi>"),
        "{body}"
    );
    assert_eq!(cells(&body, "<bdi>Shop.Basket</bdi></a>"), ["250 ms", "3"]);
    assert!(body.contains("set=Component&amp;instance=application_id%3D0a"), "{body}");
}

#[tokio::test]
async fn counters_and_figures_of_the_whole_target_make_no_table() {
    let fleet = Fleet::of(&["web1"]);
    fleet.collect(0, [1, 2]);
    assert!(!fleet.page("/targets/web1").await.contains("id=\"grid-"));
    let fleet = Fleet::of(&["web1"]);
    bring(
        &fleet,
        &[
            (figure("Events", "Taken", ""), &[], 7.0),
            (figure("Events", "Superseded", ""), &[], 2.5),
            (figure("Entries", "Left Out", ""), &[("reason", "limit")], 0.0),
        ],
    );
    assert!(!fleet.page("/targets/web1").await.contains("id=\"grid-"));
}

#[tokio::test]
async fn a_table_ends_after_fifty_rows_with_a_link_to_the_others() {
    let fleet = Fleet::of(&["web1"]);
    let (store, mut verdicts) = (&fleet.stores[0], Vec::new());
    let families = [figure("Application", "Instances", ""), figure("Application", "Components", "")];
    store.register_families(&families, &mut verdicts);
    for number in 0..60_u32 {
        for family in [0, 1] {
            let labels = [("application_id", &*number.to_string())];
            store.register_series(&[SeriesDef::new(family, &labels, None)], &mut verdicts);
        }
    }
    fleet.bring(0, &[1.0; 120]);
    let body = fleet.page("/targets/web1").await;
    let grid = body.split("id=\"live-grids\"").nth(1).unwrap_or_default().split("id=\"live-sets\"").next();
    let grid = grid.unwrap_or_default();
    assert_eq!(grid.matches("scope=\"row\"").count(), 50, "{grid}");
    assert!(grid.contains(">All 60</a>"), "{grid}");
}
