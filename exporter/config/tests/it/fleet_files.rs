//! Target files: what they may say, and how they change under the reader.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use config::target_files::{Fate, FileNews, TargetFiles, TargetList, parse_target_file};
use config::{Config, Report, Schemas, parse};
use expect_test::{Expect, expect};
use tempfile::TempDir;

const CONFIG: &str = r#"
plugins: {load: [pcq]}
scrape: {interval: 30s}
identities:
  corp: {kind: ntlm, username: svc, password_env: P, allow_hosts: ['*.corp', 10.0.0.0/8]}
  lab: {kind: ntlm, username: svc, password_env: P, allow_hosts: ['*', 10.0.0.0/8, 'fd00::/8']}
transports: {wan: {connect_timeout: 9s}}
modules: {os: {plugin: pcq}, iis: {plugin: pcq}}
target_defaults: {identity: corp, modules: [os], labels: {env: prod}}
targets: [{host: static.corp}]
target_files: ['targets.d/*.yml', 'targets.d/*.json']
"#;

fn config(base: &Path) -> Arc<Config> {
    let mut config = parse("perfmon.yml", CONFIG, base).unwrap_or_else(|report| panic!("{report}"));
    let (smb, mut schemas) = (exposition::testing::schema::smb(&[]), Schemas::default());
    schemas.set_module("os", &smb);
    schemas.add_source("pcq", &smb);
    assert_eq!(config.set_schemas(&schemas), []);
    Arc::new(config)
}

/// What is wrong with a file as a whole, or with its entries.
fn check(file: &str, text: &str, expected: &Expect) {
    let report = match parse_target_file(file, text, &config(Path::new("/"))) {
        Ok(list) => Report::new(file, list.problems().cloned().collect()),
        Err(report) => report,
    };
    expected.assert_eq(&report.to_string());
}

#[test]
fn labels_say_how_a_groups_targets_are_asked() {
    let text = r#"
- targets: [web1.corp, 10.1.2.3]
  labels:
    __meta_datacenter: ber
    __metrics_path__: /probe
    __param_module: "os, iis"
    __param_auth: lab
    __param_transport: wan
    __param_max_series: "1000"
    __scrape_timeout__: 5s
    __scrape_interval__: 1m30s
    rack: "12"
- targets: ["[fd00::1]"]
  labels: {__param_name: six, __param_identity: lab}
- targets: [plain.corp]
"#;
    let targets = parse_target_file("t.yml", text, &config(Path::new("/"))).unwrap().targets;
    let [web, address, six, plain] = &targets[..] else { panic!("four targets: {targets:?}") };
    assert_eq!((web.name.as_str(), address.host.as_str()), ("web1.corp", "10.1.2.3"));
    assert_eq!((web.identity.as_deref(), web.transport.as_str()), (Some("lab"), "wan"));
    assert_eq!(web.modules, ["os", "iis"]);
    assert_eq!((web.interval, web.deadline), (Duration::from_secs(90), Duration::from_secs(5)));
    assert_eq!(web.max_series, 1000);
    let labels: Vec<(&str, &str)> = web.labels.iter().map(|(name, value)| (&**name, &**value)).collect();
    assert_eq!(labels, [("env", "prod"), ("rack", "12")]);
    assert_eq!((six.name.as_str(), six.host.as_str()), ("six", "[fd00::1]"));
    assert_eq!((plain.identity.as_deref(), &plain.modules[..]), (Some("corp"), &["os".to_owned()][..]));
}

#[test]
fn json_is_told_by_the_files_name_and_may_be_indented_with_tabs() {
    let text = "[\n\t{\n\t\t\"targets\": [\"a.corp\"],\n\t\t\"labels\": {\"rack\": \"1\"}\n\t}\n]\n";
    let targets = parse_target_file("t.json", text, &config(Path::new("/"))).unwrap().targets;
    assert_eq!((targets[0].name.as_str(), targets[0].labels["rack"].as_str()), ("a.corp", "1"));
    assert_eq!((targets[0].position.line, targets[0].position.column), (3, 15));
    check("t.json", "[{targets: [a]}]", &expect!["t.json:1:3: key must be a string"]);
    check("t.json", "[{\"targets\": [\"a.corp\"]}", &expect!["t.json:1:24: EOF while parsing a list"]);
    // The column counts characters, whatever bytes they take.
    check("t.json", "[{\"sites\": \"Köln\", 7}]", &expect!["t.json:1:20: key must be a string"]);
}

#[test]
fn every_problem_of_a_file_is_reported_with_its_place() {
    check(
        "t.yml",
        r#"
- targets: [web1.corp, "web2.corp:9182"]
  labels: {__param_modul: os, rack: 12, target: x}
- target: [a]
- targets: [a.corp, b.corp]
  labels: {__param_name: one, __param_module: "os,ox", __param_identity: crop, __param_transport: lan}
- targets: [web1.example.net]
  labels: {__scrape_interval__: 10s, __scrape_timeout__: 20s, __param_max_series: many}
- targets: [c.corp]
  labels: {__param_identity: corp, __param_auth: lab}
"#,
        &expect![[r#"
            t.yml:2:24: [0].targets[1]: `web2.corp:9182` is not a valid host; write the name or the address alone, `web2.corp`; a port goes into the transport: `smb: {port: …}`
            t.yml:3:12: [0].labels: label `__param_modul` has no meaning here; did you mean `__param_module`?
            t.yml:3:37: [0].labels.rack: expected text, found a number; put it in quotes
            t.yml:3:41: [0].labels: label `target` is the exporter's own; choose another name
            t.yml:4:3: [1]: `targets` is missing; list the hosts
            t.yml:4:3: [1]: unknown key `target`; did you mean `targets`?
            t.yml:6:12: [2]: `__param_name` names one target, and there are 2; give it a group of its own
            t.yml:6:47: [2].labels.__param_module: there is no module `ox`; did you mean `os`?
            t.yml:6:74: [2].labels.__param_identity: there is no identity `crop`; did you mean `corp`?
            t.yml:6:99: [2].labels.__param_transport: there is no transport `lan`; did you mean `wan`?
            t.yml:7:13: [3].targets[0]: identity `corp` may not be used for `web1.example.net`; its `allow_hosts` has *.corp, 10.0.0.0/8
            t.yml:8:58: [3].labels.__scrape_timeout__: is longer than the interval of 10s; a collection must end before the next begins
            t.yml:8:83: [3].labels.__param_max_series: `many` is not a whole number from 1 to 1000000
            t.yml:10:50: [4].labels.__param_auth: `__param_identity` and `__param_auth` name two identities; keep one of them"#]],
    );
}

#[test]
fn an_empty_file_is_probably_being_written_and_an_empty_list_is_no_targets() {
    check("t.yml", "", &expect!["t.yml: the file is empty; write `[]` for no targets"]);
    check(
        "t.yml",
        "targets: [a]\n",
        &expect![
            "t.yml:1:1: expected a list of groups, found a mapping; write `- targets: [web1.corp.example.com]`"
        ],
    );
    assert_eq!(parse_target_file("t.yml", "[]\n", &config(Path::new("/"))).unwrap(), TargetList::default());
}

/// A configuration's folder and its reader.
struct Fleet {
    folder: TempDir,
    files: TargetFiles,
}

impl Fleet {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("targets.d")).unwrap();
        let files = TargetFiles::new(config(folder.path()));
        Self { folder, files }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("targets.d").join(name)
    }

    /// Written beside and renamed, as careful programs do.
    fn replace(&self, name: &str, text: &str) {
        let beside = self.path(&format!("{name}.new"));
        std::fs::write(&beside, text).unwrap();
        std::fs::rename(beside, self.path(name)).unwrap();
    }

    /// A look so late that every file has settled; what it says, with short paths.
    fn look(&mut self) -> String {
        self.look_at(SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 40))
    }

    fn look_at(&mut self, now: SystemTime) -> String {
        let mut lines: Vec<String> = self.files.look(now).iter().map(|news| format!("{news:?}")).collect();
        lines.extend(self.files.look(now).iter().map(|news| format!("AGAIN {news:?}")));
        let root = format!("{}/", self.path("").display()).replace("//", "/");
        let mut lines: Vec<String> = lines.iter().map(|line| line.replace(&root, "")).collect();
        lines.sort();
        lines.join("\n")
    }

    fn names(&self) -> Vec<String> {
        self.files.wanted().targets.into_iter().map(|target| target.name).collect()
    }
}

#[test]
fn a_file_is_read_once_and_again_when_it_was_replaced() {
    let mut fleet = Fleet::new();
    fleet.replace("a.yml", "- targets: [a.corp]\n");
    fleet.replace("b.json", "[{\"targets\": [\"b.corp\"]}]");
    std::fs::write(fleet.path("notes.txt"), "no targets").unwrap();
    assert_eq!(fleet.look(), "Read(\"a.yml\", 1)\nRead(\"b.json\", 1)");
    assert_eq!(fleet.names(), ["static.corp", "a.corp", "b.corp"]);
    // The same size, and within the same step of the clock: the file is another one all the same.
    fleet.replace("a.yml", "- targets: [c.corp]\n");
    assert_eq!(fleet.look(), "Read(\"a.yml\", 1)");
    assert_eq!(fleet.names(), ["static.corp", "c.corp", "b.corp"]);
    assert_eq!(fleet.look(), "");
}

#[test]
fn a_file_written_in_place_is_read_until_its_time_has_settled() {
    let mut fleet = Fleet::new();
    // Read in the moment of the writing: the same size again, and perhaps the same time.
    let moment = SystemTime::UNIX_EPOCH;
    std::fs::write(fleet.path("a.yml"), "- targets: [a.corp]\n").unwrap();
    assert_eq!(fleet.look_at(moment), "Read(\"a.yml\", 1)");
    std::fs::write(fleet.path("a.yml"), "- targets: [b.corp]\n").unwrap();
    assert_eq!(fleet.look_at(moment), "Read(\"a.yml\", 1)");
    assert_eq!(fleet.names(), ["static.corp", "b.corp"]);
}

#[test]
fn a_folder_that_kubernetes_swaps_is_noticed() {
    let mut fleet = Fleet::new();
    for (version, host) in [("v1", "a.corp"), ("v2", "b.corp")] {
        std::fs::create_dir(fleet.path(version)).unwrap();
        std::fs::write(fleet.path(version).join("t.yml"), format!("- targets: [{host}]\n")).unwrap();
    }
    symlink("v1", fleet.path("..data")).unwrap();
    symlink("..data/t.yml", fleet.path("t.yml")).unwrap();
    assert_eq!(fleet.look(), "Read(\"t.yml\", 1)");
    symlink("v2", fleet.path("..data_tmp")).unwrap();
    std::fs::rename(fleet.path("..data_tmp"), fleet.path("..data")).unwrap();
    assert_eq!(fleet.look(), "Read(\"t.yml\", 1)");
    assert_eq!(fleet.names(), ["static.corp", "b.corp"]);
}

#[test]
fn a_broken_file_keeps_its_last_good_targets_and_is_told_once() {
    let mut fleet = Fleet::new();
    fleet.replace("a.yml", "- targets: [a.corp]\n");
    fleet.look();
    fleet.replace("a.yml", "- targets: [a.corp\n");
    let news = fleet.look();
    assert!(news.starts_with("Broken") && !news.contains("AGAIN"), "{news}");
    // Touched, and still the same.
    fleet.replace("a.yml", "- targets: [a.corp\n");
    assert_eq!(fleet.look(), "");
    assert_eq!(fleet.names(), ["static.corp", "a.corp"]);
    let states = fleet.files.states(&[]);
    assert_eq!((states[0].is_good, states[0].targets), (false, 1));
    assert!(states[0].modified_unix_s.is_some());
    fleet.replace("a.yml", "- targets: [b.corp]\n");
    assert_eq!(fleet.look(), "Read(\"a.yml\", 1)");
    assert!(fleet.files.states(&[])[0].is_good);
}

#[test]
fn one_bad_entry_costs_itself_and_a_bad_group_goes_on_as_it_was() {
    let mut fleet = Fleet::new();
    fleet.replace("a.yml", "- targets: [a.corp, web.example.net, 'b.corp:445', c.corp]\n");
    // From the first look on: there is nothing that it could have been before.
    assert_eq!(fleet.look(), "Read(\"a.yml\", 2)");
    assert_eq!(fleet.names(), ["static.corp", "a.corp", "c.corp"]);
    let wanted = fleet.files.wanted();
    let states = fleet.files.states(&wanted.refused);
    assert_eq!((states[0].is_good, states[0].targets, states[0].refused), (true, 4, 2));
    assert!(states[0].problems[0].contains("a.yml:1:21: [0].targets[1]: "), "{:?}", states[0].problems);
    assert!(wanted.refused.iter().all(|refused| refused.fate == Fate::Skipped));
    let bad = "- targets: [a.corp, d.corp]\n  labels: {__param_module: ox}\n- targets: [e.corp]\n- {}\n";
    fleet.replace("a.yml", bad);
    assert_eq!(fleet.look(), "Read(\"a.yml\", 2)");
    // Of the bad group it is known how one of its hosts was asked.
    assert_eq!(fleet.names(), ["static.corp", "e.corp", "a.corp"]);
    let wanted = fleet.files.wanted();
    let states = fleet.files.states(&wanted.refused);
    assert_eq!((states[0].targets, states[0].refused), (4, 3));
    let fates: Vec<Fate> = wanted.refused.iter().map(|refused| refused.fate).collect();
    assert_eq!(fates, [Fate::Kept, Fate::Skipped]);
}

#[test]
fn what_is_no_file_or_too_large_is_refused_without_reading_it() {
    let mut fleet = Fleet::new();
    std::fs::create_dir(fleet.path("folder.yml")).unwrap();
    std::fs::File::create(fleet.path("huge.yml")).unwrap().set_len(1 << 40).unwrap();
    let news = fleet.look();
    assert!(news.contains("is a folder, not a file") && news.contains("more than 8388608 bytes"), "{news}");
    assert_eq!(news.lines().count(), 2, "{news}");
}

#[test]
fn a_file_must_be_missing_twice_before_its_targets_go() {
    let mut fleet = Fleet::new();
    fleet.replace("a.yml", "- targets: [a.corp]\n");
    fleet.look();
    let now = SystemTime::UNIX_EPOCH;
    std::fs::remove_file(fleet.path("a.yml")).unwrap();
    assert!(fleet.files.look(now).is_empty());
    assert_eq!(fleet.names(), ["static.corp", "a.corp"]);
    // It is back in time.
    fleet.replace("a.yml", "- targets: [a.corp]\n");
    assert!(fleet.files.look(now).is_empty());
    std::fs::remove_file(fleet.path("a.yml")).unwrap();
    assert_eq!(fleet.look(), "AGAIN Gone(\"a.yml\")");
    assert_eq!((fleet.names(), fleet.files.states(&[]).len()), (vec!["static.corp".to_owned()], 0));
}

#[test]
fn of_two_targets_of_one_name_the_first_stays_and_the_other_is_reported() {
    let mut fleet = Fleet::new();
    fleet.replace("a.yml", "- targets: [a.corp, static.corp]\n");
    fleet.replace("b.yml", "- targets: [b.corp, a.corp]\n  labels: {rack: '2'}\n");
    fleet.look();
    let wanted = fleet.files.wanted();
    assert_eq!(fleet.names(), ["static.corp", "a.corp", "b.corp"]);
    assert!(!wanted.targets[1].labels.contains_key("rack"));
    let refused = wanted.refused.iter().map(|refused| {
        let position = refused.problem.position.unwrap();
        (position.line, position.column, refused.name.as_str(), refused.fate)
    });
    let refused: Vec<_> = refused.collect();
    assert_eq!(refused, [(1, 21, "static.corp", Fate::Surplus), (1, 21, "a.corp", Fate::Surplus)]);
    let reasons: Vec<&str> = wanted.refused.iter().map(|refused| refused.problem.message.as_str()).collect();
    assert!(reasons[0].contains("already in the configuration, on line 10"), "{reasons:?}");
    assert!(reasons[1].ends_with("a.yml:1"), "{reasons:?}");
    let states = fleet.files.states(&wanted.refused);
    assert_eq!((states[0].refused, states[1].refused), (1, 1));
}

#[test]
fn what_checks_a_configuration_sees_everything_that_is_wrong() {
    let fleet = Fleet::new();
    let config = config(fleet.folder.path());
    let now = SystemTime::UNIX_EPOCH;
    fleet.replace("a.yml", "- targets: [a.corp]\n");
    assert_eq!(TargetFiles::check(&config, now).unwrap().targets.len(), 2);
    fleet.replace("b.yml", "- targets: [a.corp]\n");
    fleet.replace("c.yml", "- targets: 7\n");
    let reports = TargetFiles::check(&config, now).unwrap_err();
    let text: Vec<String> = reports.iter().map(ToString::to_string).collect();
    let root = fleet.path("").display().to_string();
    expect![[r#"
        b.yml:1:13: `a.corp` is already defined, in a.yml:1; give one of them another `__param_name`
        c.yml:1:12: [0].targets: expected a list, found a number"#]]
    .assert_eq(&text.join("\n").replace(&root, ""));
}

#[test]
fn news_of_a_file_without_a_wildcard_that_is_not_there_comes_once() {
    let folder = tempfile::tempdir().unwrap();
    let text = CONFIG.replace("['targets.d/*.yml', 'targets.d/*.json']", "[t.yml]");
    let config = Arc::new(parse("perfmon.yml", &text, folder.path()).unwrap());
    let mut files = TargetFiles::new(config);
    let now = SystemTime::UNIX_EPOCH;
    let first = files.look(now);
    assert!(
        matches!(&first[..], [FileNews::Broken(report, 0)] if report.to_string().ends_with("there is no such file"))
    );
    assert!((0..5).all(|_| files.look(now).is_empty()));
    assert!(!files.states(&[])[0].is_good);
    std::fs::write(folder.path().join("t.yml"), "- targets: [a.corp]\n").unwrap();
    assert!(matches!(&files.look(now)[..], [FileNews::Read(_, 1)]));
}
