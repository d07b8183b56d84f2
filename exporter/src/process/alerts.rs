//! Receivers of alerts, as the configuration has them.

use std::time::Duration;

use alerts::Notifier;
use config::Config;

/// From now on the receivers are those of `config`. Those that are let go have `grace` to take what waits.
pub(super) fn set(notifier: &mut Notifier, config: &Config, grace: Duration) {
    let url = config.web.external_url.as_ref().map(|url| {
        let scheme = if url.is_secure { "https" } else { "http" };
        format!("{scheme}://{}{}", url.address, url.path)
    });
    notifier.set(&config.alerts, url, grace);
}

/// The receivers of the first configuration.
pub(super) fn start(config: &Config) -> Notifier {
    let mut notifier = Notifier::new();
    set(&mut notifier, config, Duration::ZERO);
    notifier
}
