//! Hosts that cannot be reached or do not let us in: stage, reason, words, and what the exporter hears of the password.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::time::Duration;

use plugin_abi::{
    CredentialAnswer,
    CredentialVerdict::{Accepted, Disabled, Locked, PasswordExpired, Rejected, Unknown},
    GeneralReason, Stage,
};
use serde_json::json;
use tokio::net::{TcpSocket, TcpStream};
use windows_sim::AccountState;

use crate::world::{Plugin, SimHost, countersets};

const SETS: &[&str] = &["HTTP Service"];

#[test]
fn a_wrong_password_is_shown_once_and_called_wrong() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    plugin.lender.change_password("not this one");
    let watch = plugin.watch(&sim, countersets(SETS));
    let ended = watch.collect();
    let (stage, reason, message) = ended.failed();
    assert_eq!((stage, reason), (Stage::Auth, "wrong_credentials"));
    assert!(message.contains("STATUS_LOGON_FAILURE"), "{message}");
    assert!(!message.contains("not this one"), "{message}");
    assert_eq!(sim.logons(), (0, 1));
    assert_eq!(plugin.lender.verdicts(), [Rejected]);
}

#[test]
fn accounts_that_cannot_be_used_are_told_apart() {
    let cases = [
        (AccountState::Locked, "account_locked", Locked),
        (AccountState::Disabled, "account_disabled", Disabled),
        (AccountState::Expired, "account_disabled", Disabled),
        (AccountState::PasswordExpired, "password_expired", PasswordExpired),
        (AccountState::Restricted, "logon_restricted", Unknown),
    ];
    for (state, expected, verdict) in cases {
        let (sim, plugin) = (SimHost::new(), Plugin::new());
        sim.change_account(|account| account.state = state);
        let ended = plugin.watch(&sim, countersets(SETS)).collect();
        let (stage, reason, _) = ended.failed();
        assert_eq!((stage, reason), (Stage::Auth, expected), "{state:?}");
        assert_eq!(plugin.lender.verdicts(), [verdict], "{state:?}");
    }
}

#[test]
fn an_account_without_the_right_is_told_so_and_its_password_is_right() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    sim.change_account(|account| account.may_read_counters = false);
    let watch = plugin.watch(&sim, countersets(SETS));
    for _ in 0..2 {
        let ended = watch.collect();
        let (stage, reason, message) = ended.failed();
        assert_eq!((stage, reason), (Stage::Query, "access_denied"));
        assert!(message.contains("ERROR_ACCESS_DENIED"), "{message}");
    }
    // Who was put into the group has the right from the next logon on.
    assert_eq!(plugin.lender.verdicts(), [Accepted, Accepted]);
    assert_eq!(sim.logons(), (4, 0));
    sim.change_account(|account| account.may_read_counters = true);
    watch.full();
}

#[test]
fn a_closed_port_is_refused_before_any_password_is_lent() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    sim.shut();
    let watch = plugin.watch(&sim, countersets(SETS));
    let ended = watch.collect();
    let (stage, reason, _) = ended.failed();
    assert_eq!((stage, reason), (Stage::Tcp, "connection_refused"));
    assert_eq!(plugin.lender.verdicts(), []);
    sim.cut();
    watch.full();
}

#[test]
fn a_black_hole_ends_at_the_connect_timeout_and_at_the_deadline() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // With room for one connection that nobody takes, the kernel drops whatever else comes.
    let (listener, _filler) = runtime.block_on(async {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let listener = socket.listen(0).unwrap();
        let filler = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        (listener, filler)
    });
    let port = listener.local_addr().unwrap().port();
    let plugin = Plugin::new();
    for (connect_timeout_ms, deadline) in [(200, Duration::from_secs(60)), (60_000, Duration::from_secs(1))] {
        let settings = json!({
            "countersets": [{"name": "HTTP Service"}],
            "transport": {"connect_timeout_ms": connect_timeout_ms},
        });
        let ended = plugin.watch_port("127.0.0.1", port, settings).collect_within(deadline);
        let (stage, reason, _) = ended.failed();
        assert_eq!((stage, reason), (Stage::Tcp, "timeout"));
    }
    assert_eq!(plugin.lender.verdicts(), []);
}

#[test]
fn a_server_that_takes_connections_and_says_nothing_ends_at_the_deadline() {
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = silent.local_addr().unwrap().port();
    let plugin = Plugin::new();
    let ended =
        plugin.watch_port("127.0.0.1", port, countersets(SETS)).collect_within(Duration::from_millis(800));
    let (stage, reason, _) = ended.failed();
    assert_eq!((stage, reason), (Stage::Smb, "timeout"));
    assert_eq!(plugin.lender.verdicts(), []);
}

#[test]
fn a_server_of_another_kind_is_called_so() {
    let web = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = web.local_addr().unwrap().port();
    let serving = std::thread::spawn(move || {
        let (mut client, _) = web.accept().unwrap();
        client.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        // Until the client goes: an end before its bytes were read would be a reset.
        std::io::copy(&mut client, &mut std::io::sink()).unwrap_or_default()
    });
    let plugin = Plugin::new();
    let ended = plugin.watch_port("127.0.0.1", port, countersets(SETS)).collect();
    let (stage, reason, _) = ended.failed();
    assert_eq!((stage, reason), (Stage::Smb, "protocol_error"));
    assert_eq!(plugin.lender.verdicts(), []);
    assert!(serving.join().unwrap() > 0, "it was asked first");
}

#[test]
fn a_password_that_is_withheld_is_not_tried() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let denied = CredentialAnswer::Denied {
        reason: GeneralReason::CredentialsWithheld,
        message: "refused before".to_owned(),
    };
    plugin.lender.answer(Some(denied));
    let watch = plugin.watch(&sim, countersets(SETS));
    let ended = watch.collect();
    let (stage, reason, _) = ended.failed();
    assert_eq!((stage, reason), (Stage::Auth, "credentials_withheld"));
    let stages: Vec<Stage> = ended.stages.iter().map(|report| report.stage).collect();
    assert_eq!(stages, [Stage::Dns, Stage::Tcp, Stage::Smb, Stage::Auth]);
    assert_eq!(sim.logons(), (0, 0));
    plugin.lender.answer(None);
    watch.full();
}

#[test]
fn a_password_that_another_target_tries_is_waited_for_until_the_deadline() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    plugin.lender.answer(Some(CredentialAnswer::Wait { retry_after_ms: 60_000 }));
    let ended = plugin.watch(&sim, countersets(SETS)).collect_within(Duration::from_millis(800));
    let (stage, reason, message) = ended.failed();
    assert_eq!((stage, reason), (Stage::Auth, "timeout"));
    assert!(message.contains("what another host, or a KDC, says"), "{message}");
    assert_eq!(sim.logons(), (0, 0));
}

#[test]
fn a_pipe_is_not_opened_again_with_a_password_that_is_withheld() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim, countersets(SETS));
    watch.full();
    let denied = CredentialAnswer::Denied {
        reason: GeneralReason::CredentialsWithheld,
        message: "refused elsewhere meanwhile".to_owned(),
    };
    plugin.lender.answer(Some(denied));
    watch.full();
    sim.host.stop_service();
    let ended = watch.collect();
    let (stage, reason, _) = ended.failed();
    assert_eq!((stage, reason), (Stage::Auth, "credentials_withheld"));
    assert_eq!(sim.logons(), (2, 0));
}

#[test]
fn a_name_that_nobody_has_is_not_found() {
    let plugin = Plugin::new();
    let ended = plugin.watch_port("web1.invalid", 445, countersets(SETS)).collect();
    let (stage, reason, _) = ended.failed();
    assert_eq!((stage, reason), (Stage::Dns, "name_not_found"));
    assert_eq!(plugin.lender.verdicts(), []);
}

#[test]
fn a_host_without_encryption_is_refused_where_it_is_required() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    sim.behave(|behaviour| behaviour.encryption = windows_sim::smb::Encryption::Disabled);
    let settings = json!({
        "countersets": [{"name": "HTTP Service"}], "transport": {"smb": {"encryption": "required"}},
    });
    let ended = plugin.watch(&sim, settings).collect();
    let (_, reason, message) = ended.failed();
    assert_eq!(reason, "encryption_required");
    assert!(message.contains("encrypt"), "{message}");
    assert_eq!(sim.logons(), (0, 0));
}

#[test]
fn a_host_that_speaks_smb1_only_is_refused() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    sim.behave(|behaviour| behaviour.dialects.clear());
    let ended = plugin.watch(&sim, countersets(SETS)).collect();
    let (stage, reason, message) = ended.failed();
    assert_eq!((stage, reason), (Stage::Smb, "smb1_only"));
    assert!(message.contains("SMB1"), "{message}");
    assert_eq!(plugin.lender.verdicts(), []);
}

#[test]
fn a_service_that_does_not_start_is_called_stopped() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    sim.behave(|behaviour| behaviour.refused_opens = u32::MAX);
    let watch = plugin.watch(&sim, countersets(SETS));
    let ended = watch.collect_within(Duration::from_secs(3));
    let (stage, reason, message) = ended.failed();
    assert_eq!((stage, reason), (Stage::Pipe, "remote_registry_stopped"));
    assert!(message.contains("STATUS_PIPE_NOT_AVAILABLE"), "{message}");
    assert_eq!(plugin.lender.verdicts(), [Accepted], "the password is right all the same");
    sim.behave(|behaviour| behaviour.refused_opens = 0);
    watch.full();
}

#[test]
fn one_host_that_hangs_does_not_disturb_another() {
    let (bad, good, plugin) = (SimHost::new(), SimHost::new(), Plugin::new());
    bad.rule("*=stall");
    let hanging = plugin.watch(&bad, countersets(SETS));
    let healthy = plugin.watch(&good, countersets(SETS));
    let deadline_ns = plugin_host::monotonic_ns() + 2_000_000_000;
    hanging.instance.collect(deadline_ns).expect("the collection begins");
    for _ in 0..5 {
        healthy.full();
    }
    let recorded = hanging.sink.wait_completions(1).expect("the collection ends");
    assert!(matches!(
        recorded.completions[0].outcome,
        plugin_host::testing::RecordedOutcome::Failed(ref failure) if failure.stage == Stage::Query
    ));
    healthy.full();
    assert_eq!(good.connections(), 1);
}

#[test]
fn settings_that_are_wrong_are_told_by_their_place() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let settings = json!({"countersets": [
        {"name": "HTTP Service"},
        {"name": "http service"},
        {"name": "Process V2", "instances": {"include": ["good", "(bad"]}},
    ]});
    let watch = plugin.watch(&sim, countersets(SETS));
    let config = plugin_host::InstanceConfig { settings, ..watch.config.clone() };
    let problems = plugin.library.validate("pcq", &config).expect("the source answers");
    let places: Vec<&str> = problems.iter().map(|problem| problem.pointer.as_str()).collect();
    assert_eq!(places, ["/countersets/1/name", "/countersets/2/instances/include/1"]);
}
