//! URLs of what is sent to, and what is refused in them.

use std::fmt;
use std::path::Path;

use crate::input::secret::{self, SecretSource};
use hyper::Uri;

use super::Failure;
use super::Trouble;
use super::{ClientTls, Server};

/// An `http://` or `https://` URL, taken apart.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpUrl {
    /// Whether it is `https`.
    pub secure: bool,
    /// A name or an address, that of IPv6 in brackets.
    pub host: String,
    pub port: u16,
    /// What comes after the port, with what comes after `?`. It may be secret.
    pub path: String,
}

/// What is wrong with a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlProblem {
    /// It cannot be read.
    NotUrl,
    /// It has another scheme, or none.
    NotHttp,
    /// It has no host.
    NoHost,
    /// It has a user, or a user and a password.
    HasUser,
}

impl HttpUrl {
    /// Reads one. Without a port it is `port`, or that of the scheme.
    ///
    /// # Errors
    /// It is none that requests can go to. The problem does not show it.
    pub fn parse(text: &str, port: Option<u16>) -> Result<Self, UrlProblem> {
        let uri: Uri = text.parse().map_err(|_| UrlProblem::NotUrl)?;
        let secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(UrlProblem::NotHttp),
        };
        let authority = uri.authority().ok_or(UrlProblem::NoHost)?;
        if authority.as_str().contains('@') {
            return Err(UrlProblem::HasUser);
        }
        let host = authority.host().to_owned();
        if host.is_empty() {
            return Err(UrlProblem::NoHost);
        }
        let port = authority.port_u16().or(port).unwrap_or(if secure { 443 } else { 80 });
        let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        Ok(Self { secure, host, port, path })
    }

    /// Reads the one in a file, which is secret. It is read again each time, so that one that was renewed is used.
    ///
    /// # Errors
    /// The file cannot be read, or holds no URL. The failure does not show its content.
    pub fn read(file: &Path) -> Result<Self, Failure> {
        let failed = |message: String| Failure::new(Trouble::Secret, message);
        let text = secret::read(&SecretSource::File(file.to_owned())).map_err(failed)?;
        // Checked by the one who read it.
        let text = std::str::from_utf8(&text).unwrap_or_default().trim();
        Self::parse(text, None).map_err(|problem| failed(format!("the URL in {} {problem}", file.display())))
    }

    /// The same text without the host and the path of this URL, which are secret.
    #[must_use]
    pub fn hidden_in(&self, text: &str) -> String {
        self.path_hidden_in(text).replace(&self.host, HIDDEN)
    }

    /// The same text without the path of this URL.
    #[must_use]
    pub fn path_hidden_in(&self, text: &str) -> String {
        let path = self.path.trim_matches('/');
        if path.is_empty() { text.to_owned() } else { text.replace(path, HIDDEN) }
    }

    /// Where requests go, by HTTP/1.1.
    #[must_use]
    pub fn server(&self, tls: ClientTls) -> Server {
        Server { secure: self.secure, host: self.host.clone(), port: self.port, http2: false, tls }
    }
}

const HIDDEN: &str = "***";

/// Without the path, which may be secret.
impl fmt::Debug for HttpUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.secure { "https" } else { "http" };
        write!(f, "{scheme}://{}:{}/***", self.host, self.port)
    }
}

impl fmt::Display for UrlProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotUrl => "is no URL",
            Self::NotHttp => "is no `http://` or `https://` URL",
            Self::NoHost => "has no host",
            Self::HasUser => "has a user",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_taken_apart_and_its_path_is_not_shown() {
        let url = HttpUrl::parse("https://hooks.example.com/services/T0/hunter2?key=x", Some(9)).unwrap();
        assert_eq!(
            (url.secure, url.host.as_str(), url.port, url.path.as_str()),
            (true, "hooks.example.com", 9, "/services/T0/hunter2?key=x")
        );
        assert_eq!(format!("{url:?}"), "https://hooks.example.com:9/***");
        let short = HttpUrl::parse("http://[::1]", None).unwrap();
        assert_eq!((short.host.as_str(), short.port, short.path.as_str()), ("[::1]", 80, "/"));
    }

    #[test]
    fn one_in_a_file_is_read_and_what_is_said_of_it_does_not_show_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("url");
        let read = |text: &str| {
            std::fs::write(&file, text).unwrap();
            HttpUrl::read(&file)
        };
        let url = read("  https://hooks.example.com/T0/hunter2\n").unwrap();
        assert_eq!(url.path, "/T0/hunter2");
        assert_eq!(
            url.hidden_in("not valid for hooks.example.com: /T0/hunter2 is gone"),
            "not valid for ***: /*** is gone"
        );
        for (text, says) in [
            ("", "is empty"),
            ("ftp://x/hunter2", "is no `http://` or `https://` URL"),
            ("https://a:hunter2@b/", "has a user"),
            ("https://a/\nhttps://b/hunter2", "is no URL"),
        ] {
            let failure = read(text).unwrap_err();
            assert_eq!(failure.trouble, Trouble::Secret);
            assert!(failure.message.ends_with(says), "{}", failure.message);
            assert!(!failure.message.contains("hunter2"), "{}", failure.message);
        }
        std::fs::remove_file(&file).unwrap();
        assert_eq!(HttpUrl::read(&file).unwrap_err().trouble, Trouble::Secret);
    }

    #[test]
    fn what_requests_cannot_go_to_is_refused() {
        for (text, problem) in [
            ("", UrlProblem::NotUrl),
            ("http://a b", UrlProblem::NotUrl),
            ("hooks.example.com", UrlProblem::NotHttp),
            ("ftp://hooks.example.com/", UrlProblem::NotHttp),
            ("/services", UrlProblem::NotHttp),
            ("https://user:hunter2@hooks.example.com/", UrlProblem::HasUser),
        ] {
            assert_eq!(HttpUrl::parse(text, None), Err(problem), "{text}");
        }
        assert!(HttpUrl::parse("http://:80/x", None).is_err());
    }
}
