#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oracles::ms_smb2::server(bytes));
