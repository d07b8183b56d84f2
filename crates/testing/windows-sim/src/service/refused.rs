//! Answers that a rule replaces.

/// The stub of the reply to a call that a method refuses with `$status`, found among the requests of an interface by the
/// call's opnum; `None` for another method, or for a stub that is no request of it.
macro_rules! refused {
    ($opnum:expr, $stub:expr, $status:expr, [$($request:ident)*]) => {{
        let (opnum, stub, status) = ($opnum, $stub, $status);
        $(if opnum == $request::METHOD.opnum {
            $request::from_stub(stub).ok().and_then(|request| request.refused(status).to_stub().ok())
        } else)* {
            None
        }
    }};
}

pub(super) use refused;
