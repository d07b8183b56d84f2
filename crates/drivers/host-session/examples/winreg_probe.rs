//! Tests our client with a third-party remote registry: SMB, logon, sealed calls, answers of many fragments.
//!
//! ```text
//! winreg_probe --server 127.0.0.1:445 --user 'DOMAIN\user' --password-file FILE
//! winreg_probe --server host:445 --ccache FILE:/tmp/cache
//!              [--encryption required] [--mechanism ntlm] [--calls 1000] [--pcap FILE] [--json]
//! ```
//!
//! Requests the registry's version a given number of times, one call after the other on one connection, and all
//! performance data once, which it decodes. The three methods of [MS-RRP] that it needs are written here by hand.

mod logon;

use std::error::Error;
use std::fs::File;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use counters::perflib_v1::{CounterBlock, DataBlock, Instances, NameTable, ObjectType};
use dcerpc::client::ClientConfig;
use dcerpc::{Channel, SyntaxId};
use host_session::rpc_client::{Association, NamedPipe, Security, SmbConnection, SmbOptions};
use ms_smb2::client::Encryption;
use rpc::ndr::{ContextHandle, Reader, Writer};
use ssp::Mechanism;
use tokio::sync::Mutex;
use tokio::time::Instant;
use transport::{BoxStream, Connector, Counted, Endpoint, PcapFile, TcpConnector};
use wire::Guid;

use self::logon::Logon;

/// Speaks to the remote registry of an SMB server.
#[derive(Parser)]
struct Arguments {
    /// Where the SMB server listens, as host:port.
    #[arg(long)]
    server: Endpoint,
    #[command(flatten)]
    logon: Logon,
    /// SMB encryption.
    #[arg(long, value_enum, default_value_t = EncryptionArgument::Preferred)]
    encryption: EncryptionArgument,
    /// How RPC authenticates; SMB always uses SPNEGO.
    #[arg(long, value_enum, default_value_t = MechanismArgument::Spnego)]
    mechanism: MechanismArgument,
    /// How often to ask for the version, after a first time; 0 does not ask at all.
    #[arg(long, default_value_t = 1)]
    calls: u64,
    /// Room for the performance data; 0 does not ask for them.
    #[arg(long, default_value_t = 1 << 20)]
    performance_bytes_max: u32,
    /// Bytes that are sent with the question for performance data, so that the question has many fragments.
    #[arg(long, default_value_t = 20_000)]
    request_bytes: u32,
    /// The longest fragment that is offered.
    #[arg(long, default_value_t = 5840)]
    fragment_bytes_max: u16,
    /// Seconds that everything together may take.
    #[arg(long, default_value_t = 60)]
    deadline_s: u64,
    /// Copies the traffic into a capture.
    #[arg(long)]
    pcap: Option<PathBuf>,
    /// Prints the outcome as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum EncryptionArgument {
    Disabled,
    Preferred,
    Required,
}

#[derive(Clone, Copy, ValueEnum)]
enum MechanismArgument {
    Ntlm,
    Spnego,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match probe(&arguments).await {
        Ok(outcome) if arguments.json => println!("{outcome}"),
        Ok(outcome) => println!("{outcome:#}"),
        Err(error) => {
            let mut causes = vec![error.to_string()];
            let mut cause = error.source();
            while let Some(error) = cause {
                causes.push(error.to_string());
                cause = error.source();
            }
            eprintln!("error: {}", causes.join(": "));
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

async fn probe(arguments: &Arguments) -> Result<serde_json::Value, Box<dyn Error>> {
    let deadline = Instant::now() + Duration::from_secs(arguments.deadline_s);
    let (credentials, _cache) = arguments.logon.credentials()?;
    let host = &arguments.server.host;
    let stream = Counted::new(connect(arguments, deadline).await?);
    let bytes = stream.counter();

    let began = Instant::now();
    let options = SmbOptions { encryption: encryption(arguments.encryption), ..SmbOptions::default() };
    let mut smb = SmbConnection::negotiate(Box::new(stream), host, options, deadline).await?;
    smb.authenticate(credentials.clone(), deadline).await?;
    smb.connect_ipc(deadline).await?;
    let negotiated = smb.negotiated().cloned().ok_or("nothing was negotiated")?;
    let is_encrypted = smb.is_encrypted();
    let names = smb.peer().server.clone().unwrap_or_default();
    let connection = Arc::new(Mutex::new(smb));
    let pipe = NamedPipe::open(&connection, "winreg", deadline).await?;
    let config = ClientConfig {
        max_xmit_frag: arguments.fragment_bytes_max,
        max_recv_frag: arguments.fragment_bytes_max,
        ..ClientConfig::default()
    };
    let sealed = Security {
        mechanism: match arguments.mechanism {
            MechanismArgument::Ntlm => Mechanism::Ntlm,
            MechanismArgument::Spnego => Mechanism::Negotiate,
        },
        ..Security::sealed(credentials, format!("cifs/{host}"))
    };
    let mut association = Association::bind(pipe, &[WINREG], Some(&sealed), config, deadline).await?;
    let connected_s = began.elapsed().as_secs_f64();

    let mut winreg = association.channel(0, deadline);
    let local_machine = open_root(&mut winreg, OPEN_LOCAL_MACHINE).await?;
    let mut version = None;
    if arguments.calls > 0 {
        version = Some(self::version(&mut winreg, local_machine).await?);
    }
    let began = Instant::now();
    for _ in 0..arguments.calls {
        self::version(&mut winreg, local_machine).await?;
    }
    let elapsed_s = began.elapsed().as_secs_f64();

    let mut performance_bytes = 0;
    let mut objects = Vec::new();
    if arguments.performance_bytes_max > 0 {
        let root = open_root(&mut winreg, OPEN_PERFORMANCE_DATA).await?;
        let data = query_value(&mut winreg, root, "Global", arguments).await?;
        if !data.starts_with(b"P\0E\0R\0F\0") {
            return Err(format!("{} bytes of performance data do not begin with PERF", data.len()).into());
        }
        performance_bytes = data.len();
        let names = NameTable::decode(&query_value(&mut winreg, root, "Counter 009", arguments).await?);
        objects = DataBlock::decode(&data)?
            .objects()
            .map(|object| Ok::<_, counters::perflib_v1::BadObject>(described(&object?, &names)))
            .collect::<Result<Vec<_>, _>>()?;
    }
    #[expect(clippy::cast_precision_loss, reason = "a number of calls is far below 2^52")]
    let calls_per_second = arguments.calls as f64 / elapsed_s;
    Ok(serde_json::json!({
        "dialect": negotiated.dialect.to_string(),
        "cipher": negotiated.cipher.map(|cipher| cipher.to_string()),
        "signing": negotiated.signing.to_string(),
        "encrypted": is_encrypted,
        "server": names.netbios_computer,
        "version": version,
        "connected_s": connected_s,
        "calls": arguments.calls,
        "calls_per_second": calls_per_second,
        "performance_bytes": performance_bytes,
        "objects": objects,
        "sent_bytes": bytes.sent_bytes(),
        "received_bytes": bytes.received_bytes(),
    }))
}

/// An object with the values of its first counter, by instance.
fn described(object: &ObjectType<'_>, names: &NameTable) -> serde_json::Value {
    let counter = object.counters().next();
    let number =
        |block: &CounterBlock<'_>| counter.as_ref().and_then(|counter| block.value(counter)?.number());
    let values: Vec<serde_json::Value> = match object.instances() {
        Instances::Single(block) => vec![serde_json::json!(["", number(&block)])],
        Instances::Many(many) => {
            many.map(|one| serde_json::json!([one.name().collect::<String>(), number(&one.values)])).collect()
        }
        Instances::Unasked => Vec::new(),
    };
    let counter = counter.as_ref().and_then(|counter| names.get(counter.name_index));
    serde_json::json!({"name": names.get(object.name_index), "counter": counter, "values": values})
}

async fn connect(arguments: &Arguments, deadline: Instant) -> Result<BoxStream, Box<dyn Error>> {
    let stream = TcpConnector::default().connect(&arguments.server, deadline).await?;
    match &arguments.pcap {
        // Dissectors recognise this port.
        Some(path) => {
            let recorded_as = Endpoint::new(arguments.server.host.clone(), 445);
            Ok(Box::new(PcapFile::new(File::create(path)?)?.record(stream, &recorded_as)))
        }
        None => Ok(stream),
    }
}

const fn encryption(argument: EncryptionArgument) -> Encryption {
    match argument {
        EncryptionArgument::Disabled => Encryption::Disabled,
        EncryptionArgument::Preferred => Encryption::Preferred,
        EncryptionArgument::Required => Encryption::Required,
    }
}

/// [MS-RRP] 3.1.5.1 and 3.1.5.4: `OpenLocalMachine`, `OpenPerformanceData`.
async fn open_root<C: Channel>(winreg: &mut C, opnum: u16) -> Result<ContextHandle, Box<dyn Error>> {
    let mut stub = Writer::new();
    stub.u32(0 /* ServerName: a null pointer */);
    stub.u32(MAXIMUM_ALLOWED);
    let stub = winreg.call(opnum, None, &stub.into_stub()).await?;
    let mut response = Reader::new(&stub, "OpenRootKey");
    let handle = response.read("phKey")?;
    succeeded("open root key", response.u32("return")?)?;
    Ok(handle)
}

/// `BaseRegGetVersion` of [MS-RRP] 3.1.5.24.
async fn version<C: Channel>(winreg: &mut C, key: ContextHandle) -> Result<u32, Box<dyn Error>> {
    let mut stub = Writer::new();
    stub.write(&key)?;
    let stub = winreg.call(BASE_REG_GET_VERSION, None, &stub.into_stub()).await?;
    let mut response = Reader::new(&stub, "BaseRegGetVersion");
    let version = response.u32("lpdwVersion")?;
    succeeded("get version", response.u32("return")?)?;
    Ok(version)
}

/// `BaseRegQueryValue` of [MS-RRP] 3.1.5.17.
async fn query_value<C: Channel>(
    winreg: &mut C,
    key: ContextHandle,
    name: &str,
    arguments: &Arguments,
) -> Result<Vec<u8>, Box<dyn Error>> {
    let name_bytes = u16::try_from(2 * (name.encode_utf16().count() + 1))?;
    let sent = arguments.request_bytes.min(arguments.performance_bytes_max);
    let mut stub = Writer::new();
    stub.write(&key)?;
    stub.bytes(&name_bytes.to_le_bytes() /* Length */);
    stub.bytes(&name_bytes.to_le_bytes() /* MaximumLength */);
    stub.u32(REFERENT);
    stub.wide_string(name)?;
    stub.align(4);
    stub.u32(REFERENT);
    stub.u32(0 /* lpType */);
    stub.u32(REFERENT);
    stub.conformant_varying_bytes(arguments.performance_bytes_max, &vec![0; usize::try_from(sent)?])?;
    stub.align(4);
    stub.u32(REFERENT);
    stub.u32(arguments.performance_bytes_max /* lpcbData */);
    stub.u32(REFERENT);
    stub.u32(sent /* lpcbLen */);
    let stub = winreg.call(BASE_REG_QUERY_VALUE, None, &stub.into_stub()).await?;

    let mut response = Reader::new(&stub, "BaseRegQueryValue");
    if response.u32("lpType")? != 0 {
        response.u32("lpType")?;
    }
    let data = match response.u32("lpData")? {
        0 => Vec::new(),
        _ => response.conformant_varying_bytes("lpData")?.bytes.to_vec(),
    };
    response.align(4)?;
    for field in ["lpcbData", "lpcbLen"] {
        if response.u32(field)? != 0 {
            response.u32(field)?;
        }
    }
    succeeded("query value", response.u32("return")?)?;
    Ok(data)
}

fn succeeded(doing: &str, status: u32) -> Result<(), String> {
    if status == 0 { Ok(()) } else { Err(format!("{doing}: the registry answers {status}")) }
}

/// See section 1.9 of [MS-RRP].
const WINREG: SyntaxId = SyntaxId::new(Guid::from_u128(0x338c_d001_2244_31f1_aaaa_9000_3800_1003), 1, 0);
const OPEN_LOCAL_MACHINE: u16 = 2;
const OPEN_PERFORMANCE_DATA: u16 = 3;
const BASE_REG_QUERY_VALUE: u16 = 17;
const BASE_REG_GET_VERSION: u16 = 26;
const MAXIMUM_ALLOWED: u32 = 0x0200_0000;
/// Any number but zero.
const REFERENT: u32 = 0x0002_0000;
