//! `init`: writes a first configuration and the password file that it names.

mod file;
mod terminal;

use std::fmt::{self, Write};
use std::io::{IsTerminal, Read};
use std::path::Path;

use support::errln;
use zeroize::Zeroizing;

use super::cli::InitOptions;
use super::{CANCELLED, FAILED, OK, USAGE, output};

/// The configuration's file name within `--output`.
const CONFIG_FILE: &str = "perfmon.yml";
/// The password's file name within `--output`.
const PASSWORD_FILE: &str = "secret";
/// A password of Windows has at most 256 characters.
const PASSWORD_BYTES_MAX: usize = 4096;

/// Why nothing more was written.
#[derive(Debug)]
enum Error {
    /// Options are missing, or make no sense together.
    Usage(String),
    /// A file, a folder or the terminal does not allow it.
    Failed(String),
    /// Ctrl-C while the password was typed.
    Cancelled,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(text) | Self::Failed(text) => f.write_str(text),
            Self::Cancelled => f.write_str("cancelled; nothing was written"),
        }
    }
}

/// `init`: the exit code.
pub(super) fn init(options: InitOptions) -> u8 {
    match write_first(options) {
        Ok(written) => {
            output::out(written);
            OK
        }
        Err(error) => {
            errln!("{error}");
            match error {
                Error::Usage(_) => USAGE,
                Error::Failed(_) => FAILED,
                Error::Cancelled => CANCELLED,
            }
        }
    }
}

fn write_first(options: InitOptions) -> Result<String, Error> {
    let asks = std::io::stdin().is_terminal();
    let config_file = options.output.join(CONFIG_FILE);
    let has_secret = options.password_file.is_some() || options.keytab.is_some();
    let new_password_file = (!has_secret).then(|| options.output.join(PASSWORD_FILE));
    // Before anything is asked.
    file::check_folder(&options.output)?;
    if !options.force {
        std::iter::once(&config_file)
            .chain(&new_password_file)
            .try_for_each(|path| file::check_free(path))?;
    }
    let (secret_key, secret_file) = match (&options.password_file, &options.keytab) {
        (_, Some(path)) => ("keytab_file", existing("--keytab", "the account's keys", path)?),
        (Some(path), None) => ("password_file", existing("--password-file", "the password", path)?),
        (None, None) => ("password_file", PASSWORD_FILE.to_owned()),
    };
    let host = given_or_asked(options.host, asks, "--host", "Windows host (name or address)", None)?;
    let is_ntlm = options.username.is_some();
    let question = r"Account (NAME@REALM by Kerberos; DOMAIN\user, or user, by NTLM)";
    let account = given_or_asked(
        options.principal.or(options.username),
        asks,
        "--principal or --username",
        question,
        None,
    )?;
    let is_kerberos = !is_ntlm && account.contains('@');
    let allow_hosts = if options.allow_hosts.is_empty() {
        let question = "Hosts that may receive the password, such as *.corp.example.com";
        let list = given_or_asked(None, asks, "--allow-hosts", question, Some(&host))?;
        list.split(',').map(|pattern| pattern.trim().to_owned()).collect()
    } else {
        options.allow_hosts
    };
    let text = First { host, account, is_kerberos, allow_hosts, secret_key, secret_file }.text();
    check(&text, &config_file, &options.output)?;

    let mut written = String::new();
    // A password that no configuration names would be forgotten where it lies.
    let mut made = None;
    if let Some(path) = &new_password_file {
        let password = password(asks)?;
        let is_new = file::is_free(path);
        file::write(path, password.as_bytes(), file::OWNER_ONLY, options.force)?;
        made = is_new.then_some(path);
        let _ = writeln!(written, "wrote {} (mode 600: only you can read it)", path.display());
    }
    file::write(&config_file, text.as_bytes(), file::READABLE, options.force).map_err(
        |error| match made {
            Some(path) => without(path, &error),
            None => error,
        },
    )?;
    let program = std::env::args_os().next().unwrap_or_else(|| "perfmon-exporter".into());
    let (program, shown) = (shell_word(&program.to_string_lossy()), config_file.display().to_string());
    let argument = shell_word(&shown);
    let _ = writeln!(written, "wrote {shown}\nnext: {program} check-config {argument} --online");
    let _ = writeln!(written, "then: {program} --config {argument}");
    Ok(written)
}

/// Removes the unused password file, and adds that to the error.
fn without(password_file: &Path, error: &Error) -> Error {
    let shown = password_file.display();
    Error::Failed(match std::fs::remove_file(password_file) {
        Ok(()) => format!("{error}; {shown}, which was just written, is removed again"),
        Err(left) => format!("{error}; {shown} holds the password and cannot be removed: {left}; remove it"),
    })
}

/// The absolute path of a file that is there.
fn existing(option: &str, what: &str, path: &Path) -> Result<String, Error> {
    std::fs::metadata(path).map_err(|error| {
        let shown = path.display();
        Error::Failed(format!(
            "{option} {shown}: {error}; name a file that holds {what}, or omit the option to be asked for a password"
        ))
    })?;
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    absolute.into_os_string().into_string().map_err(|_| {
        Error::Failed(format!("{option} {}: the name is not UTF-8; rename the file", path.display()))
    })
}

/// An option's value, or the answer on the terminal. `default` is used if there is neither.
fn given_or_asked(
    given: Option<String>,
    asks: bool,
    option: &str,
    question: &str,
    default: Option<&str>,
) -> Result<String, Error> {
    match (given, default) {
        (Some(given), _) => Ok(given),
        (None, Some(default)) if !asks => Ok(default.to_owned()),
        (None, None) if !asks => Err(Error::Usage(format!(
            "{option} is missing, and the standard input is not a terminal to ask on; `init --help` has \
             examples"
        ))),
        (None, default) => terminal::ask(question, default),
    }
}

/// The password: typed without echo, or all of the standard input less one trailing newline.
fn password(asks: bool) -> Result<Zeroizing<String>, Error> {
    let password = if asks { terminal::ask_password("Password: ")? } else { read_password()? };
    if password.is_empty() {
        return Err(Error::Failed(
            "the password is empty; type it, or send it to the standard input: init … < FILE".to_owned(),
        ));
    }
    Ok(password)
}

fn read_password() -> Result<Zeroizing<String>, Error> {
    let mut password = Zeroizing::new(String::with_capacity(PASSWORD_BYTES_MAX + 1));
    let limit = PASSWORD_BYTES_MAX as u64 + 1;
    let read = std::io::stdin().lock().take(limit).read_to_string(&mut password);
    read.map_err(|error| {
        Error::Failed(format!("read the password from the standard input: {error}; send UTF-8 text"))
    })?;
    if password.len() > PASSWORD_BYTES_MAX {
        return Err(Error::Failed(format!(
            "the standard input has more than {PASSWORD_BYTES_MAX} bytes; send the password and nothing else"
        )));
    }
    let end = password.strip_suffix('\n').map_or(password.len(), |rest| rest.trim_end_matches('\r').len());
    password.truncate(end);
    Ok(password)
}

/// Refuses what `check-config` would refuse, before anything is written.
fn check(text: &str, file: &Path, base: &Path) -> Result<(), Error> {
    match config::parse(&file.display().to_string(), text, base) {
        Ok(_) => Ok(()),
        Err(report) => {
            let problems: Vec<String> = report.problems.iter().map(ToString::to_string).collect();
            Err(Error::Failed(format!("{}; nothing was written", problems.join("\n"))))
        }
    }
}

/// What a first configuration is made of.
struct First {
    host: String,
    account: String,
    is_kerberos: bool,
    allow_hosts: Vec<String>,
    secret_key: &'static str,
    /// Absolute, or relative to the configuration's folder.
    secret_file: String,
}

impl First {
    fn text(&self) -> String {
        let allow_hosts: Vec<String> = self.allow_hosts.iter().map(|pattern| scalar(pattern)).collect();
        let (allow_hosts, host) = (allow_hosts.join(", "), scalar(&self.host));
        let (kind, key) = if self.is_kerberos { ("kerberos", "principal") } else { ("ntlm", "username") };
        let (account, secret_file) = (scalar(&self.account), scalar(&self.secret_file));
        let secret_key = self.secret_key;
        format!(
            "\
# A first configuration of perfmon-exporter, written by `perfmon-exporter init`.

# Metrics and pages for this machine only. Before you listen on other addresses, set passwords and TLS (`web.config_file`).
web: {{listen: ['127.0.0.1:9483']}}

# Reads performance counters.
plugins: {{load: [pcq]}}

# Accounts that log on to Windows hosts.
identities:
  main:
    kind: {kind}
    {key}: {account}
    {secret_key}: {secret_file}  # relative to this file; keep its mode at 600
    # The password is sent to these hosts only: names, patterns such as '*.corp.example.com', and networks.
    allow_hosts: [{allow_hosts}]

# What is read. `perfmon-exporter discover` lists what a host offers.
modules:
  os:
    plugin: pcq
    countersets:
      - {{name: Processor Information}}
      - {{name: Memory}}
      - {{name: LogicalDisk}}
      - {{name: Network Interface}}
      - {{name: System}}
      # Each process has a series for each of some 28 counters, so only the 20 largest by memory are kept.
      - {{name: Process V2, top_n: {{counter: Working Set, n: 20}}}}

# From where it is read, and how often.
targets:
  - {{host: {host}, identity: main, modules: [os], interval: 15s}}
"
        )
    }
}

/// A scalar of YAML that means exactly `text`: in single quotes, and with escapes where a control character is in it.
fn scalar(text: &str) -> String {
    if text.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')) {
        let escaped: String = text.chars().map(escape).collect();
        format!("\"{escaped}\"")
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

fn escape(c: char) -> String {
    match c {
        ' '..='~' if !matches!(c, '"' | '\\') => c.to_string(),
        _ => format!("\\U{:08X}", u32::from(c)),
    }
}

/// A word that a shell reads as exactly `text`.
fn shell_word(text: &str) -> String {
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | ':' | '@');
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    #[test]
    fn odd_characters_come_back_from_the_configuration_as_they_went_in() {
        for odd in [
            "it's # a: [file], {x}",
            "a\\b\"c",
            "ü\u{2028}\u{85}\tx\ny\u{7}",
            "*&!|>%@`",
            "null",
            "~",
            "0x1F",
        ] {
            let first = First {
                host: "web1.example".to_owned(),
                account: format!("CORP\\{odd}").replace(r"a\b", "ab"),
                is_kerberos: false,
                allow_hosts: vec!["web1.example".to_owned(), "10.0.0.0/8".to_owned()],
                secret_key: "password_file",
                secret_file: odd.to_owned(),
            };
            let config = config::parse("a.yaml", &first.text(), Path::new("/etc")).unwrap();
            let identity = &config.identities["main"];
            assert_eq!(identity.secret.file(), Some(&*PathBuf::from("/etc").join(odd)));
            assert_eq!(format!("CORP\\{}", identity.username), first.account);
            assert!(identity.allow_hosts.allows_host("web1.example"));
        }
    }

    #[test]
    fn a_word_for_a_shell_is_quoted_where_it_has_to_be() {
        assert_eq!(shell_word("/etc/a-b_c.yaml"), "/etc/a-b_c.yaml");
        assert_eq!(shell_word("it's here"), r"'it'\''s here'");
    }
}
