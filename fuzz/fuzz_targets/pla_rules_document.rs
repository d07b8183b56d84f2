#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oracles::pla_report::rules_document(bytes));
