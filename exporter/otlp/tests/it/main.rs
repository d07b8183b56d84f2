#![allow(missing_docs, reason = "tests")]

mod encode;
