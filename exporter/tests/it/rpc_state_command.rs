//! The command `rpc-state`, over files of processes of this machine.

use std::path::Path;
use std::process::Output;

use expect_test::expect;
use rpc_cells::{
    CallOrigin, CallStatus, CallTarget, Capacity, ClientCall, Connection, Endpoint, EndpointStatus,
    Interface, Level, Name, Operation, ProtocolSequence, RunDirectory, SectionFileOptions, ServerCall,
    SigbusGuard, Thread, ThreadStatus, Writer,
};
use serde_json::Value;

use crate::command_plugin::told;
use crate::program::{Folder, exporter};

const INTERFACE_START: u32 = 0xb600_40e0;

/// A file of this process with this name.
fn writer(directory: &Path, name: &str) -> Writer {
    let options = SectionFileOptions {
        name,
        level: Level::FULL,
        capacity: Capacity { cells_per_section: 64, sections_max: 1 },
        now_ms: 1,
    };
    let directory = RunDirectory::open(directory).unwrap();
    Writer::over(directory.create(SigbusGuard::install().unwrap(), &options).unwrap()).unwrap()
}

/// A client call of the plugin `comt` that a server of this machine executes. What it returns keeps the cells.
fn waiting_call(directory: &Path) -> impl Sized + use<> {
    let client = writer(directory, "comt");
    let interface = client.interface(Interface {
        uuid: "b60040e0-bcf3-11d1-861d-0080c729264d".parse().unwrap(),
        name: Name::new("IGetTrackingData"),
        ..Interface::default()
    });
    let operation = client.operation(Operation {
        opnum: 4,
        interface: interface.id(),
        name: Name::new("GetContainerData"),
    });
    let call = ClientCall {
        opnum: 4,
        interface_start: INTERFACE_START,
        endpoint: Name::new("49152"),
        call_id: 3,
        operation: operation.id(),
        ..ClientCall::default()
    };
    let tcp = ProtocolSequence::TCP;
    let target = CallTarget {
        protocol_sequence: tcp,
        last_update_ms: 0x77,
        server: Name::new("127.0.0.1"),
        ..CallTarget::default()
    };
    let call = client.client_call(CallOrigin::Client, call, target);

    let server = writer(directory, "server");
    let status = EndpointStatus::ACTIVE;
    let endpoint = server.endpoint(Endpoint { protocol_sequence: tcp, status, name: Name::new("49152") });
    let thread = server.thread(Thread { status: ThreadStatus::DISPATCHED, tid: 42, last_update_ms: 0x78 });
    let connection = server.connection(Connection { endpoint: endpoint.id(), ..Connection::default() });
    let served = server.server_call(ServerCall {
        status: CallStatus::DISPATCHED,
        opnum: 4,
        interface_start: INTERFACE_START,
        servicing_thread: thread.id(),
        call_id: 3,
        connection: connection.id(),
        last_update_ms: 0x78,
        ..ServerCall::default()
    });
    (client, interface, operation, call, server, endpoint, thread, connection, served)
}

fn run(folder: &Folder, words: &[&str]) -> Output {
    exporter()
        .current_dir(folder.path(""))
        .args(["rpc-state", "--directory", "state"])
        .args(words)
        .output()
        .unwrap()
}

/// What is printed, with the number of this process as PID.
fn printed(folder: &Folder, words: &[&str]) -> String {
    let (code, out, err) = told(&run(folder, words));
    assert_eq!((code, err.as_str()), (0, ""), "{words:?}");
    let pid = std::process::id();
    out.replace(&format!("{pid:04x} 0"), "PID  0").replace(&format!("process {pid}"), "process PID")
}

#[test]
fn tables_are_those_of_dbgrpc_with_the_names_of_methods() {
    let folder = Folder::new();
    let _kept = waiting_call(&folder.path("state"));
    expect![[r#"
        Searching for call info ...
        PID  CELL ID   PNO  IFSTART  TIDNUMBER CALLID   LASTTIME PS CLTNUMBER ENDPOINT
        ------------------------------------------------------------------------------
        PID  0000.0003 0004 b60040e0 0000.0000 00000003 00000077 07 0000.0004 49152 IGetTrackingData.GetContainerData
    "#]]
    .assert_eq(&printed(&folder, &["-a"]));
    expect![[r#"
        Searching for endpoint info ...
        PID  CELL ID   ST PROTSEQ        ENDPOINT
        -------------------------------------------------------
        PID  0000.0001 01            TCP 49152
    "#]]
    .assert_eq(&printed(&folder, &["-e"]));
    let pid = std::process::id().to_string();
    let threads = printed(&folder, &["-t", "-P", &pid, "-T", "0x2a"]);
    assert!(threads.ends_with("PID  0000.0002 01 0000002a 00000078\n"), "{threads}");
    let calls = printed(&folder, &["-c", "-I", "0xb60040e0", "-N", "4", "-C", "3"]);
    assert!(calls.contains("0000.0004 02 004 b60040e0 0000.0002"), "{calls}");
    assert!(!printed(&folder, &["-c", "-C", "4"]).contains("0000.0004"));
    let cell = printed(&folder, &["-l", "-P", &pid, "-L", "0.3"]);
    assert!(cell.contains("comt: Getting cell info ...\nClient call information\n"), "{cell}");
    assert!(cell.contains("server: Getting cell info ...\nConnection\n"), "each file has a cell 0.3: {cell}");
}

#[test]
fn a_call_is_followed_to_the_thread_that_executes_it() {
    let folder = Folder::new();
    let _kept = waiting_call(&folder.path("state"));
    expect![[r#"
        process PID (comt) makes call 3 IGetTrackingData.GetContainerData, cell 0000.0003, of 127.0.0.1 at 49152
          → process PID (server), endpoint 49152, call 3 is DISPATCHED, cell 0000.0004, on thread 42 (DISPATCHED)
          it is executed there
    "#]]
    .assert_eq(&printed(&folder, &["--trace"]));
    let (_, out, _) = told(&run(&folder, &["--trace", "--format", "json"]));
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json[0]["client_call"]["method"], "GetContainerData");
    assert_eq!(json[0]["hops"][0]["server_call"]["cell"], "0000.0004");
    assert_eq!(json[0]["end"], "executing");
    let none = printed(&folder, &["--trace", "-C", "9"]);
    assert_eq!(none, "no client call is in progress\n");
}

#[test]
fn what_cannot_be_read_is_told_and_costs_nothing_else() {
    let folder = Folder::new();
    let _kept = waiting_call(&folder.path("state"));
    folder.write("state/1-2-0000000000000003-0.cells", "rpccells");
    std::os::unix::fs::symlink("/dev/zero", folder.path("state/zero.cells")).unwrap();
    let (code, out, err) = told(&run(&folder, &["-a"]));
    assert_eq!(code, 0);
    assert!(out.contains("GetContainerData"), "{out}");
    assert!(err.contains("1-2-0000000000000003-0.cells: ") && err.contains("zero.cells: "), "{err}");
}

#[test]
fn mistakes_say_what_to_do() {
    let folder = Folder::new();
    let (code, _, err) = told(&run(&folder, &["-a"]));
    assert!(code == 1 && err.contains("state"), "{err}");
    std::fs::create_dir(folder.path("state")).unwrap();
    let (code, out, err) = told(&run(&folder, &["-a", "--format", "json"]));
    assert_eq!((code, out.as_str()), (0, "[]\n"));
    assert!(err.contains("`rpc_state.level`"), "{err}");
    for (words, hint) in [
        (&["-a", "-c"][..], "cannot be used with"),
        (&["-l", "-P", "1"], "--cell-id"),
        (&["-t"], "--pid"),
        (&["-a", "-P", "b6"], "hexadecimal one after 0x"),
        (&[], "--client-calls"),
    ] {
        let (code, _, err) = told(&run(&folder, words));
        assert!(code == 2 && err.contains(hint), "{words:?}: {err}");
    }
}
