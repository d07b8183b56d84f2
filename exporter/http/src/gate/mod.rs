//! Who may read: the web configuration file and the files that it names, as they are now.
//!
//! They are looked at each second, off the way of any request, and read again where one of them changed: a renewed
//! certificate, another password or another limit counts from then on. What cannot be used is reported once, and the last
//! good state stays. Taking TLS or the last user away needs a restart, so that a file that is empty for the moment of
//! being written opens nothing.

mod figures;
mod login;
mod tls;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use config::Report;
use config::web_file::{RateLimit, Users, WebFile};
use hyper::HeaderMap;
use parking_lot::{Mutex, RwLock};
use prometheus_client::registry::Registry;
use support::input::file::{self, Stamp};
use tokio_rustls::rustls::ServerConfig;
use tracing::{info, warn};

pub use self::figures::METRICS;
pub(crate) use self::figures::{Figures, Refusal};
pub(crate) use self::login::{Login, Verdict, credentials};
pub(crate) use self::tls::{NotAllowed, certificate};

use self::tls::Tls;

/// How often the files are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// A certificate that ends within it is warned of by whoever checks a configuration.
const EXPIRES_SOON: Duration = Duration::from_secs(14 * 24 * 3600);

/// What a web configuration file and the files that it names make together.
pub(super) struct Protection {
    tls: Option<Tls>,
    pub(super) headers: HeaderMap,
    pub(super) users: Users,
    bucket: Option<Arc<Bucket>>,
}

/// Decides who may read, and remembers accepted passwords.
pub struct Gate {
    path: Option<PathBuf>,
    current: RwLock<Arc<Protection>>,
    watched: Mutex<Watched>,
    login: Login,
    figures: Figures,
}

struct Watched {
    files: Files,
    is_expiry_told: bool,
}

impl Gate {
    /// Lets everybody read, or whom the file at `path` allows.
    ///
    /// # Errors
    /// Everything that is wrong with it and the files that it names.
    pub fn open(path: Option<&Path>, now: SystemTime) -> Result<Self, Report> {
        let mut files = Files::new(now);
        let protection = match path {
            Some(path) => Protection::read(path, &mut files)?,
            None => Protection::of(&WebFile::default(), None),
        };
        let gate = Self {
            path: path.map(Path::to_owned),
            current: RwLock::new(Arc::new(protection)),
            watched: Mutex::new(Watched { files, is_expiry_told: false }),
            login: Login::default(),
            figures: Figures::default(),
        };
        gate.log_state(now);
        Ok(gate)
    }

    /// What is in force now.
    pub(super) fn current(&self) -> Arc<Protection> {
        Arc::clone(&self.current.read())
    }

    pub(super) fn login(&self) -> &Login {
        &self.login
    }

    pub(super) fn figures(&self) -> &Figures {
        &self.figures
    }

    /// Adds what is known of the gate's work to the exporter's metrics.
    pub fn register(&self, registry: &mut Registry) {
        self.figures.register(registry, self.path.is_some());
    }

    /// The web configuration file, if there is one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// What is no mistake of the files, but will be missed.
    #[must_use]
    pub fn warnings(&self, now: SystemTime) -> Vec<String> {
        let current = self.current();
        let mut warnings = Vec::new();
        if self.path.is_some() && current.tls.is_none() && current.users.is_empty() {
            warnings.push("requires neither TLS nor passwords: everybody can read".to_owned());
        }
        if current.tls.is_none() && !current.users.is_empty() {
            warnings.push(
                "requires passwords without TLS: they are sent over the network unencrypted".to_owned(),
            );
        }
        for (what, facts) in current.certificates() {
            let left_s = facts.not_after_s - unix_s(now);
            if facts.not_before_s > unix_s(now) {
                warnings.push(format!("the certificate in {what} is not valid yet"));
            } else if left_s < 0 {
                warnings.push(format!("the certificate in {what} has expired; renew it"));
            } else if left_s < unix_s(SystemTime::UNIX_EPOCH + EXPIRES_SOON) {
                let hours = left_s / 3600;
                warnings.push(format!("the certificate in {what} expires in {hours} hours; renew it"));
            }
        }
        warnings
    }

    /// Looks at the files again and again, for as long as it is polled.
    pub async fn follow(self: Arc<Self>) {
        if self.path.is_none() {
            return;
        }
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let gate = Arc::clone(&self);
            // A look that panicked is one that found nothing.
            let _ = tokio::task::spawn_blocking(move || gate.look(SystemTime::now())).await;
        }
    }

    /// Checks the files once, and applies changes.
    pub fn look(&self, now: SystemTime) {
        let Some(path) = &self.path else { return };
        let may_have_changed = self.watched().files.may_have_changed(now);
        if may_have_changed {
            let mut files = Files::new(now);
            let read = Protection::read(path, &mut files).and_then(|next| self.allow(path, next));
            let contents_are_new = files.contents() != self.watched().files.contents();
            self.watched().files = files;
            match read {
                Ok(next) if contents_are_new => self.take(next),
                Err(report) if contents_are_new => self.refuse(&report),
                // What was read is what is in force, or was reported already.
                _ => {}
            }
        }
        self.log_state(now);
    }

    /// Whether `next` may follow what is in force.
    fn allow(&self, path: &Path, next: Protection) -> Result<Protection, Report> {
        let current = self.current();
        let lost = if current.tls.is_some() && next.tls.is_none() {
            "`tls_server_config`"
        } else if !current.users.is_empty() && next.users.is_empty() {
            "`basic_auth_users`"
        } else {
            return Ok(next);
        };
        let message = format!("{lost} was removed, which needs a restart");
        let hint = "put it back, or restart the program to run without it".to_owned();
        Err(Report::of_file(&path.display().to_string(), message, Some(hint)))
    }

    fn take(&self, mut next: Protection) {
        let current = self.current();
        if let (Some(new), Some(old)) = (&next.bucket, &current.bucket)
            && new.limit() == old.limit()
        {
            next.bucket = Some(Arc::clone(old));
        }
        let (tls, users) = (next.tls.is_some(), next.users.len());
        // Metrics are updated before the log record.
        self.show_ends(&next);
        self.figures.read_ended(true);
        *self.current.write() = Arc::new(next);
        self.watched().is_expiry_told = false;
        info!(tls, users, "Web configuration reloaded");
    }

    fn refuse(&self, report: &Report) {
        self.figures.read_ended(false);
        for problem in report.to_string().lines() {
            warn!(problem, "Web configuration refused; the last good one stays in use");
        }
    }

    /// Updates the metrics of certificates' ends, and logs once when one has expired.
    fn log_state(&self, now: SystemTime) {
        let current = self.current();
        self.show_ends(&current);
        let has_ended = current.certificates().any(|(_, facts)| facts.not_after_s < unix_s(now));
        let mut watched = self.watched();
        if has_ended && !std::mem::replace(&mut watched.is_expiry_told, true) {
            drop(watched);
            for (what, facts) in current.certificates() {
                if facts.not_after_s < unix_s(now) {
                    warn!(
                        key = what,
                        "Certificate has expired; renew its file, which is reloaded automatically"
                    );
                }
            }
        }
    }

    fn show_ends(&self, protection: &Protection) {
        for (what, facts) in protection.certificates() {
            self.figures.expires(what, facts.not_after_s);
        }
    }

    fn watched(&self) -> parking_lot::MutexGuard<'_, Watched> {
        self.watched.lock()
    }
}

impl Protection {
    fn read(path: &Path, files: &mut Files) -> Result<Self, Report> {
        let file = path.display().to_string();
        let whole = |message| {
            let hint = "name a readable file in `web.config_file` or with --web.config.file".to_owned();
            Report::of_file(&file, message, Some(hint))
        };
        let text = files.read(path).map_err(whole)?;
        let text = String::from_utf8(text).map_err(|error| whole(format!("is not UTF-8: {error}")))?;
        let base = path.parent().unwrap_or_else(|| Path::new("."));
        let read = WebFile::parse(&file, &text, base)?;
        let tls = match &read.tls {
            Some(tls) => {
                let made = tls::load(tls, read.http2, files);
                Some(made.map_err(|problem| Report::new(&file, vec![problem]))?)
            }
            None => None,
        };
        Ok(Self::of(&read, tls))
    }

    fn of(file: &WebFile, tls: Option<Tls>) -> Self {
        Self {
            tls,
            headers: file.headers.clone(),
            users: file.users.clone(),
            bucket: file.rate_limit.map(|limit| Arc::new(Bucket::new(limit))),
        }
    }

    /// The TLS configuration; `None` without TLS.
    pub(super) fn tls(&self) -> Option<Arc<ServerConfig>> {
        self.tls.as_ref().map(|tls| Arc::clone(&tls.config))
    }

    /// Whether clients' certificates are verified.
    pub(super) fn verifies_clients(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.verifies_clients)
    }

    /// Takes a token for a request.
    ///
    /// # Errors
    /// How long it takes until there is one again.
    pub(super) fn admit(&self, now: std::time::Instant) -> Result<(), Duration> {
        self.bucket.as_ref().map_or(Ok(()), |bucket| bucket.take(now))
    }

    fn certificates(&self) -> impl Iterator<Item = (&'static str, &tls::Facts)> {
        let of_clients = self.tls.as_ref().and_then(|tls| tls.client_ca.as_ref());
        let of_server = self.tls.as_ref().map(|tls| ("cert_file", &tls.server));
        of_server.into_iter().chain(of_clients.map(|facts| ("client_ca_file", facts)))
    }
}

fn unix_s(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

// The files that a protection is made of, and whether they are still those that were read.

/// No certificate, key or web configuration has more.
const FILE_BYTES_MAX: usize = 4 << 20;

/// What was read, and when it was written as of then.
struct Files {
    now: SystemTime,
    seen: Vec<(PathBuf, Option<Stamp>)>,
    contents: DefaultHasher,
}

impl Files {
    fn new(now: SystemTime) -> Self {
        Self { now, seen: Vec::new(), contents: DefaultHasher::new() }
    }

    /// Reads a file, and tracks it even if it cannot be read.
    fn read(&mut self, path: &Path) -> Result<Vec<u8>, String> {
        let read = self.read_anew(path);
        (path, &read).hash(&mut self.contents);
        read
    }

    /// What all of them held, or why it could not be read, as a number to compare.
    fn contents(&self) -> u64 {
        self.contents.finish()
    }

    fn read_anew(&mut self, path: &Path) -> Result<Vec<u8>, String> {
        let seen = Stamp::look(path, self.now);
        self.seen.push((path.to_owned(), seen));
        file::read(path, FILE_BYTES_MAX).map_err(|error| error.to_string())
    }

    /// Whether one of them is another than the one that was read, or was so young then that it may be.
    fn may_have_changed(&self, now: SystemTime) -> bool {
        let differs = |(path, seen): &(PathBuf, Option<Stamp>)| {
            Stamp::may_differ(seen.as_ref(), Stamp::look(path, now).as_ref())
        };
        self.seen.iter().any(differs)
    }
}

// How many requests are taken in a time.

/// A bucket of tokens, full at the beginning. A request takes one; one comes back each interval.
struct Bucket {
    limit: RateLimit,
    /// When the bucket will be full. What lies ahead of now is what was taken, an interval for each token.
    full_at: Mutex<Option<Instant>>,
}

impl Bucket {
    fn new(limit: RateLimit) -> Self {
        Self { limit, full_at: Mutex::new(None) }
    }

    fn limit(&self) -> RateLimit {
        self.limit
    }

    /// Takes a token.
    ///
    /// # Errors
    /// How long it takes until there is one.
    fn take(&self, now: Instant) -> Result<(), Duration> {
        let RateLimit { interval, burst } = self.limit;
        let mut full_at = self.full_at.lock();
        let full_after = full_at.map_or(now, |full_at| full_at.max(now)) + interval;
        let taken = full_after.duration_since(now);
        match taken.checked_sub(interval.saturating_mul(burst)) {
            None | Some(Duration::ZERO) => {
                *full_at = Some(full_after);
                Ok(())
            }
            Some(wait) => Err(wait),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_answered_and_then_one_request_an_interval() {
        let second = Duration::from_secs(1);
        let bucket = Bucket::new(RateLimit { interval: second, burst: 3 });
        let began = Instant::now();
        for _ in 0..3 {
            assert_eq!(bucket.take(began), Ok(()));
        }
        assert_eq!(bucket.take(began), Err(second));
        assert_eq!(bucket.take(began + second / 4), Err(second * 3 / 4));
        // What was refused took nothing.
        assert_eq!(bucket.take(began + second), Ok(()));
        assert_eq!(bucket.take(began + second), Err(second));
        // Not more than the burst, however long there was no request.
        let later = began + second * 3600;
        assert_eq!((0..10).filter(|_| bucket.take(later).is_ok()).count(), 3);
    }
}
