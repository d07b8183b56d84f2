#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oracles::perflib_v1::names(bytes));
