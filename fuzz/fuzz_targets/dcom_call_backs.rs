#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oracles::dcom_exporter::call_backs(bytes));
