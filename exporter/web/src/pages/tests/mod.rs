//! The pages of a site with targets whose data the tests choose.

mod alerts;
mod grid;
mod histograms;
mod logs;
mod rpc_state;
mod troubles;
mod values;
mod watched_alerts;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use ::config::{self as configuration, Web};
use http_body_util::BodyExt;
use http_server::Caller;
use http_server::PeerKey;
use hyper::header::{ETAG, IF_NONE_MATCH};
use plugin_abi::{
    Batch, CollectionId, Column, Completion, DataSink, Display, DisplayRule, Failure, FamilyDef,
    GeneralReason, Kind, Outcome, SeriesDef, Stage, StageReport, ValueKind,
};
use series::model;
use series::pipeline::{Catalog, Limits, Scope, Store};
use support::telemetry::Timings;

use super::catalogue::Taken;
use super::*;
use crate::Scrapes;
use crate::rpc_state::Keeping;
use crate::{PageState, Parts, SiteSettings};
use targets::schedule::{self, Deadlines, Driver, JobId, Planner, Schedule};
use targets::{AlertLines, CHANGES_MAX, Costs, JobObserver, TargetRegistry};

fn nobody() -> Caller {
    let peer = PeerKey::of("192.0.2.1".parse().expect("it is an address"));
    Caller { peer, is_authenticated: false, end: Arc::default() }
}

const HOSTILE: &str = "\"><script>alert(1)</script>'&\u{202e}";

/// No two collections have one id.
fn next_collection() -> CollectionId {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    CollectionId(NEXT.fetch_add(1, Ordering::Relaxed))
}

struct Fleet {
    site: Arc<Site>,
    stores: Vec<Arc<Store>>,
}

impl Fleet {
    /// A site with targets of these names.
    fn of(names: &[&str]) -> Self {
        Self::keeping(names, Keeping::default())
    }

    /// The same, with the state of RPC calls.
    fn keeping(names: &[&str], keeping: Keeping) -> Self {
        let targets = names.iter().map(|name| {
            serde_json::json!({"name": name, "host": "h", "modules": ["os"], "labels": {"env": "<i>prod</i>"}})
        });
        let document = serde_json::json!({
            "plugins": {"load": ["pcq"]},
            "modules": {"os": {"plugin": "pcq", "password": "hunter2"}},
            "targets": targets.collect::<Vec<_>>(),
        });
        let mut config =
            configuration::parse("perfmon.yml", &document.to_string(), Path::new("/")).expect("it is good");
        assert_eq!(config.set_schemas(&configuration::Schemas::default()), []);
        let target_registry = Arc::new(TargetRegistry::default());
        let entries: Vec<Entry> =
            config.targets.iter().map(|target| Arc::new(TargetState::new(target, Some(445)))).collect();
        let catalog = Catalog::new();
        let stores = entries.iter().map(|entry| {
            let target = model::Target::new(&entry.name).with_label("env", "<i>prod</i>");
            let scope = Scope::new(Arc::clone(&catalog), target, Limits::default());
            let store = scope.store(Arc::new(JobObserver {
                reporter: None,
                alerts: None,
                ended: AtomicU64::default(),
                alert_lines: AlertLines::default(),
                entry: Arc::downgrade(entry),
                module: 0,
                job: JobId(1),
                plugin: "pcq".to_owned(),
                schedule: schedule(),
                costs: Costs::new(&Timings::default()).of("pcq"),
            }));
            entry.set_store(0, Arc::clone(&store));
            store
        });
        let stores = stores.collect();
        target_registry.set_config(&config);
        target_registry.set_targets(entries);
        let site = Arc::new(Site::new(Parts {
            target_registry,
            registry: Arc::default(),
            scrapes: Arc::new(Scrapes::default()),
            settings: SiteSettings::from(&Web::default()),
            reloader: None,
            prober: None,
            page_state: PageState::new(
                Arc::default(),
                plugin_host::Limits::default(),
                Arc::default(),
                keeping,
            )
            .with_identities(Arc::new(TwoIdentities)),
        }));
        Self { site, stores }
    }

    /// A collection of a target that brings one counter of two instances.
    fn collect(&self, target: usize, values: [u64; 2]) {
        let (store, mut verdicts) = (&self.stores[target], Vec::new());
        store.register_families(
            &[FamilyDef {
                namespace: "",
                object: "Web Service",
                item: "Bytes Sent/sec",
                part: "",
                kind: Kind::Counter,
                unit: "bytes",
                help: "Bytes that were sent.",
                origin: r"\Web Service(*)\Bytes Sent/sec [PERF_COUNTER_BULK_COUNT]",
                value: ValueKind::U64,
                bounds: &[],
                display: Display::by(DisplayRule::Rate),
            }],
            &mut verdicts,
        );
        for instance in ["_Total", HOSTILE] {
            let labels = [("counter_instance", instance)];
            let series = SeriesDef::new(0, &labels, None);
            store.register_series(&[series], &mut verdicts);
        }
        let batch = Batch { ids: &[0, 1], values: Column::U64(&values), timestamps: None, start_times: None };
        store.batch(&batch);
        let stages = [StageReport {
            stage: Stage::Query,
            start_ns: 0,
            duration_ns: 2_500_000,
            calls: 3,
            bytes_in: 2_048,
            bytes_out: 9,
        }];
        store.complete(next_collection(), Completion { outcome: Outcome::Full, stages: &stages });
    }

    /// Registers these series of a target.
    fn offer(&self, target: usize, series: &[(FamilyDef<'_>, &str)]) {
        let (store, mut verdicts) = (&self.stores[target], Vec::new());
        let mut families: Vec<FamilyDef<'_>> = Vec::new();
        for (family, instance) in series {
            let is_it = |known: &FamilyDef<'_>| (known.item, known.part) == (family.item, family.part);
            let known = families.iter().position(is_it).unwrap_or_else(|| {
                store.register_families(std::slice::from_ref(family), &mut verdicts);
                families.push(*family);
                families.len() - 1
            });
            let labels = [("counter_instance", *instance)];
            let labels = if instance.is_empty() { &labels[..0] } else { &labels };
            let family = u32::try_from(known).expect("there are few");
            store.register_series(&[SeriesDef::new(family, labels, None)], &mut verdicts);
        }
    }

    /// A collection of a target that brings a value of each of its series.
    fn bring(&self, target: usize, values: &[f64]) {
        let ids: Vec<u32> = (0..).take(values.len()).collect();
        let values = Column::F64(values);
        self.stores[target].batch(&Batch { ids: &ids, values, timestamps: None, start_times: None });
        self.stores[target].complete(next_collection(), Completion { outcome: Outcome::Full, stages: &[] });
    }

    /// A collection of a target that fails.
    fn fail(&self, target: usize, reason: GeneralReason) {
        let failure = Failure::new(Stage::Tcp, reason, HOSTILE.to_owned());
        let outcome = Outcome::Failed(failure);
        self.stores[target].complete(next_collection(), Completion { outcome, stages: &[] });
    }

    async fn get(&self, path: &str) -> (StatusCode, String) {
        let request = Request::get(path).body(()).expect("it is a request");
        let response = self.site.answer_any(&request, &nobody()).await;
        let status = response.status();
        let body = response.into_body().collect().await.expect("it does not fail").to_bytes();
        (status, String::from_utf8(body.to_vec()).expect("it is text"))
    }

    /// A page of the values of the first target, as if the last collection had been then.
    async fn page_at(&self, query: &str, collected: Instant, unix_s: f64) -> String {
        let entry = &self.site.target_registry.targets()[0];
        let taken = Taken::from(entry).collected_at(collected, unix_s);
        let uri = format!("/targets/web1/values?{query}").parse().expect("it is an address");
        let response = super::values::page_of(&self.site, entry, &taken, &Query::of(&uri));
        let body = response.into_body().collect().await.expect("it does not fail").to_bytes();
        String::from_utf8(body.to_vec()).expect("it is text")
    }

    async fn page(&self, path: &str) -> String {
        let (status, body) = self.get(path).await;
        assert_eq!(status, StatusCode::OK, "{path}");
        body
    }
}

/// A schedule without a receiver.
fn schedule() -> Schedule {
    struct NoDeadlines;
    impl Deadlines for NoDeadlines {
        fn keep(&self) -> Option<std::time::Duration> {
            None
        }
    }
    let limits = schedule::Limits { running_max: 1, connecting_max: 1, connect_rate: 1 };
    Driver::new(Planner::new(limits, 1, Instant::now()), Arc::new(NoDeadlines)).1
}

#[tokio::test]
async fn what_others_named_is_text_on_every_page() {
    let fleet = Fleet::of(&[HOSTILE, "web2"]);
    fleet.collect(0, [1, 2]);
    fleet.fail(1, GeneralReason::ConnectionRefused);
    let target = Url::of("targets").step(HOSTILE);
    let mut html = Html::new("/");
    html.href(&target);
    let path = html.finish().replace(" href=\"", "").replace('"', "");
    for page in [
        "/".to_owned(),
        path.clone(),
        format!("{path}/values"),
        format!("{path}/values?set=Web+Service"),
        format!("{path}/values?counter=perfmon_web_service_sent_bytes"),
        "/?q=%3Cscript%3Ealert%281%29".to_owned(),
        "/targets/web2".to_owned(),
        "/config?page=%3Cscript%3Ealert".to_owned(),
    ] {
        let body = fleet.page(&page).await;
        assert!(!body.contains("<script>alert") && !body.contains("<i>prod"), "{page}\n{body}");
        assert!(!body.contains('\u{202e}'), "{page}");
    }
    let body = fleet.page(&path).await;
    assert!(
        body.contains(
            "<h1><bdi>&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#39;&amp;[U+202E]</bdi></h1>"
        )
    );
    assert_eq!(fleet.get("/targets/%3Cscript%3E").await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn failing_targets_come_first_with_what_to_do() {
    let fleet = Fleet::of(&["web1", "web2", "web3"]);
    fleet.collect(0, [1, 2]);
    fleet.fail(1, GeneralReason::ConnectionRefused);
    let body = fleet.page("/").await;
    let at = |text: &str| body.find(text).unwrap_or_else(|| panic!("no {text} in {body}"));
    assert!(at("targets/web2") < at("targets/web3") && at("targets/web3") < at("targets/web1"));
    let step = GeneralReason::ConnectionRefused.next_step().replace('\'', "&#39;");
    let (before, rule) = step.split_once('`').unwrap();
    let (rule, after) = rule.split_once('`').unwrap();
    assert!(body.contains(&format!("<bdi>{before}<code>{rule}</code>{after}</bdi>")), "{body}");
    // By state, by the reason of the failure, and by nothing that is there.
    for (query, shown) in [
        ("state=down", vec!["web2"]),
        ("q=Connection_Ref", vec!["web2"]),
        ("q=PROD&state=up", vec!["web1"]),
        ("q=nowhere", vec![]),
    ] {
        let body = fleet.page(&format!("/?{query}")).await;
        let table = body.split("id=\"live-changes\"").next().unwrap_or_default();
        let found: Vec<&str> = ["web1", "web2", "web3"]
            .into_iter()
            .filter(|name| table.contains(&format!("targets/{name}\"")))
            .collect();
        assert_eq!(found, shown, "{query}");
    }
}

#[tokio::test]
async fn a_page_of_four_thousand_targets_is_no_larger_than_one_of_fifty() {
    let names: Vec<String> = (0..4_000).map(|number| format!("host{number}.corp.example.com")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let fleet = Fleet::of(&names);
    for target in 0..4_000 {
        fleet.fail(target, GeneralReason::ConnectionRefused);
    }
    let body = fleet.page("/?page=80").await;
    assert!(body.len() < 100_000, "{}", body.len());
    assert!(
        body.contains("3951–4000 of 4,000") && body.contains("targets/host3999.corp.example.com\""),
        "{body}"
    );
    assert!(!body.contains(">Next<") && body.contains("?page=79\""));
    assert_eq!(fleet.page("/?page=99999").await.matches("role=\"rowheader\"").count(), 50);
    assert_eq!(fleet.site.target_registry.changes().len(), CHANGES_MAX);
}

#[tokio::test]
async fn a_target_shows_its_stages_and_how_often_it_failed() {
    let fleet = Fleet::of(&["web1"]);
    fleet.fail(0, GeneralReason::ConnectionRefused);
    fleet.collect(0, [1, 2]);
    assert!(!fleet.page("/targets/web1").await.contains("<dt>Windows"), "no version is known");
    let target = Arc::clone(&fleet.site.target_registry.targets()[0]);
    target.set_fact("os.type", "windows");
    target.set_fact("os.version", "10.0.20348<b>");
    let body = fleet.page("/targets/web1").await;
    for text in [
        "<dt>Windows</dt><dd><bdi>10.0.20348&lt;b&gt;</bdi></dd>",
        "2.50 ms",
        "2.00 KiB",
        "<strong>1 ×</strong> <code>connection_refused",
        "up</span>",
        "set=Web%20Service",
    ] {
        assert!(body.contains(text), "{text}\n{body}");
    }
}

#[tokio::test]
async fn a_host_whose_clock_is_wrong_is_told_so_on_its_page() {
    let fleet = Fleet::of(&["web1"]);
    let family = FamilyDef {
        namespace: "host",
        object: "Clock",
        item: "Skew",
        part: "",
        kind: Kind::Gauge,
        unit: "seconds",
        help: "",
        origin: "",
        value: ValueKind::F64,
        bounds: &[],
        display: Display::by(DisplayRule::None),
    };
    fleet.offer(0, &[(family, "")]);
    for (skew_s, said) in [
        (-8_418.0, Some("The host's clock is 2 h 20 min behind")),
        (61.0, Some("ahead of that of this machine")),
        (59.0, None),
        (f64::NAN, None),
    ] {
        fleet.bring(0, &[skew_s]);
        let body = fleet.page("/targets/web1").await;
        assert_eq!(body.contains("The host's clock"), said.is_some(), "{skew_s}");
        assert!(said.is_none_or(|said| body.contains(said)), "{body}");
    }
}

#[tokio::test]
async fn the_configuration_hides_what_may_be_a_secret() {
    let fleet = Fleet::of(&["web1"]);
    let body = fleet.page("/config").await;
    assert!(body.contains("password: <mark>hidden</mark>") && !body.contains("hunter2"), "{body}");
}

/// One of each kind; what is said of them is hostile.
struct TwoIdentities;

impl crate::Identities for TwoIdentities {
    fn rows(&self) -> Vec<crate::IdentityRow> {
        let ticket = crate::TicketRow {
            principal: "svc@CORP.EXAMPLE".to_owned(),
            obtained_unix_s: 1_800_000_000,
            expires_unix_s: 1_800_036_000,
            skew_seconds: Some(-75),
        };
        let of = |name: &str, kind, account: &str| crate::IdentityRow {
            name: name.to_owned(),
            kind,
            account: account.to_owned(),
            accounts: vec![("accepted", 0), ("withheld: rejected", 0)],
            ticket: None,
            failure: None,
        };
        let failure = ("kdc_unreachable", "Check the DNS records.", HOSTILE.to_owned());
        let tickets = of("tickets", "kerberos", "svc@CORP.EXAMPLE");
        vec![
            crate::IdentityRow { accounts: vec![("accepted", 3)], ..of("local", "ntlm", "secret-account") },
            crate::IdentityRow { ticket: Some(ticket), failure: Some(failure), ..tickets },
        ]
    }
}

#[tokio::test]
async fn an_identity_shows_how_it_stands_and_its_account_only_to_who_gave_a_password() {
    let fleet = Fleet::of(&["web1"]);
    let body = fleet.page("/config").await;
    for part in [
        "<bdi>local</bdi></code>: ntlm, accepted (3 accounts)",
        "<bdi>tickets</bdi></code>: kerberos, not used yet",
        "Ticket from 2027-01-15 08:00:00 UTC to 2027-01-15 18:00:00 UTC; the KDC's clock is 75 s behind",
        "No new ticket, <code>kdc_unreachable</code>: ",
        "Check the DNS records.",
    ] {
        assert!(body.contains(part), "{part}: {body}");
    }
    assert!(
        !body.contains("secret-account") && !body.contains("svc@CORP.EXAMPLE") && !body.contains(HOSTILE)
    );
}

#[tokio::test]
async fn a_browser_takes_style_and_script_once() {
    let (fleet, caller) = (Fleet::of(&[]), nobody());
    for path in ["/page.css", "/page.js", "/icon.svg"] {
        let first =
            fleet.site.answer_any(&Request::get(path).body(()).expect("it is a request"), &caller).await;
        let tag = &first.headers()[ETAG];
        let again = Request::get(path).header(IF_NONE_MATCH, tag).body(()).expect("it is a request");
        assert_eq!(fleet.site.answer_any(&again, &caller).await.status(), StatusCode::NOT_MODIFIED, "{path}");
    }
    let page = fleet.site.answer_any(&Request::get("/").body(()).expect("it is a request"), &caller).await;
    let policy = page.headers()[CONTENT_SECURITY_POLICY].to_str().expect("it is text");
    assert!(
        policy.starts_with("default-src 'none'; script-src 'self'") && !policy.contains("unsafe"),
        "{policy}"
    );
}
