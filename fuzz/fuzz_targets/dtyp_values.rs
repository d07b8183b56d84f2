#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wire_oracles::dtyp::values(bytes));
