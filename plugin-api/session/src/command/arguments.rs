use std::time::Duration;

use clap::Args;

use crate::Encryption;

/// Options for the host and the identity.
#[derive(Args, Clone, Debug)]
pub struct HostArguments {
    /// The host, or the name of a target in the configuration
    #[arg(long, value_name = "HOST")]
    pub(super) target: String,
    /// The identity that logs on, from the configuration [default: the target's, or the only one allowed]
    #[arg(long, value_name = "NAME")]
    pub(super) identity: Option<String>,
}

impl HostArguments {
    /// Those of a command that can do without a host, and has declared both as optional.
    #[must_use]
    pub const fn new(target: String, identity: Option<String>) -> Self {
        Self { target, identity }
    }
}

/// Options for the transport. The exporter adds those of its configuration.
#[derive(Args, Clone, Debug)]
pub struct TransportArguments {
    /// The port of SMB
    #[arg(long, value_name = "N", default_value_t = 445)]
    pub(super) port: u16,
    /// Time limit of the name lookup, and of the TCP connection
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = parse_duration)]
    pub(super) connect_timeout: Duration,
    #[arg(long, value_name = "MODE", default_value = "preferred")]
    pub(super) smb_encryption: Encryption,
}

/// Options for the transport of objects. The exporter adds those of its configuration.
#[derive(Args, Clone, Debug)]
pub struct ObjectTransportArguments {
    /// The port of the host's object resolver
    #[arg(long, value_name = "N", default_value_t = 135)]
    pub(super) port: u16,
    /// Time limit of the name lookup, and of each TCP connection
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = parse_duration)]
    pub(super) connect_timeout: Duration,
}

impl ObjectTransportArguments {
    /// Those of a command whose plugin reaches hosts by SMB, too, so that its option for the port is `dcom-port`.
    #[must_use]
    pub const fn new(port: u16, connect_timeout: Duration) -> Self {
        Self { port, connect_timeout }
    }
}

/// A time such as `500ms`, `1s`, `1m` or `1m 30s`, at most a day: the value parser of options.
///
/// # Errors If the text is not a time, or zero.
pub fn parse_duration(text: &str) -> Result<Duration, &'static str> {
    // The exporter writes some durations as `1m 30s`.
    let parts: Option<Vec<Duration>> = text.split_whitespace().map(duration).collect();
    let sum = parts.map(|parts| parts.iter().sum()).filter(|sum: &Duration| !sum.is_zero());
    sum.ok_or("write a time such as `500ms`, `1s` or `1m`")
}

fn duration(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..digits].parse().ok()?;
    let unit = match &text[digits..] {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(number * unit).ok().filter(|time| *time <= DURATION_MAX)
}

/// Longer than anybody waits.
const DURATION_MAX: Duration = Duration::from_secs(24 * 3600);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(parse_duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(parse_duration("1m 30s"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("2"), Ok(Duration::from_secs(2)));
        for text in ["0s", "-1s", "soon", "1e99s", "99999h"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
