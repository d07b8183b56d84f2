//! Hosts that cannot be reached or do not let us in: stage, reason, and what to open.

use plugin_abi::{
    CredentialVerdict::{Accepted, Rejected},
    Stage,
};
use windows_sim::{ActivationMode, ObjectBindings, RpcSecurity};

use crate::world::{Asked as _, Plugin, SimHost};

#[test]
fn an_activation_that_is_refused_says_what_to_change() {
    let cases = [
        ("activator/4=status:0x80070005", "com_access_denied", "E_ACCESSDENIED", "COM+ Network Access"),
        ("activator/4=fault:5", "com_access_denied", "access denied", "Distributed COM Users"),
        ("activator/4=status:0x80040154", "tracker_not_registered", "REGDB_E_CLASSNOTREG", "Install COM+"),
        ("activator/4=status:0x80010110", "dcom_version_mismatch", "RPC_E_VERSION_MISMATCH", "traffic"),
        ("activator/4=status:0x8001011d", "invalid_object_reference", "RPC_E_INVALID_OBJREF", "Report it"),
        ("activator/4=status:0x8001011c", "dcom_disabled", "RPC_E_REMOTE_DISABLED", "dcomcnfg"),
        ("tracker/4=status:0x80070005", "com_access_denied", "E_ACCESSDENIED", "role Reader"),
    ];
    for (rule, expected, status, advice) in cases {
        let (sim, plugin) = (SimHost::new(), Plugin::new());
        sim.rule(rule);
        let watch = plugin.watch(&sim);
        let ended = watch.collect();
        let ((stage, reason, message), next_step) = (ended.failed(), ended.next_step());
        assert_eq!((stage, reason), (Stage::Query, expected), "{rule}: {message}");
        assert!(message.contains(status), "{rule}: {message}");
        assert!(next_step.contains(advice), "{rule}: {next_step}");
        assert_eq!(plugin.lender.verdicts(), [Accepted], "{rule}: the password is right all the same");
        sim.heal();
        watch.full();
    }
}

#[test]
fn an_account_without_rights_is_refused_until_it_gets_them() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    sim.host.accounts().change(|accounts| accounts[0].may_read_counters = false);
    let watch = plugin.watch(&sim);
    let ended = watch.collect();
    let (stage, reason, ..) = ended.failed();
    assert_eq!((stage, reason), (Stage::Query, "com_access_denied"));
    sim.host.accounts().change(|accounts| accounts[0].may_read_counters = true);
    watch.full();
    sim.behave(|behaviour| behaviour.activation = ActivationMode::ServerFailure);
    sim.cut();
    let ended = watch.collect();
    let (_, reason, message) = ended.failed();
    assert_eq!(reason, "server_fault");
    assert!(message.contains("CO_E_SERVER_EXEC_FAILURE"), "{message}");
}

#[test]
fn a_wrong_password_is_shown_once_and_called_wrong() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    plugin.lender.change_password("not this one");
    let ended = plugin.watch(&sim).collect();
    let (stage, reason, ..) = ended.failed();
    assert_eq!((stage, reason), (Stage::Auth, "wrong_credentials"));
    assert_eq!((sim.logons(), plugin.lender.verdicts()), ((0, 1), vec![Rejected]));
}

#[test]
fn a_closed_resolver_is_refused_before_any_password_is_lent() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    sim.shut();
    let watch = plugin.watch(&sim);
    let ended = watch.collect();
    let (stage, reason, message) = ended.failed();
    assert_eq!((stage, reason), (Stage::Tcp, "connection_refused"));
    assert!(message.contains("COM+ Network Access (DCOM-In)"), "{message}");
    assert_eq!(plugin.lender.verdicts(), []);
    sim.cut();
    watch.full();
}

#[test]
fn a_dynamic_port_that_is_blocked_is_named() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    sim.behave(|behaviour| behaviour.object_bindings = ObjectBindings::Blocked);
    let ended = plugin.watch(&sim).collect();
    let ((stage, reason, message), next_step) = (ended.failed(), ended.next_step());
    assert_eq!((stage, reason), (Stage::Tcp, "object_port_blocked"));
    assert!(message.contains("127.0.0.1:9"), "{message}");
    assert!(next_step.contains("COM+ Remote Administration (DCOM-In)"), "{next_step}");
    assert_eq!(plugin.lender.verdicts(), [Accepted]);
}

#[test]
fn bindings_that_are_not_routed_lead_to_the_host_that_was_named() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    sim.behave(|behaviour| behaviour.object_bindings = ObjectBindings::Unroutable);
    assert_eq!(plugin.watch(&sim).full().count("Application"), 20);
    sim.behave(|behaviour| behaviour.object_bindings = ObjectBindings::NoTcp);
    let ended = plugin.watch(&sim).collect();
    let (stage, reason, message) = ended.failed();
    assert_eq!((stage, reason), (Stage::Decode, "malformed_reply"));
    assert!(message.contains("no TCP port"), "{message}");
}

#[test]
fn a_host_that_knows_ntlm_alone_is_read_and_a_wrong_password_is_one_there_too() {
    for security in [RpcSecurity::Ntlm, RpcSecurity::SecretlyNtlm] {
        let (sim, plugin) = (SimHost::new(), Plugin::new());
        sim.behave(|behaviour| behaviour.rpc_security = security);
        let watch = plugin.watch_with(sim.port, serde_json::json!({"mode": "both"}));
        assert_eq!(watch.full().count("Application"), 20, "{security:?}");
        sim.tell();
        assert_eq!(watch.full().value("Events", "Up", &[]), Some(1.0), "{security:?}");
        sim.change_account(|account| account.password = ssp::Secret::new("another one"));
        let ended = plugin.watch(&sim).collect();
        assert_eq!(ended.failed().1, "wrong_credentials", "{security:?}");
        assert_eq!(sim.logons().1, 1, "{security:?}");
        assert_eq!(plugin.lender.verdicts().last(), Some(&Rejected), "{security:?}");
    }
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    sim.behave(|behaviour| behaviour.rpc_security = RpcSecurity::Neither);
    let ended = plugin.watch(&sim).collect();
    let (stage, _, message) = ended.failed();
    assert_eq!(stage, Stage::Auth);
    assert!(message.contains("AUTHENTICATION_TYPE_NOT_RECOGNIZED"), "{message}");
}
