//! The page of RPC calls, and what a collection in flight waits for.

use std::time::Duration;

use rpc_cells::{
    CallOrigin, CallStatus, CallTarget, Capacity, CellHandle, ClientCall, ClientCallHandle, Connection,
    Endpoint, EndpointStatus, Interface, Level, Name, Operation, ProtocolSequence, RunDirectory,
    SectionFileOptions, ServerCall, SigbusGuard, Thread, ThreadStatus, Writer, boot_ms,
};
use tempfile::TempDir;

use super::*;
use crate::rpc_state::NotKept;

const SHOULD_WORK: &str = "the test has a directory of its own";

/// A run directory with files of this process.
struct Kept {
    folder: TempDir,
}

impl Kept {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect(SHOULD_WORK) }
    }

    fn keeping(&self, has_client_calls: bool) -> Keeping {
        Keeping::Kept { directory: self.folder.path().join("state"), has_client_calls }
    }

    fn writer(&self, owner: &str) -> Writer {
        let options = SectionFileOptions {
            name: owner,
            level: Level::FULL,
            capacity: Capacity { cells_per_section: 512, sections_max: 1 },
            now_ms: boot_ms(),
        };
        let directory = RunDirectory::open(&self.folder.path().join("state")).expect(SHOULD_WORK);
        let file = directory.create(SigbusGuard::install().expect(SHOULD_WORK), &options).expect(SHOULD_WORK);
        Writer::over(file).expect(SHOULD_WORK)
    }
}

/// A call of a server, at an endpoint of TCP, that was made so long ago.
fn call_to(writer: &Writer, server: &str, call_id: u32, ago: Duration) -> ClientCallHandle {
    let ago_ms = u64::try_from(ago.as_millis()).expect("it is short");
    let endpoint = Name::new("49152");
    let target = CallTarget {
        protocol_sequence: ProtocolSequence::TCP,
        last_update_ms: boot_ms().saturating_sub(ago_ms),
        server: Name::new(server),
        endpoint,
    };
    let call =
        ClientCall { opnum: 4, interface_start: 0xb600_40e0, call_id, endpoint, ..ClientCall::default() };
    writer.client_call(CallOrigin::Client, call, target)
}

/// A method with these names. What it returns keeps them.
fn method(writer: &Writer, interface: &str, method: &str) -> (CellHandle<Operation>, CellHandle<Interface>) {
    let interface = writer.interface(Interface { name: Name::new(interface), ..Interface::default() });
    let operation = Operation { opnum: 4, interface: interface.id(), name: Name::new(method) };
    (writer.operation(operation), interface)
}

/// `text` without its tags.
fn read(text: &str) -> String {
    let mut parts = text.split('<');
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.filter_map(|part| part.split_once('>').map(|(_, text)| text));
    let all: String = std::iter::once(first.as_str()).chain(rest).collect();
    all.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn the_oldest_call_comes_first_and_is_what_is_said() {
    let kept = Kept::new();
    let fleet = Fleet::keeping(&["web1"], kept.keeping(true));
    let writer = kept.writer("comt");
    let (operation, _interface) = method(&writer, "IGetTrackingData", "GetContainerData");
    let young = call_to(&writer, "young.example", 1, Duration::ZERO);
    let target = CallTarget {
        protocol_sequence: ProtocolSequence::TCP,
        last_update_ms: boot_ms().saturating_sub(90_000).max(1),
        server: Name::new("old.example"),
        endpoint: Name::new("49152"),
    };
    let call = ClientCall { operation: operation.id(), call_id: 2, ..ClientCall::default() };
    let old = writer.client_call(CallOrigin::Client, call, target);
    let body = fleet.page("/rpc-state").await;
    let at = |text: &str| body.rfind(text).unwrap_or_else(|| panic!("no {text} in {body}"));
    assert!(at("<bdi>old.example") < at("<bdi>young.example"));
    assert!(at("operation 4 of interface b60040e0") > at("<bdi>GetContainerData</bdi>"));
    let text = read(&body);
    assert!(text.contains("2 Calls in flight"), "{text}");
    assert!(text.contains(" for IGetTrackingData.GetContainerData of old.example at"), "{text}");
    // Filters are those of the command.
    let one = fleet.page("/rpc-state?call_id=1").await;
    assert!(one.contains("<bdi>young.example") && one.matches("<bdi>old.example").count() == 0, "{one}");
    let none = fleet.page("/rpc-state?operation=77").await;
    assert!(none.contains("No call in flight matches."), "{none}");
    let bad = fleet.page("/rpc-state?pid=%3Cb%3E").await;
    assert!(bad.contains("pid `&lt;b&gt;` is ignored"), "{bad}");
    drop((young, old));
    let body = fleet.page("/rpc-state").await;
    assert!(body.contains("No call is in flight."), "{body}");
}

#[tokio::test]
async fn a_call_within_the_machine_is_followed_and_servers_have_their_tables() {
    let kept = Kept::new();
    let fleet = Fleet::keeping(&[], kept.keeping(true));
    let (client, server) = (kept.writer("comt"), kept.writer("server"));
    let _call = call_to(&client, "127.0.0.1", 3, Duration::ZERO);
    let (protocol_sequence, status) = (ProtocolSequence::TCP, EndpointStatus::ACTIVE);
    let endpoint = server.endpoint(Endpoint { protocol_sequence, status, name: Name::new("49152") });
    let last_update_ms = boot_ms();
    let thread = server.thread(Thread { status: ThreadStatus::DISPATCHED, tid: 42, last_update_ms });
    let peer = Some([192, 0, 2, 7].into());
    let connection = server.connection(Connection { endpoint: endpoint.id(), peer, ..Connection::default() });
    let served = ServerCall {
        status: CallStatus::DISPATCHED,
        opnum: 4,
        interface_start: 0xb600_40e0,
        servicing_thread: thread.id(),
        call_id: 3,
        connection: connection.id(),
        last_update_ms,
        ..ServerCall::default()
    };
    let served = server.server_call(served);
    let body = fleet.page("/rpc-state").await;
    let text = read(&body);
    assert!(text.contains("endpoint 49152, call 3 is DISPATCHED, cell 0000.0004, on thread 42"), "{text}");
    assert!(text.contains("it is executed there"), "{text}");
    assert!(text.contains("192.0.2.7") && text.contains("1 Threads dispatched"), "{text}");
    // Cells lead to all that they have.
    let pid = std::process::id();
    let link = format!("rpc-state/cell?pid={pid}&amp;cell={}&amp;owner=server", served.id());
    assert!(body.contains(&link), "{body}");
    let cell = fleet.page(&format!("/{}", link.replace("&amp;", "&"))).await;
    assert!(cell.contains("Status: Dispatched\n") && cell.contains("Call ID: 0x3 (3)\n"), "{cell}");
    for gone in [format!("pid={pid}&cell=0.1ff"), "pid=x&cell=0.1".to_owned(), String::new()] {
        let (status, body) = fleet.get(&format!("/rpc-state/cell?{gone}")).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{gone}");
        assert!(body.contains("Nothing is there."), "{body}");
    }
}

#[tokio::test]
async fn what_other_processes_wrote_is_text() {
    let kept = Kept::new();
    let fleet = Fleet::keeping(&["web1"], kept.keeping(true));
    let nasty = "<i>\u{1b}[2J\n\u{202e}";
    let writer = kept.writer(nasty);
    let (operation, _interface) = method(&writer, nasty, nasty);
    let name = Name::new(nasty);
    let endpoint = writer.endpoint(Endpoint { name: Name::new(nasty), ..Endpoint::default() });
    let target = CallTarget { server: Name::new(nasty), endpoint: name, ..CallTarget::default() };
    let call = ClientCall { operation: operation.id(), endpoint: name, ..ClientCall::default() };
    let call = writer.client_call(CallOrigin::Client, call, target);
    let _connection = writer.connection(Connection { target: call.target().id(), ..Connection::default() });
    let pid = std::process::id();
    let cell = |id| format!("/rpc-state/cell?pid={pid}&cell={id}");
    for page in ["/rpc-state".to_owned(), cell(call.call().id()), cell(endpoint.id()), cell(operation.id())] {
        let body = fleet.page(&page).await;
        assert!(body.contains("&lt;i&gt;") && !body.contains("<i>"), "{page}\n{body}");
        assert!(!body.contains(['\u{1b}', '\u{202e}']), "{page}\n{body}");
    }
    let json = fleet.page("/rpc-state?format=json").await;
    assert!(!json.contains('\u{1b}'), "{json}");
}

#[tokio::test]
async fn tables_have_an_end() {
    let kept = Kept::new();
    let fleet = Fleet::keeping(&[], kept.keeping(true));
    let writer = kept.writer("comt");
    let _calls: Vec<_> = (0..130).map(|id| call_to(&writer, "web1", id, Duration::ZERO)).collect();
    let body = fleet.page("/rpc-state").await;
    assert!(body.contains("and 30 more") && read(&body).contains("130 Calls in flight"), "{body}");
    assert_eq!(body.matches("data-label=\"Waits\"").count(), 100);
    let json: serde_json::Value =
        serde_json::from_str(&fleet.page("/rpc-state?format=json").await).expect("JSON");
    assert_eq!(json["client_calls"].as_array().map(Vec::len), Some(130));
    assert_eq!(
        (&json["client_calls"][7]["call_id"], &json["processes"][0]["is_running"]),
        (&7.into(), &true.into())
    );
    assert_eq!(json["traces"][0]["end"]["other_machine"]["server"], "web1");
    assert_eq!(fleet.get("/rpc-state?format=json&pid=x").await.0, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn without_a_state_it_says_what_to_do() {
    for (keeping, said) in [
        (Keeping::Not(NotKept::ByLevel), "`rpc_state.level` is `none`"),
        (Keeping::Not(NotKept::NoDirectory), "there is no directory for it"),
        (Keeping::Not(NotKept::Refused("it is <b>".to_owned())), "it is &lt;b&gt;"),
    ] {
        let fleet = Fleet::keeping(&["web1"], keeping);
        fleet.site.target_registry.targets()[0].started(0, Duration::from_secs(30));
        for page in ["/rpc-state", "/targets/web1"] {
            let body = fleet.page(page).await;
            assert!(
                body.contains(said)
                    && body.contains("rpc_state.")
                    && body.contains("start the exporter again"),
                "{page}\n{body}"
            );
        }
        assert_eq!(fleet.get("/rpc-state?format=json").await.0, StatusCode::NOT_FOUND);
    }
    // The directory is gone.
    let kept = Kept::new();
    let body = Fleet::keeping(&[], kept.keeping(true)).page("/rpc-state").await;
    assert!(body.contains("open run directory") && body.contains("No such file"), "{body}");
    let fleet = Fleet::keeping(&["web1"], kept.keeping(false));
    let _writer = kept.writer("comt");
    fleet.site.target_registry.targets()[0].started(0, Duration::from_secs(30));
    for page in ["/rpc-state", "/targets/web1"] {
        let text = read(&fleet.page(page).await);
        assert!(
            text.contains("Calls to hosts are not kept") && text.contains("rpc_state.level: full"),
            "{text}"
        );
    }
}

#[tokio::test]
async fn a_target_shows_what_its_collection_waits_for() {
    let kept = Kept::new();
    let fleet = Fleet::keeping(&["web1"], kept.keeping(true));
    let writer = kept.writer("comt");
    let _other = call_to(&writer, "h2", 8, Duration::ZERO);
    let quiet = read(&fleet.page("/targets/web1").await);
    assert!(!quiet.contains("What the collection waits for"), "{quiet}");
    fleet.site.target_registry.targets()[0].started(0, Duration::from_secs(30));
    let text = read(&fleet.page("/targets/web1").await);
    assert!(text.contains("of at most 30 s") && text.contains("No RPC call to h is in flight"), "{text}");
    let _call = call_to(&writer, "H", 9, Duration::from_secs(2));
    let text = read(&fleet.page("/targets/web1").await);
    assert!(text.contains("operation 4 of interface b60040e0… at 49152 (TCP)of comt, call 9"), "{text}");
    assert!(!text.contains("call 8") && !text.contains("Another target"), "{text}");
    // The targets of a fleet are on one host.
    let fleet = Fleet::keeping(&["web1", "web2"], kept.keeping(true));
    fleet.site.target_registry.targets()[0].started(0, Duration::from_secs(30));
    let text = read(&fleet.page("/targets/web1").await);
    assert!(text.contains("Another target is on the same host"), "{text}");
}
