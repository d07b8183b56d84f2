/// What an error leaves standing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Recovery {
    /// Everything: the error is the answer.
    Nothing,
    /// All but the context handles: the service was started anew, or forgot them, or failed.
    Handle,
    /// The connection; the pipe is gone. See [`Session::reopen`](crate::Session::reopen).
    Pipe,
    /// Nothing, or nothing that is worth keeping: who was denied access may be allowed it at the next logon. See [`Session::connect`](crate::Session::connect).
    Connection,
}
