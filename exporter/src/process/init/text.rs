//! The text of a first configuration.

/// What a first configuration is made of.
pub(super) struct First {
    pub(super) host: String,
    pub(super) username: String,
    pub(super) allow_hosts: Vec<String>,
    /// Absolute, or relative to the configuration's folder.
    pub(super) password_file: String,
}

impl First {
    pub(super) fn text(&self) -> String {
        let allow_hosts: Vec<String> = self.allow_hosts.iter().map(|pattern| scalar(pattern)).collect();
        let (allow_hosts, host) = (allow_hosts.join(", "), scalar(&self.host));
        let (username, password_file) = (scalar(&self.username), scalar(&self.password_file));
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
    kind: ntlm
    username: {username}
    password_file: {password_file}  # relative to this file; keep its mode at 600
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
pub(super) fn shell_word(text: &str) -> String {
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
    use support::input::secret::SecretSource;

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
                username: format!("CORP\\{odd}").replace(r"a\b", "ab"),
                allow_hosts: vec!["web1.example".to_owned(), "10.0.0.0/8".to_owned()],
                password_file: odd.to_owned(),
            };
            let config = config::parse("a.yaml", &first.text(), Path::new("/etc")).unwrap();
            let identity = &config.identities["main"];
            assert_eq!(identity.secret, SecretSource::File(PathBuf::from("/etc").join(odd)));
            assert_eq!(format!("CORP\\{}", identity.username), first.username);
            assert!(identity.allow_hosts.allows_host("web1.example"));
        }
    }

    #[test]
    fn a_word_for_a_shell_is_quoted_where_it_has_to_be() {
        assert_eq!(shell_word("/etc/a-b_c.yaml"), "/etc/a-b_c.yaml");
        assert_eq!(shell_word("it's here"), r"'it'\''s here'");
    }
}
