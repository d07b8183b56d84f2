#![allow(missing_docs, reason = "tests")]

mod pcq;
mod perflib_v1;
mod rrp;
