#![allow(missing_docs, reason = "tests")]

mod comev;
mod comt;
mod dcom;
mod oaut;
