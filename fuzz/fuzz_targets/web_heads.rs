#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oracles::exporter::web_heads(bytes));
