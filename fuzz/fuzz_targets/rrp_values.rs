#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oracles::ms_rrp::values(bytes));
