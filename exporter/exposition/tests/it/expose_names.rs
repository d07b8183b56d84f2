//! Names beyond ASCII, for readers who know quotes and for those who do not.

use std::sync::Arc;

use expect_test::expect;
use exposition::testing::plugin::{complete, counter, family, gauge, send, series};
use exposition::{Escaping, Format, Representation, page, page_bytes};
use plugin_abi::{Batch, Column, DataSink, DropReason, FamilyDef, Outcome, SeriesDef};
use series::model::Target;
use series::pipeline::{Catalog, Limits, NoObserver, Profile, Refusal, Scope, Store};

use crate::protobuf_reader;
use crate::text_reader::parse;

fn verbatim() -> Arc<Store> {
    let target = Target::new("web1").with_label("data.center", "a\"b");
    let scope = Scope::with_profile(Catalog::new(), target, Limits::default(), Profile::Verbatim);
    scope.store(Arc::new(NoObserver))
}

fn busy() -> Arc<Store> {
    let store = verbatim();
    let def = FamilyDef { unit: "seconds", help: "Größe", ..counter("% Busy") };
    let busy = family(&store, &def).unwrap();
    let labels = [("größe", "1"), ("a:b", "\\"), ("plain", "2")];
    let mut verdicts = Vec::new();
    let start_time_unix_nanos = Some(1_500_000_000);
    store.register_series(&[SeriesDef::new(busy, &labels, start_time_unix_nanos)], &mut verdicts);
    let queue = family(&store, &gauge("Queue")).unwrap();
    let queue = series(&store, queue, &[]).unwrap();
    let values = Column::F64(&[0.5, 3.0]);
    store.batch(&Batch { ids: &[0, queue], values, timestamps: None, start_times: None });
    complete(&store, Outcome::Full);
    store
}

#[test]
fn names_stand_in_quotes_where_readers_know_them() {
    let representation = Representation::newest(Format::OpenMetrics, Escaping::AllowUtf8);
    expect![[r#"
        # HELP "perfmon.X.% Busy_seconds" Größe
        # TYPE "perfmon.X.% Busy_seconds" counter
        # UNIT "perfmon.X.% Busy_seconds" seconds
        {"perfmon.X.% Busy_seconds_total",target="web1","data.center"="a\"b","a:b"="\\","größe"="1",plain="2"} 0.5
        {"perfmon.X.% Busy_seconds_created",target="web1","data.center"="a\"b","a:b"="\\","größe"="1",plain="2"} 1.5
        # TYPE "perfmon.X.Queue" gauge
        {"perfmon.X.Queue",target="web1","data.center"="a\"b"} 3
        # EOF
    "#]]
    .assert_eq(&page(representation, vec![busy().snapshot()], None));
}

#[test]
fn names_are_escaped_for_readers_who_know_no_quotes() {
    let shown =
        |escaping| page(Representation::newest(Format::OpenMetrics, escaping), vec![busy().snapshot()], None);
    expect![[r##"
        # TYPE perfmon_X_Queue gauge
        perfmon_X_Queue{target="web1",data_center="a\"b"} 3
        # HELP perfmon_X___Busy_seconds Größe
        # TYPE perfmon_X___Busy_seconds counter
        # UNIT perfmon_X___Busy_seconds seconds
        perfmon_X___Busy_seconds_total{target="web1",data_center="a\"b",a_b="\\",gr__e="1",plain="2"} 0.5
        perfmon_X___Busy_seconds_created{target="web1",data_center="a\"b",a_b="\\",gr__e="1",plain="2"} 1.5
        # EOF
    "##]]
    .assert_eq(&shown(Escaping::Underscores));
    expect![[r##"
        # TYPE U__perfmon_2e_X_2e_Queue gauge
        U__perfmon_2e_X_2e_Queue{target="web1",U__data_2e_center="a\"b"} 3
        # HELP U__perfmon_2e_X_2e__25__20_Busy__seconds_ Größe
        # TYPE U__perfmon_2e_X_2e__25__20_Busy__seconds_ counter
        U__perfmon_2e_X_2e__25__20_Busy__seconds__total{target="web1",U__data_2e_center="a\"b",U__a_3a_b="\\",U__gr_f6__df_e="1",plain="2"} 0.5
        U__perfmon_2e_X_2e__25__20_Busy__seconds__created{target="web1",U__data_2e_center="a\"b",U__a_3a_b="\\",U__gr_f6__df_e="1",plain="2"} 1.5
        # EOF
    "##]]
    .assert_eq(&shown(Escaping::Values));
}

#[test]
fn every_format_and_scheme_says_the_same() {
    for escaping in Escaping::ALL {
        let snapshots = || vec![busy().snapshot()];
        let text = Representation::newest(Format::Text, escaping);
        let text = parse(text, &page(text, snapshots(), None)).unwrap();
        let openmetrics = Representation::newest(Format::OpenMetrics, escaping);
        let mut openmetrics = parse(openmetrics, &page(openmetrics, snapshots(), None)).unwrap();
        openmetrics.retain(|(name, _), _| !name.ends_with("_created"));
        let protobuf = page_bytes(Representation::newest(Format::Protobuf, escaping), snapshots(), None);
        assert_eq!(text, openmetrics);
        assert_eq!(protobuf_reader::parse(escaping, &protobuf).unwrap(), protobuf_reader::as_doubles(&text));
    }
}

#[test]
fn series_that_some_reader_would_get_twice_are_refused() {
    let store = verbatim();
    let id = family(&store, &gauge("A")).unwrap();
    assert!(series(&store, id, &[("a.b", "1")]).is_ok());
    for same in ["a_b", "a-b", "a_dot_b", "U__a_2e_b"] {
        assert_eq!(series(&store, id, &[(same, "1")]), Err(DropReason::Duplicate), "{same}");
        assert!(series(&store, id, &[(same, "2")]).is_ok() || same != "a_b");
    }
    assert!(family(&store, &gauge("a b")).is_ok());
    assert_eq!(family(&store, &gauge("a.b")), Err(DropReason::Duplicate));
    assert!(store.refusals().count(Refusal::FamilyCollision) == 1);

    // Two labels of one series never become one.
    let ids = [series(&store, id, &[("x.y", "1"), ("x_y", "2"), ("x y", "3")]).unwrap()];
    send(&store, &ids, &[1.0]);
    complete(&store, Outcome::Full);
    let text = page(Format::Text, vec![store.snapshot()], None);
    assert_eq!(parse(Format::Text, &text).unwrap().len(), 1, "{text}");
}

#[test]
fn series_that_go_leave_their_names() {
    let store = verbatim();
    let id = family(&store, &gauge("A")).unwrap();
    for _ in 0..3 {
        let gone = series(&store, id, &[("a.b", "1")]).unwrap();
        assert!(series(&store, id, &[("a_b", "1")]).is_err());
        store.retire(&[gone]);
    }
    assert!(series(&store, id, &[("a_b", "1")]).is_ok());
}
