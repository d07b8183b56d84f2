use telemetry::words;

words! {
    /// Why a request was not taken.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Trouble {
        /// No connection.
        Unreachable = "unreachable",
        /// A connection, but no trust.
        Tls = "tls",
        /// No answer in time.
        Timeout = "timeout",
        /// The server is not ready or has too much to do.
        Busy = "busy",
        /// The data is wrong in the server's eyes.
        Invalid = "invalid",
        /// We may not.
        Unauthorized = "unauthorized",
        /// Nothing there takes this kind of data.
        NotFound = "not_found",
        /// Any other answer.
        Unexpected = "unexpected",
        /// A header's value or a certificate cannot be read here.
        Secret = "secret",
    }
}
