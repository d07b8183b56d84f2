#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oracles::counter_types::path(bytes));
