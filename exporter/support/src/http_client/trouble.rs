use crate::words;

words! {
    /// Why a request was not taken.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Trouble {
        Unreachable = "unreachable",
        /// A connection, but no trust.
        Tls = "tls",
        /// No answer in time.
        Timeout = "timeout",
        /// The server is not ready or has too much to do.
        Busy = "busy",
        /// The data is wrong in the server's eyes.
        Invalid = "invalid",
        Unauthorized = "unauthorized",
        /// Nothing there takes this kind of data.
        NotFound = "not_found",
        Unexpected = "unexpected",
        /// A header's value or a certificate cannot be read here.
        Secret = "secret",
    }
}

impl Trouble {
    /// What to do about it.
    #[must_use]
    pub const fn next_step(self) -> &'static str {
        match self {
            Self::Unreachable => "Check that the server runs, and that its URL and the network are right.",
            Self::Tls => "Check `tls.ca_file`, and the server's certificate.",
            Self::Timeout => "Check the load of the server, or raise `timeout`.",
            Self::Busy => "Wait at first: the data is sent again. Then read the server's log.",
            Self::Invalid => "Read the server's log: it does not accept the format.",
            Self::Unauthorized => "Check `headers`, and what the server allows.",
            Self::NotFound => "Check protocol and path of the URL.",
            Self::Unexpected => "Check that the URL is that of a server for this data.",
            Self::Secret => "Check the files and variables in `headers` and `tls`.",
        }
    }
}
