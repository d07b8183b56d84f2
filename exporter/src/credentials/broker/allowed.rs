//! Which requests may have which secret, by the configuration.

use std::net::IpAddr;

use config::Identity;
use plugin_abi::CredentialRequest;

use super::super::Resolved;
use super::Identities;

/// The requested identity, if the configuration allows `request`; `Err` is the reason as a sentence. Names are not
/// resolved.
pub(super) fn allowed(request: &CredentialRequest<'_>, identities: &Identities) -> Result<Identity, String> {
    let name = request.identity;
    if name.is_empty() {
        return Err("the target names no identity; write `identity: NAME`, one of `identities`".to_owned());
    }
    let identity = identities.get(name).ok_or_else(|| format!("there is no identity `{name}`"))?;
    let not_in_list = |host: &str| Err(format!("`{host}` is not in the `allow_hosts` of identity `{name}`"));
    if let Some(target) = request.configured {
        if target.identity != name {
            return Err(format!("target `{}` has identity `{}`, not `{name}`", target.name, target.identity));
        }
        let is_its_address = config::address(request.host).is_some();
        if !is_its_address && !target.host.eq_ignore_ascii_case(request.host) {
            return Err(format!(
                "target `{}` is host `{}`, not `{}`",
                target.name, target.host, request.host
            ));
        }
        if !identity.allow_hosts.allows_host(&target.host) {
            return not_in_list(&target.host);
        }
        // A plugin may name the address that it reached instead of the name that it was given.
        let named = config::address(&target.host).is_none();
        if is_its_address && named {
            let address: Vec<IpAddr> = config::address(request.host).into_iter().collect();
            let needed = identity.allow_hosts.needs_addresses(&target.host);
            return if !needed || identity.allow_hosts.allows_addresses(&address) {
                Ok(identity.clone())
            } else {
                Err(format!(
                    "`{}` was reached at {}, which is not in the `allow_hosts` of identity `{name}`",
                    target.host, request.host
                ))
            };
        }
    }
    if identity.allow_hosts.allows_host(request.host) {
        Ok(identity.clone())
    } else {
        not_in_list(request.host)
    }
}

/// The sentence for a name whose addresses are not allowed.
pub(super) fn refused_addresses(host: &str, resolved: &Resolved) -> String {
    let addresses = match resolved {
        Ok(addresses) => addresses,
        Err(reason) => {
            return format!(
                "`{host}` does not resolve ({reason}), so its addresses cannot be checked against `allow_hosts`"
            );
        }
    };
    let shown: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    format!("`{host}` resolves to {}, which is not in `allow_hosts`", shown.join(", "))
}
