//! Conversations over SMB: the eight methods, and what can go wrong on the way to them.

use std::sync::Arc;
use std::time::Duration;

use counters::pcq::perflibv2::Change;
use counters::pcq::types::{CounterId, Lcid};
use counters::pcq::wire::{Body, CounterIdentifier};
use dcerpc::{AuthLevel, FaultStatus};
use ms_smb2::Dialect;
use ms_smb2::client::Encryption as ClientEncryption;
use ms_smb2::client::{ClientConfig, ClientConnection};
use ssp::{Credentials, Secret};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use windows_sim::model::Clock;
use windows_sim::service::pcq;
use windows_sim::smb::Encryption;
use windows_sim::{AccountState, Rule, server};
use wire::{Guid, NtStatus, Win32Error};

use crate::client::{Failure, Rpc, Smb};
use crate::host::{NOON, credentials, host, host_of, model};

const PROCESSOR_INFORMATION: Guid = Guid::from_u128(0xb4fc721a_0378_476f_89ba_a5a79f810b36);
const SEALED: AuthLevel = AuthLevel::PKT_PRIVACY;

fn rule(text: &str) -> Vec<Rule> {
    vec![text.parse().unwrap()]
}

fn processors(counter: CounterId, instance: &str) -> CounterIdentifier {
    CounterIdentifier {
        counter_id: counter,
        instance_name: Some(instance.to_owned()),
        ..CounterIdentifier::all_instances(PROCESSOR_INFORMATION)
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_finds_a_counterset_and_polls_it_until_it_closes_the_query() {
    let host = host();
    let mut client = Rpc::connect(&host, &credentials(), SEALED).await.unwrap().perflib();
    let sets = client.enumerate_counter_set().await.unwrap();
    assert_eq!(sets[0], PROCESSOR_INFORMATION);
    assert_eq!(client.english_counter_set_name(sets[0]).await.unwrap(), "Processor Information");
    let german = client.counter_names(sets[0], Lcid(0x407)).await.unwrap();
    assert_eq!(german.text(CounterId(0)), Some("Prozessorzeit (%)"));
    let registration = client.counter_set_registration(sets[0]).await.unwrap();
    assert_eq!(registration.counters.len(), 31);
    let instances = client.enumerate_counter_set_instances(sets[0]).await.unwrap();
    assert_eq!(instances.last().unwrap().name, "_Total");

    let mut query = client.open_query_handle().await.unwrap();
    let wanted = [processors(CounterId::ALL, "*"), processors(CounterId(0), "9,9")];
    let added = client.validate_counters(&query, &wanted, Change::Add).await.unwrap();
    assert!(added.iter().all(|identifier| identifier.status.is_success()));
    let data = client.query_counter_data(&mut query).await.unwrap();
    let blocks: Vec<_> = data.data().blocks().map(Result::unwrap).collect();
    assert!(matches!(blocks[0].body, Body::CounterSet { .. }));
    assert_eq!(blocks[0].instances().count(), 6);
    assert_eq!(blocks[1].status, Win32Error::ERROR_NO_DATA);
    let handle = query.handle();
    client.close_query_handle(query).await.unwrap();
    assert!(!handle.is_null());
    let calls = |opnum| host.counts().calls(pcq::NAME, opnum);
    assert_eq!((calls(3), calls(4), calls(7)), (1, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_signed_and_not_sealed_call_is_denied() {
    let mut client = Rpc::connect(&host(), &credentials(), AuthLevel::PKT_INTEGRITY).await.unwrap().perflib();
    let error = client.enumerate_counter_set().await.unwrap_err().to_string();
    assert!(error.contains("ERROR_ACCESS_DENIED"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_account_outside_of_performance_monitor_users_is_denied() {
    let host = host();
    host.accounts().change(|accounts| accounts[0].may_read_counters = false);
    let mut client = Rpc::connect(&host, &credentials(), SEALED).await.unwrap().perflib();
    let error = client.open_query_handle().await.unwrap_err().to_string();
    assert!(error.contains("ERROR_ACCESS_DENIED"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_wrong_password_is_counted_and_locks_the_account() {
    let host = host();
    host.accounts().change(|accounts| accounts[0].lock_after = Some(2));
    let wrong = Credentials::new("CORP", "svc-metrics", Secret::new("wrong"));
    let first = Smb::connect(&host).log_on(&wrong).await;
    assert_eq!(first, Err(Failure::Status(NtStatus::STATUS_LOGON_FAILURE)));
    let second = Smb::connect(&host).log_on(&wrong).await;
    assert_eq!(second, Err(Failure::Status(NtStatus::STATUS_ACCOUNT_LOCKED_OUT)));
    let right = Smb::connect(&host).log_on(&credentials()).await;
    assert_eq!(right, Err(Failure::Status(NtStatus::STATUS_ACCOUNT_LOCKED_OUT)));
    assert_eq!(host.accounts().refused(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_state_of_an_account_is_told_to_who_knows_its_password() {
    let host = host();
    for (state, status) in [
        (AccountState::Disabled, NtStatus::STATUS_ACCOUNT_DISABLED),
        (AccountState::Expired, NtStatus::STATUS_ACCOUNT_EXPIRED),
        (AccountState::PasswordExpired, NtStatus::STATUS_PASSWORD_EXPIRED),
        (AccountState::Restricted, NtStatus::STATUS_LOGON_TYPE_NOT_GRANTED),
    ] {
        host.accounts().change(|accounts| accounts[0].state = state);
        assert_eq!(Smb::connect(&host).log_on(&credentials()).await, Err(Failure::Status(status)));
        let stranger = Credentials::new("CORP", "svc-metrics", Secret::new("guessed"));
        let refused = Smb::connect(&host).log_on(&stranger).await;
        assert_eq!(refused, Err(Failure::Status(NtStatus::STATUS_LOGON_FAILURE)));
    }
}

#[tokio::test(start_paused = true)]
async fn the_pipe_is_refused_as_often_as_it_is_said_and_other_pipes_are_not_there() {
    let host = host();
    host.change_behaviour(|behaviour| behaviour.refused_opens = 2);
    let mut smb = Smb::connect(&host);
    smb.log_on(&credentials()).await.unwrap();
    for _ in 0..2 {
        let refused = smb.open("winreg").await;
        assert_eq!(refused.err(), Some(Failure::Status(NtStatus::STATUS_PIPE_NOT_AVAILABLE)));
    }
    smb.open("WinReg").await.unwrap();
    let missing = smb.open("spoolss").await;
    assert_eq!(missing.err(), Some(Failure::Status(NtStatus::STATUS_OBJECT_NAME_NOT_FOUND)));
}

#[tokio::test(start_paused = true)]
async fn an_idle_service_stops_by_the_hosts_clock_and_refuses_who_comes_while_it_starts() {
    let clock = Clock::manual(NOON);
    let host = host_of(Arc::new(model(&clock)));
    host.change_behaviour(|behaviour| {
        behaviour.idle_stop = Some(Duration::from_secs(600));
        behaviour.refused_after_stop = 1;
    });
    let mut client = Rpc::connect(&host, &credentials(), SEALED).await.unwrap().perflib();
    client.enumerate_counter_set().await.unwrap();
    clock.advance(Duration::from_secs(599));
    client.enumerate_counter_set().await.unwrap();
    clock.advance(Duration::from_secs(600));
    let error = client.enumerate_counter_set().await.unwrap_err().to_string();
    assert!(error.contains("STATUS_PIPE"), "{error}");
    let refused = Rpc::connect(&host, &credentials(), SEALED).await.err();
    assert_eq!(refused, Some(Failure::Status(NtStatus::STATUS_PIPE_NOT_AVAILABLE)));
    let mut again = Rpc::connect(&host, &credentials(), SEALED).await.unwrap().perflib();
    again.enumerate_counter_set().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_session_expires_and_goes_on_after_another_logon() {
    let host = host();
    let mut client = Rpc::connect(&host, &credentials(), SEALED).await.unwrap().perflib();
    host.change_behaviour(|behaviour| behaviour.session_expires_after = Some(1));
    client.enumerate_counter_set().await.unwrap();
    host.change_behaviour(|behaviour| behaviour.session_expires_after = None);
    let error = client.open_query_handle().await.unwrap_err().to_string();
    assert!(error.contains("session expired"), "{error}");
    client.channel().smb.log_on(&credentials()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_host_that_demands_encryption_refuses_who_cannot() {
    let host = host();
    host.change_behaviour(|behaviour| behaviour.encryption = Encryption::Required);
    Rpc::connect(&host, &credentials(), SEALED).await.unwrap();
    let mut config = ClientConfig::new(Guid::from_u128(1), [7; 32]);
    config.encryption = ClientEncryption::Disabled;
    assert!(Smb::connect_with(&host, config).log_on(&credentials()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_host_of_smb_2_1_cannot_encrypt_and_one_of_smb1_has_no_dialect() {
    let host = host();
    host.change_behaviour(|behaviour| behaviour.dialects = vec![Dialect::Smb2_1]);
    Rpc::connect(&host, &credentials(), SEALED).await.unwrap();
    let mut config = ClientConfig::new(Guid::from_u128(1), [7; 32]);
    config.encryption = ClientEncryption::Required;
    let refused = Smb::connect_with(&host, config).log_on(&credentials()).await;
    assert!(matches!(refused, Err(Failure::Smb(_))), "{refused:?}");
    host.change_behaviour(|behaviour| behaviour.dialects = Vec::new());
    let refused = Smb::connect(&host).log_on(&credentials()).await;
    assert!(matches!(refused, Err(Failure::Smb(_))), "{refused:?}");
}

/// What the first QueryCounterData ends in under a rule.
async fn poll_under(text: &str) -> String {
    let host = host();
    let mut client = Rpc::connect(&host, &credentials(), SEALED).await.unwrap().perflib();
    let mut query = client.open_query_handle().await.unwrap();
    client.validate_counters(&query, &[processors(CounterId::ALL, "*")], Change::Add).await.unwrap();
    host.change_behaviour(|behaviour| behaviour.rules = rule(text));
    match client.query_counter_data(&mut query).await {
        Ok(data) => match data.data().blocks().find_map(Result::err) {
            Some(error) => error.to_string(),
            None => "good data".to_owned(),
        },
        Err(error) => error.to_string(),
    }
}

#[tokio::test(start_paused = true)]
async fn each_rule_does_to_a_poll_what_it_says() {
    for (rule, expected) in [
        ("5=drop", "good data"),
        ("6=fault:0x1c010013", &FaultStatus::NCA_S_OUT_ARGS_TOO_BIG.to_string()),
        ("6=lose-handles", "does not know the context handle"),
        ("6=status:1450", "ERROR_NO_SYSTEM_RESOURCES"),
        // The client asks again with more room, and gives up on what never ends.
        ("6x1=grow:50", "good data"),
        ("6=delay:30s", "good data"),
        ("6=delay:2m", "no answer"),
        ("6=drop", "connection ended"),
        ("6=stall", "no answer"),
        ("6=garbage", "RPC: "),
        ("6=truncate", "STATUS_PIPE"),
        ("6=corrupt:total-size", "dwTotalSize"),
        ("6=corrupt:block-size", "dwSize"),
        ("6=corrupt:instance-count", "PERF_INSTANCE_HEADER"),
        ("6=corrupt:out-size", "PerflibV2QueryCounterData"),
    ] {
        let outcome = poll_under(rule).await;
        assert!(outcome.contains(expected), "{rule}: {outcome}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_offset_of_a_name_can_lie_too() {
    let host = host();
    let mut client = Rpc::connect(&host, &credentials(), SEALED).await.unwrap().perflib();
    host.change_behaviour(|behaviour| behaviour.rules = rule("1=corrupt:string-offset"));
    let error = client.english_counter_names(PROCESSOR_INFORMATION).await.unwrap_err().to_string();
    assert!(error.contains("dwOffset"), "{error}");
}

/// What comes back for a client's first message before the connection ends.
async fn answer_to_a_negotiation(address: std::net::SocketAddr) -> Vec<u8> {
    let mut client = ClientConnection::new(ClientConfig::new(Guid::from_u128(1), [7; 32])).unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(&client.poll_transmit().unwrap()).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn a_black_hole_takes_what_others_answer() {
    let (healthy, dark) = (listener().await, listener().await);
    let addresses = [healthy.local_addr().unwrap(), dark.local_addr().unwrap()];
    tokio::spawn(server::listen_smb(host(), healthy, server::Limits::default()));
    tokio::spawn(server::listen_black_hole(host(), dark, server::Limits::default()));
    assert_ne!(answer_to_a_negotiation(addresses[0]).await, []);
    assert_eq!(answer_to_a_negotiation(addresses[1]).await, []);
}

async fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.unwrap()
}

/// C706 12.6.4.3: context handles belong to the group.
#[tokio::test(start_paused = true)]
async fn a_query_can_be_used_by_the_associations_of_its_group_and_no_others() {
    let host = host();
    let first = Rpc::connect(&host, &credentials(), SEALED).await.unwrap();
    let group = first.assoc_group_id();
    let mut first = first.perflib();
    let mut query = first.open_query_handle().await.unwrap();

    let second = Rpc::connect_in_group(&host, &credentials(), SEALED, group).await.unwrap();
    assert_eq!(second.assoc_group_id(), group);
    let mut second = second.perflib();
    second.query_counter_data(&mut query).await.unwrap();

    let other = Rpc::connect(&host, &credentials(), SEALED).await.unwrap();
    assert_ne!(other.assoc_group_id(), group);
    let error = other.perflib().query_counter_data(&mut query).await.unwrap_err();
    assert!(error.to_string().contains("context"), "{error}");

    drop((first, second));
    tokio::task::yield_now().await;
    let gone = Rpc::connect_in_group(&host, &credentials(), SEALED, group).await.err();
    assert_eq!(gone, Some(Failure::Rpc("bind refused: REASON_NOT_SPECIFIED".to_owned())));
}
