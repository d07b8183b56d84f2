#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wire_oracles::rpc_cells::file(bytes));
