//! What stands for the machines of the documents: names, ports and folders there, and what they are here.

use std::path::Path;

/// Hosts of the documents, and the address at which a simulated one answers for each.
const HOSTS: [(&str, &str); 4] = [
    ("web1.corp.example.com", "127.0.0.1"),
    ("web2.corp.example.com", "127.0.0.2"),
    ("web3.corp.example.com", "127.0.0.3"),
    ("sql1.corp.example.com", "127.0.0.4"),
];

/// How many hosts are simulated.
pub(super) const HOSTS_COUNT: &str = "4";

/// Lists of hosts that are allowed something.
const NETWORKS: [(&str, &str); 2] = [("'*.corp.example.com'", "127.0.0.0/8"), ("10.0.0.0/8", "127.0.0.0/8")];

/// How the documents write the port of an object resolver.
const DCOM: &str = "dcom: {port: 135}";

/// The port of the documents' exporter.
const PORT: &str = "9483";

/// Folders that are below one of ours, so that nothing on this machine is changed.
const FOLDERS: [&str; 6] = [
    "/etc/perfmon-exporter",
    "/etc/systemd",
    "/usr/bin/",
    "/usr/lib/perfmon-exporter",
    "/run/",
    "/var/lib/perfmon-exporter",
];

/// The account of the documents; its password is that of all simulated accounts.
pub(super) const ACCOUNT: &str = r"CORP\svc-metrics";
pub(super) use crate::stage::PASSWORD;

/// The ports of all simulated hosts.
#[derive(Clone, Copy)]
pub(super) struct HostPorts {
    pub(super) smb: u16,
    /// Of the object resolver.
    pub(super) dcom: u16,
}

/// Where things are that the documents name otherwise.
pub(super) struct Fixture<'a> {
    /// What `/` is to root.
    pub(super) system: &'a Path,
    pub(super) hosts: HostPorts,
    pub(super) port: u16,
}

impl Fixture<'_> {
    /// A text of the documents with what is here in the place of what they name.
    fn mapped(&self, text: &str) -> String {
        let mut mapped = text.replace(PORT, &self.port.to_string());
        for (name, here) in HOSTS.iter().chain(&NETWORKS) {
            mapped = mapped.replace(name, here);
        }
        for folder in FOLDERS {
            mapped = mapped.replace(folder, &format!("{}{folder}", self.system.display()));
        }
        mapped
    }

    /// A file other than the exporter's configuration.
    pub(super) fn file(&self, text: &str) -> String {
        self.mapped(text)
    }

    /// A configuration: its transports have the simulated hosts' ports, unless it loads plugins that know no SMB.
    pub(super) fn configuration(&self, text: &str) -> String {
        let HostPorts { smb: port, dcom } = self.hosts;
        let mapped = self.mapped(text).replace(DCOM, &format!("dcom: {{port: {dcom}}}"));
        if mapped.contains("load: [") && !mapped.contains("pcq") {
            mapped
        } else if mapped.lines().any(|line| line.starts_with("transports:")) {
            mapped.replace("smb: {", &format!("smb: {{port: {port}, "))
        } else {
            format!("{mapped}transports: {{default: {{smb: {{port: {port}}}}}}}\n")
        }
    }

    /// A command. One without a configuration gets the simulated hosts' port.
    pub(super) fn command(&self, command: &str) -> String {
        let mapped = self.mapped(command);
        match mapped.split_once(" --username ") {
            Some((before, after)) if before.contains(" --target ") => {
                format!("{before} --port {} --username {after}", self.hosts.smb)
            }
            _ => mapped,
        }
    }
}

/// `base`, a configuration, with the sections of `keys` in the place of its own.
pub(super) fn merged(base: &str, keys: &str) -> String {
    let mut sections = sections(base);
    for (name, text) in self::sections(keys) {
        match sections.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = text,
            None => sections.push((name, text)),
        }
    }
    sections.into_iter().map(|(_, text)| text).collect()
}

/// The keys at the left margin, each with its lines.
fn sections(text: &str) -> Vec<(String, String)> {
    let mut sections: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        let name = line.split_once(':').filter(|_| line.starts_with(|c: char| c.is_ascii_lowercase()));
        if let Some((name, _)) = name {
            sections.push((name.to_owned(), String::new()));
        }
        if let Some((_, text)) = sections.last_mut() {
            *text += &format!("{line}\n");
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_documents_name_is_mapped_to_what_is_here() {
        let here =
            Fixture { system: Path::new("/tmp/x"), hosts: HostPorts { smb: 4450, dcom: 1350 }, port: 1234 };
        assert_eq!(here.command("install a /usr/bin/"), "install a /tmp/x/usr/bin/");
        assert_eq!(here.command("curl localhost:9483"), "curl localhost:1234");
        assert_eq!(
            here.command("p discover --target web1.corp.example.com --username u"),
            "p discover --target 127.0.0.1 --port 4450 --username u"
        );
        assert_eq!(here.command("p query --config a --target web1"), "p query --config a --target web1");
        assert_eq!(
            here.configuration("a: 1\ntransports:\n  default: {smb: {encryption: required}}\n"),
            "a: 1\ntransports:\n  default: {smb: {port: 4450, encryption: required}}\n"
        );
        let dcom = "transports:\n  default: {dcom: {port: 135}}\n";
        assert_eq!(here.configuration(dcom), "transports:\n  default: {dcom: {port: 1350}}\n");
        assert_eq!(here.configuration("a: 1\n"), "a: 1\ntransports: {default: {smb: {port: 4450}}}\n");
        assert_eq!(here.configuration("plugins: {load: [pulse]}\n"), "plugins: {load: [pulse]}\n");
    }

    #[test]
    fn a_section_takes_the_place_of_the_one_of_its_name() {
        assert_eq!(merged("a: 1\nb:\n  c: 2\n", "b: 3\nd: 4\n"), "a: 1\nb: 3\nd: 4\n");
    }
}
