//! Placeholder until written.
use crate::Result;
use crate::report::Outcome;
use crate::workspace::Workspace;
pub(crate) fn run(_: &Workspace) -> Result<Outcome> {
    Err("not written".into())
}
