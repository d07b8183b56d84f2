use parking_lot::{Mutex, MutexGuard};

/// One call, as its stubs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedCall {
    /// The service that was called, by its name.
    pub service: &'static str,
    pub opnum: u16,
    /// What the client sent.
    pub request: Vec<u8>,
    /// What the host answered.
    pub response: Vec<u8>,
}

/// The calls of a host, recorded from the first [`take`](Self::take) on.
#[derive(Debug, Default)]
pub(crate) struct Recordings(Mutex<Option<Vec<RecordedCall>>>);

impl Recordings {
    /// Returns the calls recorded so far, and records those that follow.
    pub(crate) fn take(&self) -> Vec<RecordedCall> {
        self.calls().replace(Vec::new()).unwrap_or_default()
    }

    /// Records a call that was not answered by a fault.
    pub(crate) fn add(&self, service: &'static str, opnum: u16, request: &[u8], response: &[u8]) {
        if let Some(calls) = self.calls().as_mut().filter(|calls| calls.len() < CALLS_MAX) {
            let (request, response) = (request.to_vec(), response.to_vec());
            calls.push(RecordedCall { service, opnum, request, response });
        }
    }

    fn calls(&self) -> MutexGuard<'_, Option<Vec<RecordedCall>>> {
        self.0.lock()
    }
}

/// Calls that are kept; the first ones.
const CALLS_MAX: usize = 10_000;
