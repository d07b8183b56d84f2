#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wire_oracles::perflib_v1::names(bytes));
