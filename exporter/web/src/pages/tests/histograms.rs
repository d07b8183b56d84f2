//! Pages show the mean of a histogram and the number of its observations.

use std::time::Duration;

use plugin_abi::HistogramBatch;

use super::*;

const WAITS: FamilyDef<'static> = FamilyDef {
    namespace: "",
    object: "Zoo",
    item: "Wait",
    part: "",
    kind: Kind::Histogram,
    unit: "seconds",
    help: "How long one waits.",
    origin: "",
    value: ValueKind::Histogram,
    bounds: &[0.01, 0.1],
    display: Display::NONE,
};

/// A collection that brings the counts of the two histograms' buckets, and their sums.
fn bring(fleet: &Fleet, counts: &[u64; 6], sums: &[f64; 2]) {
    let (store, ids) = (&fleet.stores[0], &[0, 1]);
    let batch =
        HistogramBatch { family: 0, buckets: 3, ids, counts, sums, timestamps: None, start_times: None };
    assert_eq!(store.histograms(&batch).stored, 2);
    store.complete(CollectionId(1), Completion { outcome: Outcome::Full, stages: &[] });
}

#[tokio::test]
async fn a_histogram_is_shown_by_the_mean_since_the_collection_before() {
    for query in ["set=Zoo&instance=left", "counter=perfmon_zoo_wait_seconds&sort=largest"] {
        let (fleet, begin) = (Fleet::of(&["web1"]), Instant::now());
        fleet.offer(0, &[(WAITS, "left"), (WAITS, "right")]);
        bring(&fleet, &[1, 2, 3, 0, 0, 0], &[5.0, 0.0]);
        let body = fleet.page_at(query, begin, 1_700_000_000.0).await;
        assert_eq!(body.matches("need a second collection").count(), 1, "{body}");
        // 30 ms in six observations, and nothing on the right.
        bring(&fleet, &[1, 8, 3, 0, 0, 0], &[5.03, 0.0]);
        let body = fleet.page_at(query, begin + Duration::from_secs(10), 1_700_000_010.0).await;
        assert!(body.contains("<strong>5.00 ms</strong>"), "{body}");
        assert!(body.contains(">12 observations</td>"), "{body}");
        assert_eq!(body.contains("no activity"), query.starts_with("counter"), "{body}");
        // The first one was reset.
        bring(&fleet, &[1, 0, 0, 1, 0, 0], &[0.25, 0.25]);
        let body = fleet.page_at(query, begin + Duration::from_secs(20), 1_700_000_020.0).await;
        assert!(body.contains(">1 observations</td>"), "{body}");
        assert_eq!(body.contains("<strong>250 ms</strong>"), query.starts_with("counter"), "{body}");
    }
}

#[tokio::test]
async fn pages_say_that_it_is_one_and_how_to_query_it() {
    let fleet = Fleet::of(&["web1"]);
    fleet.offer(0, &[(WAITS, "left"), (WAITS, "right")]);
    bring(&fleet, &[1, 2, 3, 0, 0, 0], &[5.0, 0.0]);
    let body = fleet.page("/targets/web1/values?counter=perfmon_zoo_wait_seconds").await;
    assert!(body.contains("<dt>Kind</dt><dd>histogram</dd>"), "{body}");
    let query = "irate(perfmon_zoo_wait_seconds_sum{target=&quot;web1&quot;}[5m]) / (irate(";
    assert!(body.contains(query), "{body}");
    // Prometheus makes five series of each.
    let body = fleet.page("/targets/web1/values").await;
    assert!(body.contains("data-label=\"Series\">10</td>"), "{body}");
    let body = fleet.page("/targets/web1").await;
    assert!(body.contains("10 series"), "{body}");
}
