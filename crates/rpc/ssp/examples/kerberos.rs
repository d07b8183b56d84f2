//! Logs on to a service by Kerberos, this program being the client and the service, and compares how messages are protected
//! with what the library of the system does.
//!
//! ```text
//! KRB5_CONFIG=krb5.conf kerberos --principal svc@CORP.EXAMPLE.COM --keytab svc.keytab \
//!     --service cifs/web1.corp.example.com --host-keytab web1.keytab
//! ```

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Parser;
use gssapi::{Acceptor, Cache, EncryptionType, Initiator, Kerberos, Leg, Origin, Reference};
use ssp::{
    Accounts, ClientOptions, Credentials, ImpersonationLevel, Mechanism, Message, Outcome, Protection,
    Secret, SecurityContext, ServerOptions, Step, Tickets, Usage, kerberos,
};

type Result<T> = core::result::Result<T, Box<dyn std::error::Error>>;

#[derive(Parser)]
struct Arguments {
    #[arg(long)]
    principal: String,
    #[arg(long, required_unless_present_any = ["password_file", "ccache"])]
    keytab: Option<PathBuf>,
    #[arg(long)]
    password_file: Option<PathBuf>,
    #[arg(long)]
    ccache: Option<String>,
    /// The principal that is logged on to.
    #[arg(long)]
    service: String,
    /// A keytab of the service.
    #[arg(long)]
    host_keytab: PathBuf,
    /// Messages of each direction, protection and encryption type.
    #[arg(long, default_value_t = 200)]
    messages: usize,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// RC4 instead of the strong types, for a service that has no other key.
    #[arg(long)]
    rc4: bool,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let library = Kerberos::of_the_system()?;
    let password = arguments.password_file.as_ref().map(std::fs::read_to_string).transpose()?;
    let origin = match (&password, &arguments.keytab, &arguments.ccache) {
        (Some(password), ..) => {
            Origin::Password { principal: &arguments.principal, password: password.trim_end() }
        }
        (_, Some(file), _) => Origin::Keytab { principal: &arguments.principal, file },
        (.., Some(name)) => Origin::Cache { name },
        _ => return Err("no credential".into()),
    };
    let permitted = EncryptionType::permitted(arguments.rc4);
    let (cache, ticket) = Cache::obtain(library, "judged", origin, &permitted)?;
    let judged = if arguments.rc4 { &[EncryptionType::RC4_HMAC][..] } else { &EncryptionType::STRONG };
    println!(
        "ticket of {}, {} s, skew {:?}",
        ticket.principal,
        ticket.lifetime.as_secs(),
        ticket.skew_seconds
    );

    let mut random = Random(arguments.seed);
    for encryption_type in judged {
        let (cache, encryption_types) = (cache.name().to_owned(), vec![*encryption_type]);
        let tickets = Tickets { principal: String::new(), cache, service: None, encryption_types };
        for (usage, mechanism) in [
            (Usage::Rpc, Mechanism::Kerberos),
            (Usage::Smb, Mechanism::Kerberos),
            (Usage::Smb, Mechanism::Negotiate),
        ] {
            let mut client = client(&tickets, &arguments.service, usage, mechanism)?;
            let mut server = kerberos::server(&arguments.host_keytab, usage)?;
            let legs = connect(&mut *client, &mut *server)?;
            if client.session_key()?.full() != server.session_key()?.full() {
                return Err("the session keys differ".into());
            }
            let account = server.peer().account.ok_or("the server does not know its client")?;
            println!(
                "{encryption_type} {usage:?} {mechanism:?}: {legs} legs, {}@{}",
                account.user, account.domain
            );
            for _ in 0..arguments.messages {
                let message = random.message();
                // SMB takes nothing but the key, and the library wants RC4 in blocks without DCE style.
                if !arguments.rc4 || usage == Usage::Rpc {
                    exchange(&mut *client, &mut *server, &message, Protection::Privacy)?;
                }
                exchange(&mut *server, &mut *client, &message, Protection::Integrity)?;
            }
        }
        compare(library, &arguments, &tickets, &mut random)?;
        if !arguments.rc4 {
            race(&arguments, &tickets)?;
        }
    }
    Ok(())
}

/// Seals and opens messages of a usual length by Kerberos and by NTLM, one after the other; the best round of each counts,
/// since other programs only ever take time away.
fn race(arguments: &Arguments, tickets: &Tickets) -> Result<()> {
    const ROUNDS: usize = 20;
    let mut by_kerberos = (
        client(tickets, &arguments.service, Usage::Rpc, Mechanism::Kerberos)?,
        kerberos::server(&arguments.host_keytab, Usage::Rpc)?,
    );
    connect(&mut *by_kerberos.0, &mut *by_kerberos.1)?;
    let password = || Secret::new("made up");
    let options = ClientOptions::new(Mechanism::Ntlm, arguments.service.as_str(), Usage::Rpc);
    let mut by_ntlm = (
        ssp::client(&Credentials::new("", "anybody", password()), options)?,
        ssp::server(Arc::new(OnePassword(password())), ServerOptions::new(Mechanism::Ntlm, Usage::Rpc))?,
    );
    connect(&mut *by_ntlm.0, &mut *by_ntlm.1)?;
    let (mut kerberos, mut ntlm) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        kerberos = kerberos.min(time(&mut *by_kerberos.0, &mut *by_kerberos.1)?);
        ntlm = ntlm.min(time(&mut *by_ntlm.0, &mut *by_ntlm.1)?);
    }
    let types: Vec<String> = tickets.encryption_types.iter().map(ToString::to_string).collect();
    println!("speed of {}: {} ns, NTLM {} ns", types.join(" "), kerberos.as_nanos(), ntlm.as_nanos());
    Ok(())
}

/// How long a message takes through both ends.
fn time(from: &mut dyn SecurityContext, to: &mut dyn SecurityContext) -> Result<Duration> {
    const MESSAGES: u32 = 200;
    const PROTECTION: Protection = Protection::Privacy;
    let parts = Parts { header: vec![1; 24], body: vec![2; 5632], trailer: vec![3; 8] };
    let mut body = parts.body.clone();
    let mut signature = vec![0; from.signature_len(PROTECTION)];
    let begun = Instant::now();
    for _ in 0..MESSAGES {
        wrap(from, &parts, &mut body, &mut signature, PROTECTION)?;
        unwrap(to, &parts, &mut body, &mut signature, PROTECTION)?;
    }
    Ok(begun.elapsed() / MESSAGES)
}

struct OnePassword(Secret);

impl Accounts for OnePassword {
    fn password(&self, _domain: &str, _user: &str) -> Option<Secret> {
        Some(self.0.clone())
    }

    fn attempted(&self, _domain: &str, _user: &str, _outcome: Outcome) {}
}

fn client(
    tickets: &Tickets,
    service: &str,
    usage: Usage,
    mechanism: Mechanism,
) -> Result<Box<dyn SecurityContext>> {
    let mut options = ClientOptions::new(mechanism, service, usage);
    options.impersonation = ImpersonationLevel::Identify;
    Ok(ssp::client(&Credentials::Tickets(tickets.clone()), options)?)
}

/// Passes the tokens; answers with their number.
fn connect(client: &mut dyn SecurityContext, server: &mut dyn SecurityContext) -> Result<usize> {
    let (mut token, mut legs, mut client_is_done) = (Vec::new(), 0, false);
    loop {
        match client.step(&token)? {
            Step::Continue(next) => token = next,
            Step::Done(next) => {
                client_is_done = true;
                let Some(next) = next else { return Ok(legs) };
                token = next;
            }
            _ => return Err("an unknown step".into()),
        }
        legs += 1;
        match server.step(&token)? {
            Step::Continue(next) => token = next,
            Step::Done(None) if client_is_done => return Ok(legs),
            Step::Done(Some(next)) if !client_is_done => token = next,
            _ => return Err("the sides do not agree when they are done".into()),
        }
        legs += 1;
    }
}

struct Parts {
    header: Vec<u8>,
    body: Vec<u8>,
    trailer: Vec<u8>,
}

fn exchange(
    from: &mut dyn SecurityContext,
    to: &mut dyn SecurityContext,
    parts: &Parts,
    protection: Protection,
) -> Result<()> {
    let mut body = parts.body.clone();
    let mut signature = vec![0; from.signature_len(protection)];
    wrap(from, parts, &mut body, &mut signature, protection)?;
    unwrap(to, parts, &mut body, &mut signature, protection)?;
    if body == parts.body { Ok(()) } else { Err("the message is another one".into()) }
}

fn wrap(
    from: &mut dyn SecurityContext,
    parts: &Parts,
    body: &mut [u8],
    signature: &mut [u8],
    protection: Protection,
) -> Result<()> {
    let Parts { header, trailer, .. } = parts;
    Ok(from.wrap(Message { protection, header, body, trailer, signature })?)
}

fn unwrap(
    to: &mut dyn SecurityContext,
    parts: &Parts,
    body: &mut [u8],
    signature: &mut [u8],
    protection: Protection,
) -> Result<()> {
    let Parts { header, trailer, .. } = parts;
    Ok(to.unwrap(Message { protection, header, body, trailer, signature })?)
}

/// Ours as either side, the library as the other: each takes what the other protects, and refuses what was changed.
fn compare(
    library: &'static Kerberos,
    arguments: &Arguments,
    tickets: &Tickets,
    random: &mut Random,
) -> Result<()> {
    let wanted = gssapi::Options { dce_style: true, identify: true };
    for we_are_client in [true, false] {
        let (mut ours, mut theirs) = if we_are_client {
            let mut client = client(tickets, &arguments.service, Usage::Rpc, Mechanism::Kerberos)?;
            let mut acceptor = Acceptor::new(library, &arguments.host_keytab)?;
            let Step::Continue(first) = client.step(&[])? else { return Err("no first leg".into()) };
            let Leg::Continue(second) = acceptor.step(&first)? else { return Err("no second leg".into()) };
            let Step::Done(Some(third)) = client.step(&second)? else { return Err("no third leg".into()) };
            acceptor.step(&third)?;
            (client, acceptor.into_reference())
        } else {
            let types = &tickets.encryption_types;
            let mut initiator = Initiator::new(library, &tickets.cache, &arguments.service, types, wanted)?;
            let mut server = kerberos::server(&arguments.host_keytab, Usage::Rpc)?;
            let Leg::Continue(first) = initiator.step(&[])? else { return Err("no first leg".into()) };
            let Step::Continue(second) = server.step(&first)? else { return Err("no second leg".into()) };
            let Leg::Done(Some(third)) = initiator.step(&second)? else { return Err("no third leg".into()) };
            server.step(&third)?;
            (server, initiator.into_reference())
        };
        for _ in 0..arguments.messages {
            for protection in [Protection::Privacy, Protection::Integrity] {
                there_and_back(&mut *ours, &mut theirs, &random.message(), protection)?;
            }
        }
        let mut parts = random.message();
        let mut body = parts.body.clone();
        let mut signature = vec![0; ours.signature_len(Protection::Privacy)];
        wrap(&mut *ours, &parts, &mut body, &mut signature, Protection::Privacy)?;
        parts.header[0] ^= 1;
        if theirs.unwrap(&parts.header, &mut body, &parts.trailer, &mut signature).is_ok() {
            return Err("the library takes a changed header".into());
        }
    }
    println!(
        "the library takes what we protect, and we what it protects: {} messages each way",
        2 * arguments.messages
    );
    Ok(())
}

fn there_and_back(
    ours: &mut dyn SecurityContext,
    theirs: &mut Reference,
    parts: &Parts,
    protection: Protection,
) -> Result<()> {
    let mut body = parts.body.clone();
    let mut signature = vec![0; ours.signature_len(protection)];
    wrap(ours, parts, &mut body, &mut signature, protection)?;
    match protection {
        Protection::Privacy => theirs.unwrap(&parts.header, &mut body, &parts.trailer, &mut signature)?,
        Protection::Integrity => theirs.verify(&parts.header, &mut body, &parts.trailer, &mut signature)?,
    }
    if body != parts.body {
        return Err("the library reads another message".into());
    }
    signature.fill(0);
    match protection {
        Protection::Privacy => theirs.wrap(&parts.header, &mut body, &parts.trailer, &mut signature)?,
        Protection::Integrity => theirs.sign(&parts.header, &mut body, &parts.trailer, &mut signature)?,
    }
    unwrap(ours, parts, &mut body, &mut signature, protection)?;
    if body == parts.body { Ok(()) } else { Err("we read another message".into()) }
}

/// Numbers that look random, and the same ones for one seed (Marsaglia's xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn bytes(&mut self, len: u64) -> Vec<u8> {
        (0..len).map(|_| self.next().to_le_bytes()[3]).collect()
    }

    fn message(&mut self) -> Parts {
        let (body, trailer) = (self.next() % 300, self.next() % 20);
        Parts { header: self.bytes(24), body: self.bytes(body), trailer: self.bytes(trailer) }
    }
}
