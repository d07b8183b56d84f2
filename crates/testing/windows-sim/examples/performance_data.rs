//! Reads performance data and keys of a host's registry with our client and our codec, and prints them as JSON, for a
//! comparison with another reader.
//!
//! ```text
//! performance_data --server 127.0.0.1:4450 --user 'DOMAIN\user' --password-file FILE --objects '2 238' --key KEY
//! ```

use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use counters::perflib_v1::{CounterBlock, DataBlock, Instances, NameTable, ObjectType, Value as Number};
use counters::rrp::types::ValueType;
use counters::rrp::winreg::{Key, RegistryClient, ValueRoom};
use dcerpc::Channel;
use dcerpc::client::{CallRequest, ClientConfig};
use host_session::rpc_client::{Association, NamedPipe, Security, SmbConnection, SmbOptions};
use serde_json::{Map, Value, json};
use ssp::{Credentials, Secret};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::time::Instant;
use wire::Guid;

/// Reads performance data and keys of a host's registry.
#[derive(Parser)]
struct Arguments {
    /// Where the SMB server listens.
    #[arg(long)]
    server: SocketAddr,
    /// The account, as DOMAIN\user.
    #[arg(long)]
    user: String,
    /// A file with the password; one newline at its end is not part of it.
    #[arg(long)]
    password_file: PathBuf,
    /// The indexes of the objects.
    #[arg(long)]
    objects: String,
    /// A key whose values to print. May be repeated.
    #[arg(long)]
    key: Vec<String>,
}

type Result<T> = core::result::Result<T, Box<dyn Error>>;

/// Everything together takes no longer.
const DEADLINE: Duration = Duration::from_secs(60);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let mut client = RegistryClient::new(connect(&arguments).await?);
    let data = client.open_performance_data().await?;
    let mut room = ValueRoom::new(1 << 16);
    let block = client.query_value(&data, &arguments.objects, &mut room).await?;
    let mut printed = block_as_json(&DataBlock::decode(block.bytes())?)?;
    let names = client.query_value(&data, "Counter 009", &mut room).await?;
    let names = NameTable::decode(names.bytes());
    let names: Map<_, _> = names.iter().map(|(index, text)| (index.to_string(), json!(text))).collect();
    printed["names"] = Value::Object(names);
    let root = client.open_local_machine().await?;
    let mut keys = Map::new();
    for path in &arguments.key {
        let key = client.open_key(&root, path).await?;
        keys.insert(path.clone(), values_of(&mut client, &key).await?);
        client.close_key(key).await?;
    }
    printed["keys"] = Value::Object(keys);
    println!("{printed}");
    Ok(())
}

struct Calls {
    association: Association<NamedPipe>,
    deadline: Instant,
}

impl Channel for Calls {
    type Error = host_session::rpc_client::Error;

    async fn call(
        &mut self,
        opnum: u16,
        object: Option<Guid>,
        stub: &[u8],
    ) -> core::result::Result<Vec<u8>, host_session::rpc_client::Error> {
        let request = CallRequest { context_id: 0, opnum, object, stub };
        self.association.call(request, self.deadline).await
    }
}

async fn connect(arguments: &Arguments) -> Result<Calls> {
    let deadline = Instant::now() + DEADLINE;
    let (domain, user) = arguments.user.split_once('\\').ok_or(r"write DOMAIN\user")?;
    let password = std::fs::read_to_string(&arguments.password_file)?;
    let secret = Secret::new(password.strip_suffix('\n').unwrap_or(&password));
    let credentials = Credentials::new(domain, user, secret);
    let host = arguments.server.ip().to_string();
    let stream = TcpStream::connect(arguments.server).await?;
    let mut smb = SmbConnection::negotiate(Box::new(stream), &host, SmbOptions::default(), deadline).await?;
    smb.authenticate(credentials.clone(), deadline).await?;
    smb.connect_ipc(deadline).await?;
    let pipe = NamedPipe::open(&Arc::new(Mutex::new(smb)), "winreg", deadline).await?;
    let security = Security::sealed(credentials, format!("cifs/{host}"));
    let config = ClientConfig::default();
    let association =
        Association::bind(pipe, &[counters::rrp::SYNTAX_ID], Some(&security), config, deadline).await?;
    Ok(Calls { association, deadline })
}

fn block_as_json(block: &DataBlock<'_>) -> Result<Value> {
    let objects: core::result::Result<Vec<_>, _> =
        block.objects().map(|object| object.map(|object| object_as_json(&object))).collect();
    Ok(json!({
        "system_name": block.system_name.chars().collect::<String>(),
        "perf_time": block.header.perf_time,
        "perf_freq": block.header.perf_freq,
        "time_100ns": block.header.perf_time_100ns.0,
        "objects": objects?,
    }))
}

fn object_as_json(object: &ObjectType<'_>) -> Value {
    let counters = object.counters().map(|counter| {
        json!({
            "index": counter.name_index,
            "help": counter.help_index,
            "scale": counter.default_scale,
            "detail": counter.detail_level.0,
            "type": counter.counter_type.0,
        })
    });
    let values = |block: &CounterBlock<'_>| -> Vec<Option<u64>> {
        object.counters().map(|counter| block.value(&counter).and_then(Number::number)).collect()
    };
    let instances = match object.instances() {
        Instances::Single(block) => vec![json!({ "name": null, "values": values(&block) })],
        Instances::Many(many) => many
            .map(|one| json!({ "name": one.name().collect::<String>(), "values": values(&one.values) }))
            .collect(),
        Instances::Unasked => Vec::new(),
    };
    json!({
        "index": object.name_index,
        "help": object.help_index,
        "detail": object.detail_level.0,
        "default_counter": object.default_counter,
        "perf_time": object.perf_time,
        "perf_freq": object.perf_freq,
        "counters": counters.collect::<Vec<_>>(),
        "instances": instances,
    })
}

/// The values by name, each with its type.
async fn values_of(client: &mut RegistryClient<Calls>, key: &Key) -> Result<Value> {
    let mut values = Map::new();
    let mut room = ValueRoom::new(64);
    for index in 0.. {
        let Some((name, value)) = client.enum_value(key, index, &mut room).await? else { break };
        values.insert(name, json!([value.value_type.0, unpacked(value.value_type, value.bytes())]));
    }
    Ok(Value::Object(values))
}

/// A text with its NULs, a number, or the digits of bytes.
fn unpacked(value_type: ValueType, bytes: &[u8]) -> Value {
    match (value_type, bytes.first_chunk()) {
        (ValueType::REG_SZ | ValueType::REG_EXPAND_SZ | ValueType::REG_MULTI_SZ, _) => {
            let units: Vec<u16> =
                bytes.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect();
            json!(String::from_utf16_lossy(&units))
        }
        (ValueType::REG_DWORD, Some(number)) => json!(u32::from_le_bytes(*number)),
        (ValueType::REG_QWORD, _) if bytes.len() == 8 => {
            json!(bytes.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte)))
        }
        _ => json!(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
    }
}
