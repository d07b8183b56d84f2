#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| exporter_oracles::alerts_answer(bytes));
