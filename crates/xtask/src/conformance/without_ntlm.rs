//! The whole exporter, as its users run it, reads hosts that take no NTLM: a simulated one with all four plugins, a thousand of
//! them with one ticket-granting ticket, and one behind the pipe of an smbd. The KDC counts.

use std::fmt::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::kdc::{Answers, Kdc, PASSWORD, REALM};
use super::samba::{Pipes, Samba, USER};
use super::winreg;
use crate::process::{Running, free_port, poll};
use crate::stage::{START_TIMEOUT, Stage, page_when_up};
use crate::workspace::{Workspace, capture};
use crate::{Outcome, Result, http};

const HOSTS: u32 = 1_000;
const ALL_UP_TIMEOUT: Duration = Duration::from_secs(120);

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let kdc = Kdc::start()?;
    let account = kdc.add_account(USER)?;
    let host = kdc.add_service("cifs/localhost")?;
    for class in ["host", "RPCSS"] {
        kdc.add_service_to(&host, &format!("{class}/localhost"))?;
    }
    let plugins = all_plugins(workspace, &kdc, &account, &host)?;
    let many = many_hosts(workspace, &kdc, &account)?;
    let samba = behind_smbd(workspace, &kdc, &account, &host)?;
    let registry = registry_of_samba(workspace, &kdc, &account, &host)?;
    let short = short_tickets(workspace, &kdc, &host)?;
    let replaced = replaced_cache(workspace, &kdc, &account, &host)?;
    let machines = machines(workspace, &kdc, &account, &host)?;
    let libraries = without_library(workspace, &kdc, &account, &host)?;
    Ok(Outcome::Ran(format!(
        "{plugins}; {many}; {samba}; {registry}; {short}; {replaced}; {machines}; {libraries}"
    )))
}

/// The file's part about the identity.
fn identity(kdc: &Kdc, keytab: &Path) -> String {
    identity_of(kdc, keytab, USER)
}

fn identity_of(kdc: &Kdc, keytab: &Path, account: &str) -> String {
    format!(
        "web: {{listen: ['127.0.0.1:0']}}\nidentities:\n  tickets:\n    kind: kerberos\n    \
         principal: {account}@{REALM}\n    keytab_file: {}\n    krb5_conf: {}\n    \
         allow_hosts: [localhost, 127.0.0.0/8]\n",
        keytab.display(),
        kdc.krb5_conf().display()
    )
}

/// A module of counters, and one target.
fn one_target(kdc: &Kdc, keytab: &Path, account: &str, smb: SocketAddr) -> String {
    format!(
        "plugins: {{load: [pcq]}}\n{}transports: {{default: {{smb: {{port: {}}}}}}}\n\
         modules: {{counters: {{plugin: pcq, countersets: [{{name: Processor Information}}]}}}}\n\
         targets: [{{name: w, host: localhost, identity: tickets, modules: [counters], interval: 1s}}]\n",
        identity_of(kdc, keytab, account),
        smb.port()
    )
}

/// Tickets that end after some seconds, and sessions with them, are renewed meanwhile, and no collection fails for it.
fn short_tickets(workspace: &Workspace, kdc: &Kdc, host: &Path) -> Result<String> {
    let stage = Stage::new(workspace)?;
    let keytab = kdc.add_account("brief")?;
    kdc.administer(&["modprinc", "-maxlife", "8 seconds", "brief"])?;
    // Sessions end, too, as Windows ends them with their tickets: each begins again in the middle of a collection.
    let account = format!("{REALM}\\brief");
    let more = ["--smb-port", "0", "--session-expires-after", "15", "--account", &account];
    let (simulator_process, smb, _) = simulator(&stage, kdc, host, Machine::Good, &more)?;
    let before = kdc.answers()?;
    let (mut exporter, address) = stage.exporter_with(&one_target(kdc, &keytab, "brief", smb))?;
    page_when_up(&mut exporter, address, "w")?;
    let mut downs = 0;
    let renewed = poll("four tickets were obtained", ALL_UP_TIMEOUT, || {
        let page = http::get(address, "/metrics", "text/plain;version=0.0.4")?.body;
        downs += page.lines().filter(|line| *line == "perfmon_exporter_target_up{target=\"w\"} 0").count();
        let asked = kdc.answers()? - before;
        Ok((asked.ticket_granting >= 4).then_some(()))
    });
    renewed.map_err(|error| exporter.complaint(&error.to_string()))?;
    exporter.end()?;
    simulator_process.end()?;
    match downs {
        0 => Ok("tickets of 8 s are renewed without a failure".to_owned()),
        _ => Err(format!("while tickets were renewed the target was down {downs} times").into()),
    }
}

/// The exporter's clock may be wrong, as long as a KDC tells; the host's may not.
fn machines(workspace: &Workspace, kdc: &Kdc, account: &Path, host: &Path) -> Result<String> {
    let stage = Stage::new(workspace)?;
    let online = |machine: Machine<'_>, smb: SocketAddr| -> Result<String> {
        let file = stage.path("online.yml");
        std::fs::write(&file, one_target(kdc, account, USER, smb))?;
        let mut command = machine.command(&workspace.program("perfmon-exporter"));
        let output = command.arg("check-config").arg(file).arg("--online").output()?;
        let [out, err] =
            [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        Ok(out + &err)
    };
    for (exporter, host_machine, expected) in [
        (Machine::Good, Machine::Good, "1 target asked: 1 up"),
        (Machine::Ahead, Machine::Good, "1 target asked: 1 up"),
        (Machine::Good, Machine::Ahead, "auth: clock_skew"),
    ] {
        let (simulator_process, smb, _) = simulator(&stage, kdc, host, host_machine, &["--smb-port", "0"])?;
        let said = online(exporter, smb)?;
        simulator_process.end()?;
        if !said.contains(expected) {
            return Err(format!("exporter {exporter:?}, host {host_machine:?}: {said}").into());
        }
    }
    Ok("a clock 10 minutes ahead is corrected here, and told of a host".to_owned())
}

/// A cache that another program replaces, and one that it spoils for a while, costs no collection.
fn replaced_cache(workspace: &Workspace, kdc: &Kdc, account: &Path, host: &Path) -> Result<String> {
    let stage = Stage::new(workspace)?;
    let (simulator_process, smb, _) = simulator(&stage, kdc, host, Machine::Good, &["--smb-port", "0"])?;
    let cache = stage.path("cache");
    let replace = || -> Result<()> {
        let made = kdc.log_on(USER, account)?;
        Ok(std::fs::rename(made.trim_start_matches("FILE:"), &cache)?)
    };
    replace()?;
    let configuration = one_target(kdc, account, USER, smb);
    let by_keytab = format!("keytab_file: {}", account.display());
    let by_cache = format!("ccache: FILE:{}", cache.display());
    let (mut exporter, address) = stage.exporter_with(&configuration.replace(&by_keytab, &by_cache))?;
    page_when_up(&mut exporter, address, "w")?;
    let page = || http::get(address, "/metrics", "text/plain;version=0.0.4");
    let mut wait_for = |what: &str, line: &str| {
        poll(what, ALL_UP_TIMEOUT, || {
            let page = page()?.body;
            if page.lines().any(|line| line == "perfmon_exporter_target_up{target=\"w\"} 0") {
                return Err(format!("{what}: the target is down").into());
            }
            Ok(page.lines().any(|found| found.starts_with(line)).then_some(()))
        })
        .map_err(|error| exporter.complaint(&error.to_string()))
    };
    std::fs::write(&cache, "spoilt")?;
    wait_for("a spoilt cache is told", "perfmon_exporter_kerberos_failures_total{identity=\"tickets\"")?;
    replace()?;
    wait_for("a new cache is used", "perfmon_exporter_kerberos_tickets_total{identity=\"tickets\"} 2")?;
    exporter.end()?;
    simulator_process.end()?;
    Ok("a cache is spoilt and replaced without a failure".to_owned())
}

/// Where the library is absent, or of another maker, a KDC is asked at each logon; what cannot be done then is told. A wrong
/// password still costs one refusal, however many hosts there are.
fn without_library(workspace: &Workspace, kdc: &Kdc, account: &Path, host: &Path) -> Result<String> {
    let stage = Stage::new(workspace)?;
    let (simulator_process, smb, objects) = simulator(
        &stage,
        kdc,
        host,
        Machine::Good,
        &["--smb-port", "0", "--epm-port", "0", "--session-expires-after", "40"],
    )?;
    let password_file = stage.path("password");
    let by = |secret: &str| {
        format!(
            "web: {{listen: ['127.0.0.1:0']}}\nplugins: {{load: [pcq, comt]}}\nidentities:\n  tickets:\n    kind: \
             kerberos\n    principal: {USER}@{REALM}\n    {secret}\n    kdc: ['{}']\n    allow_hosts: \
             [localhost]\ntransports: {{default: {{smb: {{port: {}}}, dcom: {{port: {}}}}}}}\nmodules:\n  counters: \
             {{plugin: pcq, countersets: [{{name: Processor Information}}]}}\n  com: {{plugin: comt}}\ntargets:\n",
            kdc.address,
            smb.port(),
            objects.port()
        )
    };
    let target = |number: usize, modules: &str| {
        format!(
            "- {{name: w{number}, host: localhost, identity: tickets, modules: [{modules}], interval: 1s}}\n"
        )
    };
    let libraries = stage.path("libraries");
    std::fs::create_dir(&libraries)?;
    let library = libraries.join("libgssapi_krb5.so.2");
    let online = |secret: &str| -> Result<String> {
        let file = stage.path("online.yml");
        std::fs::write(&file, by(secret) + &target(0, "counters, com"))?;
        let mut command = Machine::Without(&libraries).command(&workspace.program("perfmon-exporter"));
        let output = command.arg("check-config").arg(file).arg("--online").output()?;
        let [out, err] =
            [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        Ok(out + &err)
    };
    std::fs::write(&password_file, PASSWORD)?;
    let [keytab, password, cache] = [
        format!("keytab_file: {}", account.display()),
        format!("password_file: {}", password_file.display()),
        format!("ccache: {}", kdc.log_on(USER, account)?),
    ];
    // Samba has a library of Heimdal's for itself.
    let folders = ["/usr/lib/x86_64-linux-gnu/samba", "/usr/lib/aarch64-linux-gnu/samba"];
    let heimdal = folders.iter().map(|folder| Path::new(folder).join("libgssapi-samba4.so.0"));
    let heimdal = heimdal.into_iter().find(|file| file.is_file());
    for (is_heimdal, secret, expected) in [
        (false, &keytab, "1 target asked: 1 up"),
        (false, &password, "1 target asked: 1 up"),
        (false, &cache, "auth: no_kerberos"),
        (true, &keytab, "1 target asked: 1 up"),
    ] {
        let _ = std::fs::remove_file(&library);
        match &heimdal {
            Some(heimdal) if is_heimdal => std::os::unix::fs::symlink(heimdal, &library)?,
            None if is_heimdal => return Err("Samba's package has no library of Heimdal's".into()),
            _ => std::fs::write(&library, "a library of that name which is none")?,
        }
        let said = online(secret)?;
        if !said.contains(expected) {
            return Err(format!("without the library, by {secret}, Heimdal's: {is_heimdal}: {said}").into());
        }
    }

    std::fs::write(&password_file, "Made-Up-Wrong-1")?;
    let before = kdc.refusals()?;
    let configuration = by(&password) + &(0..4).map(|number| target(number, "counters")).collect::<String>();
    let command = Machine::Without(&libraries).command(&workspace.program("perfmon-exporter"));
    let (mut exporter, address) = stage.exporter_by(command, &configuration)?;
    exporter.wait_for("what is lost", START_TIMEOUT, |line| {
        line.contains("Kerberos works without its library").then_some(())
    })?;
    let states = || -> Result<(usize, usize)> {
        let page = http::get(address, "/metrics", "text/plain;version=0.0.4")?.body;
        let of_targets = || page.lines().filter(|line| line.starts_with("perfmon_exporter_target_up{"));
        Ok((
            of_targets().filter(|line| line.ends_with(" 0")).count(),
            of_targets().filter(|line| line.ends_with(" 1")).count(),
        ))
    };
    let all = |what: &str, expected| poll(what, ALL_UP_TIMEOUT, || Ok((states()? == expected).then_some(())));
    all("all hosts are down", (4, 0)).map_err(|error| exporter.complaint(&error.to_string()))?;
    std::fs::write(&password_file, PASSWORD)?;
    all("all hosts are up", (0, 4)).map_err(|error| exporter.complaint(&error.to_string()))?;
    let wrong = kdc.refusals()? - before;
    // Sessions end, and begin again with a password that is not the account's any more.
    kdc.administer(&["cpw", "-pw", "Made-Up-Next-1", USER])?;
    all("all hosts are down again", (4, 0)).map_err(|error| exporter.complaint(&error.to_string()))?;
    std::fs::write(&password_file, "Made-Up-Next-1")?;
    all("all hosts are up again", (0, 4)).map_err(|error| exporter.complaint(&error.to_string()))?;
    let changed = kdc.refusals()? - before - wrong;
    exporter.end()?;
    simulator_process.end()?;
    if (wrong, changed) != (1, 1) {
        return Err(format!("a wrong password cost {wrong} refusals, a changed one {changed}").into());
    }
    Ok("without the library, and with Heimdal's, a KDC is asked; for 4 hosts a password costs 1 refusal"
        .to_owned())
}

/// Samba's own registry service, which has classic objects and no counters of version 2.
fn registry_of_samba(workspace: &Workspace, kdc: &Kdc, account: &Path, host: &Path) -> Result<String> {
    let stage = Stage::new(workspace)?;
    let samba = Samba::with_kerberos(Pipes::Samba, &kdc.krb5_conf(), host, "AES-256-GCM")?;
    winreg::fill(workspace, &samba)?;
    let configuration = one_target(kdc, account, USER, samba.address);
    let configuration = configuration.replace("Processor Information", "Compared Object");
    let (mut exporter, address) = stage.exporter_with(&configuration)?;
    exporter.wait_for("what the host lacks", START_TIMEOUT, |line| {
        line.contains("Host has no counters of version 2").then_some(())
    })?;
    let page = page_when_up(&mut exporter, address, "w")?;
    exporter.end()?;
    let objects = winreg::objects();
    let expected = objects[0]["values"].as_array().ok_or("no values")?;
    let is_shown = |value: &serde_json::Value| {
        let instance = format!("instance=\"{}\"", value[0].as_str().unwrap_or_default());
        let mut lines = page.lines().filter(|line| line.starts_with("perfmon_compared_object_"));
        lines.any(|line| line.contains(&instance) && line.ends_with(&format!(" {}", value[1])))
    };
    let shown = expected.iter().filter(|value| is_shown(value)).count();
    if shown == expected.len() {
        Ok(format!("{shown} series of Samba's own registry"))
    } else {
        Err(format!("{shown} of {} series of Samba's own registry:\n{page}", expected.len()).into())
    }
}

/// What a program runs on.
#[derive(Clone, Copy, Debug)]
enum Machine<'a> {
    Good,
    /// Its clock is 10 minutes ahead of the KDC's.
    Ahead,
    /// It finds its libraries here first.
    Without(&'a Path),
}

impl Machine<'_> {
    fn command(self, program: &Path) -> Command {
        match self {
            Self::Good => Command::new(program),
            Self::Ahead => {
                // Not by the program `faketime`, whose child nobody would end.
                let folders = ["x86_64-linux-gnu", "aarch64-linux-gnu"];
                let libraries =
                    folders.map(|folder| format!("/usr/lib/{folder}/faketime/libfaketimeMT.so.1"));
                let library = libraries.into_iter().find(|library| Path::new(library).is_file());
                let mut command = Command::new(program);
                command.env("LD_PRELOAD", library.unwrap_or_default()).env("FAKETIME", "+10m");
                command
            }
            Self::Without(libraries) => {
                let mut command = Command::new(program);
                command.env("LD_LIBRARY_PATH", libraries);
                command
            }
        }
    }
}

/// Starts windows-sim without NTLM; answers its ports for SMB and for objects.
fn simulator(
    stage: &Stage<'_>,
    kdc: &Kdc,
    keytab: &Path,
    machine: Machine<'_>,
    more: &[&str],
) -> Result<(Running, SocketAddr, SocketAddr)> {
    let password_file = stage.path("password-of-the-account");
    std::fs::write(&password_file, PASSWORD)?;
    let mut command = machine.command(&stage.workspace.program("windows-sim"));
    command.env("KRB5_CONFIG", kdc.krb5_conf());
    if !more.contains(&"--account") {
        command.args(["--account", &format!("{REALM}\\{USER}")]);
    }
    command.args(["--seed", "1", "--no-ntlm"]).args(more);
    command.arg("--password-file").arg(password_file).arg("--keytab").arg(keytab);
    let mut simulator = Running::start("windows-sim", &mut command)?;
    let smb = simulator.wait_for("listening address", START_TIMEOUT, |line| {
        line.strip_prefix("listening on ")?.split_whitespace().next()?.parse().ok()
    })?;
    let objects = if more.contains(&"--epm-port") {
        simulator.wait_for("address of the object resolver", START_TIMEOUT, |line| {
            line.strip_prefix("resolving objects on ")?.split(',').next()?.parse().ok()
        })?
    } else {
        smb
    };
    Ok((simulator, smb, objects))
}

fn all_plugins(workspace: &Workspace, kdc: &Kdc, account: &Path, host: &Path) -> Result<String> {
    let stage = Stage::new(workspace)?;
    let ports = ["--smb-port", "0", "--epm-port", "0"];
    let (simulator_process, smb, objects) = simulator(&stage, kdc, host, Machine::Good, &ports)?;
    let before = kdc.answers()?;
    let configuration = format!(
        "plugins: {{load: [pcq, comt, pla, rpc_state]}}\n{}transports: {{default: {{smb: {{port: {}}}, \
         dcom: {{port: {port}}}, tcp: {{port: {port}}}}}}}\n\
         modules:\n  counters: {{plugin: pcq, countersets: [{{name: Processor Information}}]}}\n  \
         com: {{plugin: comt}}\n  rpc: {{plugin: rpc_state, source: rpc_endpoints}}\n  \
         alerts: {{plugin: pla, sets: [{{name: S, alerts: [{{counter: '\\Memory\\Available MBytes', above: 1}}]}}]}}\n\
         targets: [{{name: w, host: localhost, identity: tickets, modules: [counters, com, rpc, alerts], \
         interval: 1s}}]\n",
        identity(kdc, account),
        smb.port(),
        port = objects.port()
    );
    let (mut exporter, address) = stage.exporter_with(&configuration)?;
    let page = page_when_up(&mut exporter, address, "w")?;
    for series in ["perfmon_complus_", "perfmon_rpc_remote_", "perfmon_processor_", "perfmon_pla_"] {
        if !page.lines().any(|line| line.to_lowercase().starts_with(series)) {
            return Err(format!("no series of {series}…:\n{page}").into());
        }
    }
    let asked = kdc.answers()? - before;
    // One for each class of service; two plugins that begin at the same moment both ask.
    if asked.ticket_granting != 1 || !(3..=6).contains(&asked.service) {
        return Err(format!("four plugins at one host asked for {asked:?}").into());
    }
    // The command logs on with the same account, and nothing else that the machine knows.
    let mut discover = Command::new(workspace.program("perfmon-exporter"));
    discover.env("KRB5_CONFIG", kdc.krb5_conf()).args(["discover", "--target", "localhost", "--port"]);
    discover.arg(smb.port().to_string()).args(["--principal", &format!("{USER}@{REALM}")]);
    let found = capture(discover.arg("--keytab").arg(account).args(["--format", "table"]))?;
    if !found.contains("Processor Information") {
        return Err(format!("discover by a keytab: {found}").into());
    }
    exporter.end()?;
    simulator_process.end()?;
    Ok(format!("four plugins at one host: 1 ticket-granting ticket, {} of services", asked.service))
}

/// A thousand hosts cost a ticket each, and none when all of them start again.
fn many_hosts(workspace: &Workspace, kdc: &Kdc, account: &Path) -> Result<String> {
    let stage = Stage::new(workspace)?;
    let keytab = kdc.add_services((0..HOSTS).map(|number| format!("cifs/h{number}.peers.example")))?;
    let count = HOSTS.to_string();
    let sim = |port: &str| {
        let more = ["--smb-port", port, "--hosts", &count, "--profile", "small"];
        simulator(&stage, kdc, &keytab, Machine::Good, &more)
    };
    // One port for all of them, and again.
    let port = free_port()?.to_string();
    let (first, smb, _) = sim(&port)?;
    let before = kdc.answers()?;
    let mut configuration = format!(
        "plugins: {{load: [pcq]}}\n{}transports: {{default: {{smb: {{port: {}}}}}}}\n\
         scrape: {{interval: 5s}}\n\
         modules: {{counters: {{plugin: pcq, countersets: [{{name: Processor Information}}]}}}}\ntargets:\n",
        // Their series would keep the processors from the hosts.
        identity(kdc, account).replacen("web: {", "web: {metrics_targets: false, ", 1),
        smb.port()
    );
    for number in 0..HOSTS {
        let address = Ipv4Addr::from(u32::from(Ipv4Addr::LOCALHOST) + number);
        writeln!(
            configuration,
            "- {{name: h{number}, host: {address}, service_principal: cifs/h{number}.peers.example, identity: \
             tickets, modules: [counters]}}"
        )?;
    }
    let (mut exporter, address) = stage.exporter_with(&configuration)?;
    let services = usize::try_from(HOSTS)?;
    // Leases of the identity, once all hosts are up and there were so many.
    let all_are_up = |leases_min: u64| {
        poll(&format!("{HOSTS} hosts are up"), ALL_UP_TIMEOUT, || {
            let page = http::get(address, "/metrics", "text/plain;version=0.0.4")?.body;
            let of_targets = page.lines().filter(|line| line.starts_with("perfmon_exporter_target_up{"));
            let up = of_targets.filter(|line| line.ends_with(" 1")).count();
            let leases = page.lines().find_map(|line| {
                line.strip_prefix("perfmon_exporter_credential_leases_total{identity=\"tickets\"} ")
            });
            let leases: u64 = leases.ok_or("no leases")?.parse()?;
            Ok((up == services && leases >= leases_min).then_some(leases))
        })
    };
    let leases = all_are_up(0).map_err(|error| exporter.complaint(&error.to_string()))?;
    let cold = kdc.answers()? - before;
    first.end()?;
    let (second, ..) = sim(&port)?;
    all_are_up(leases + u64::from(HOSTS)).map_err(|error| exporter.complaint(&error.to_string()))?;
    let again = kdc.answers()? - before - cold;
    exporter.end()?;
    second.end()?;
    if cold != (Answers { ticket_granting: 1, service: services })
        || again != (Answers { ticket_granting: 0, service: 0 })
    {
        return Err(
            format!("{HOSTS} hosts asked for {cold:?}, and for {again:?} when all started again").into()
        );
    }
    Ok(format!("{HOSTS} hosts: 1 and {services} tickets, and none when all of them started again"))
}

/// Our server of counters behind the pipe of an smbd without NTLM.
fn behind_smbd(workspace: &Workspace, kdc: &Kdc, account: &Path, host: &Path) -> Result<String> {
    let stage = Stage::new(workspace)?;
    let samba = Samba::with_kerberos(Pipes::Ours, &kdc.krb5_conf(), host, "AES-256-GCM")?;
    let (keytab, user) = (host.display().to_string(), format!("{REALM}\\{USER}"));
    let more = ["--account", user.as_str(), "--keytab", &keytab, "--no-ntlm"];
    let _simulator = samba.simulator(workspace, &more)?;
    let (mut exporter, address) = stage.exporter_with(&one_target(kdc, account, USER, samba.address))?;
    let page = page_when_up(&mut exporter, address, "w")?;
    let series = page.lines().filter(|line| line.starts_with("perfmon_processor_")).count();
    exporter.end()?;
    if series > 100 {
        Ok(format!("{series} series through smbd without NTLM"))
    } else {
        Err(format!("only {series} series through smbd:\n{page}").into())
    }
}
