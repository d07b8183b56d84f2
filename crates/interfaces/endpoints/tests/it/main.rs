#![allow(missing_docs, reason = "tests")]

mod epm;
mod mgmt;
