//! Several READs of one pipe in flight.

use ms_smb2::client::{ClientConfig, ClientLimits, Encryption, Event, Reply};
use windows_sim::smb::{ServerConfig, ServerLimits};
use wire::NtStatus;

use super::pair::{Pair, client_config, server_config};

fn data(bytes: &[u8], more: bool) -> Result<Reply, NtStatus> {
    Ok(Reply::Read { data: bytes.to_vec(), more })
}

#[test]
fn reads_of_one_pipe_are_answered_in_the_order_in_which_they_were_sent() {
    for encryption in [Encryption::Disabled, Encryption::Required] {
        let mut pair = Pair::new(ClientConfig { encryption, ..client_config() }, server_config());
        let file = pair.pipe().unwrap();
        let requests = [4096, 3, 4096, 4096].map(|bytes_max| pair.client.read(file, bytes_max).unwrap());
        pair.drive().unwrap();
        for request in requests {
            assert_eq!(pair.event(), Event::Pending { request });
        }
        for message in [&b"one"[..], b"two and more", b"three"] {
            pair.server.pipe_output(pair.files[0], message.to_vec()).unwrap();
        }
        pair.drive().unwrap();
        // A message that is longer than its READ goes on in the next one.
        let expected =
            [data(b"one", false), data(b"two", true), data(b" and more", false), data(b"three", false)];
        for (request, result) in requests.into_iter().zip(expected) {
            assert_eq!(pair.event(), Event::Completed { request, result });
        }
    }
}

#[test]
fn one_of_several_reads_is_cancelled_by_its_async_id_and_the_others_stay() {
    let mut pair = Pair::new(client_config(), server_config());
    let file = pair.pipe().unwrap();
    let [first, second, third] = [(); 3].map(|()| pair.client.read(file, 4096).unwrap());
    pair.drive().unwrap();
    pair.events.clear();
    pair.client.cancel(second).unwrap();
    pair.drive().unwrap();
    let result = Err(NtStatus::STATUS_CANCELLED);
    assert_eq!(pair.event(), Event::Completed { request: second, result });
    for message in [b"a", b"b"] {
        pair.server.pipe_output(pair.files[0], message.to_vec()).unwrap();
    }
    pair.drive().unwrap();
    assert_eq!(pair.event(), Event::Completed { request: first, result: data(b"a", false) });
    assert_eq!(pair.event(), Event::Completed { request: third, result: data(b"b", false) });
}

#[test]
fn a_read_whose_cancel_is_ignored_gets_the_next_message() {
    let mut pair = Pair::new(client_config(), ServerConfig { ignores_cancel: true, ..server_config() });
    let file = pair.pipe().unwrap();
    let request = pair.client.read(file, 4096).unwrap();
    pair.drive().unwrap();
    pair.events.clear();
    pair.client.cancel(request).unwrap();
    pair.drive().unwrap();
    assert_eq!(pair.events, []);
    pair.server.pipe_output(pair.files[0], b"late".to_vec()).unwrap();
    pair.drive().unwrap();
    assert_eq!(pair.event(), Event::Completed { request, result: data(b"late", false) });
}

#[test]
fn spare_requests_leave_a_credit_and_stay_within_the_limit() {
    let limits = ServerLimits { credits_max: 4, ..ServerLimits::default() };
    let mut pair = Pair::new(client_config(), ServerConfig { limits, ..server_config() });
    assert_eq!(pair.client.spare_requests(), 0, "the negotiation has the only credit");
    let file = pair.pipe().unwrap();
    assert_eq!(pair.client.spare_requests(), 3);
    for left in [2, 1, 0, 0, 0] {
        pair.client.read(file, 4096).unwrap();
        assert_eq!(pair.client.spare_requests(), left);
    }
    let limits = ClientLimits { requests_max: 3, ..ClientLimits::default() };
    let mut pair = Pair::new(ClientConfig { limits, ..client_config() }, server_config());
    pair.pipe().unwrap();
    assert_eq!(pair.client.spare_requests(), 2);
}
