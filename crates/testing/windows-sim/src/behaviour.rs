//! How the simulated host behaves: values, and faults.

use std::path::PathBuf;
use std::time::Duration;

use ms_smb2::Dialect;
use wire::NtStatus;

use crate::choices::Choices;
use crate::rule::{Action, CallKind, Rule};
use crate::smb::Encryption;

/// How a host differs from a healthy one, which is the default.
#[derive(Clone, Debug)]
pub struct Behaviour {
    /// SMB dialects that it speaks. With none it answers as a server that knows SMB1 only.
    pub dialects: Vec<Dialect>,
    /// Whether clients may or must encrypt SMB.
    pub encryption: Encryption,
    /// Number of opens of `winreg` to refuse before one succeeds, as while the service starts.
    pub refused_opens: u32,
    /// The status of those refusals.
    pub refusal: NtStatus,
    /// Idle time by the host's clock after which the remote registry service stops: its pipes break and its queries are
    /// gone.
    pub idle_stop: Option<Duration>,
    /// Number of opens to refuse after such a stop, while the service starts again.
    pub refused_after_stop: u32,
    /// Number of messages into its pipes after which an SMB session expires.
    pub session_expires_after: Option<u32>,
    /// The answer to a client that binds the registry's interface.
    pub registry: RegistryMode,
    /// Whether `HKEY_PERFORMANCE_DATA` is closed to all callers.
    pub refuses_performance_data: bool,
    /// Whether the XML of its data collector sets lacks its end.
    pub cuts_set_xml: bool,
    /// The answer to a client that activates an object.
    pub activation: ActivationMode,
    /// Where it says that its objects are.
    pub object_bindings: ObjectBindings,
    /// How clients authenticate to its RPC servers.
    pub rpc_security: RpcSecurity,
    /// The keys of the host's services, with which it takes Kerberos.
    pub keytab: Option<PathBuf>,
    /// Whether clients may log on by NTLM.
    pub takes_ntlm: bool,
    /// Rules for single calls.
    pub rules: Vec<Rule>,
    /// What it does where the documents allow several behaviours.
    pub choices: Choices,
}

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            dialects: Dialect::ALL.to_vec(),
            encryption: Encryption::Allowed,
            refused_opens: 0,
            refusal: NtStatus::STATUS_PIPE_NOT_AVAILABLE,
            idle_stop: None,
            refused_after_stop: 0,
            session_expires_after: None,
            registry: RegistryMode::Open,
            refuses_performance_data: false,
            cuts_set_xml: false,
            activation: ActivationMode::Open,
            object_bindings: ObjectBindings::Reachable,
            rpc_security: RpcSecurity::Both,
            keytab: None,
            takes_ntlm: true,
            rules: Vec::new(),
            choices: Choices::default(),
        }
    }
}

/// The answer to a client that binds the registry's interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum RegistryMode {
    /// The registry is there.
    #[default]
    Open,
    /// An alter_context that asks for it is answered by a fault.
    AlterFault,
    /// An alter_context that asks for it ends the connection.
    AlterDrop,
    /// A bind is refused.
    BindRefused,
    /// A bind ends the connection.
    BindDrop,
    /// A bind is never answered.
    BindSilent,
}

/// The answer to a client that activates an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum ActivationMode {
    /// Classes that the host has are activated.
    #[default]
    Open,
    /// `E_ACCESSDENIED`: the caller may not activate anything over the network.
    AccessDenied,
    /// `REGDB_E_CLASSNOTREG`: the class is not installed.
    NotRegistered,
    /// `CO_E_SERVER_EXEC_FAILURE`: the class's program does not start.
    ServerFailure,
}

/// Where a host says that its objects are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum ObjectBindings {
    /// Where they are.
    #[default]
    Reachable,
    /// At their port of an address that is not routed: one of 192.0.2.0/24, which RFC 5737 leaves to documents.
    Unroutable,
    /// At a port where nobody listens: 9, which Windows gives to no program.
    Blocked,
    /// At no TCP port.
    NoTcp,
}

/// How clients authenticate to RPC servers over TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum RpcSecurity {
    /// With SPNEGO or with NTLM alone.
    #[default]
    Both,
    /// With NTLM alone.
    Ntlm,
    /// With NTLM alone, while the host says that it knows SPNEGO.
    SecretlyNtlm,
    /// With neither: Kerberos, which is not simulated.
    Neither,
}

impl Behaviour {
    /// The action for a call. Every rule that matches the call counts it; the first one that applies decides.
    pub(crate) fn action_for(&mut self, service: &str, call: CallKind) -> Option<Action> {
        let mut hit = None;
        for rule in self.rules.iter_mut().filter(|rule| rule.is_for(service, call)) {
            if rule.skip > 0 {
                rule.skip -= 1;
            } else if rule.times > 0 && hit.is_none() {
                rule.times = rule.times.saturating_sub(u32::from(rule.times != u32::MAX));
                hit = Some(rule.action.clone());
            }
        }
        hit
    }
}

#[cfg(test)]
mod tests {
    use wire::Win32Error;

    use super::*;

    #[test]
    fn a_rule_hits_as_many_calls_of_its_method_as_it_says() {
        let rules = vec!["6+1x1=drop".parse().unwrap(), "*=delay:3s".parse().unwrap()];
        let mut behaviour = Behaviour { rules, ..Behaviour::default() };
        let delay = Some(Action::Delay(Duration::from_secs(3)));
        let actions = [0, 6, 6, 6].map(|opnum| behaviour.action_for("pcq", call(opnum)));
        assert_eq!(actions, [delay.clone(), delay.clone(), Some(Action::Drop), delay]);
    }

    fn call(opnum: u16) -> CallKind {
        CallKind::new(opnum)
    }

    #[test]
    fn a_rule_for_one_service_lets_the_others_through() {
        let rules = vec!["winreg/15=drop".parse().unwrap(), "winreg/*=stall".parse().unwrap()];
        let mut behaviour = Behaviour { rules, ..Behaviour::default() };
        assert_eq!(behaviour.action_for("pcq", call(15)), None);
        assert_eq!(behaviour.action_for("winreg", call(15)), Some(Action::Drop));
        assert_eq!(behaviour.action_for("winreg", call(2)), Some(Action::Stall));
    }

    #[test]
    fn a_rule_for_one_request_code_lets_the_others_through() {
        let rules = vec!["1.9=status:15100".parse().unwrap()];
        let mut behaviour = Behaviour { rules, ..Behaviour::default() };
        assert_eq!(behaviour.action_for("pcq", CallKind { code: Some(5), ..call(1) }), None);
        let refused = Some(Action::Status(Win32Error(15100)));
        assert_eq!(behaviour.action_for("pcq", CallKind { code: Some(9), ..call(1) }), refused);
    }

    #[test]
    fn a_call_for_the_size_alone_is_not_outgrown() {
        let rules = vec!["6x1=grow:50".parse().unwrap()];
        let mut behaviour = Behaviour { rules, ..Behaviour::default() };
        assert_eq!(behaviour.action_for("pcq", CallKind { is_probe: true, ..call(6) }), None);
        assert_eq!(behaviour.action_for("pcq", call(6)), Some(Action::Grow(50)));
        assert_eq!(behaviour.action_for("pcq", call(6)), None);
    }
}
