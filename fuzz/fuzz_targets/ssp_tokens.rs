#![no_main]

// `sspi` panics over some tokens, and `ssp` makes errors of that: such a panic is no finding, so that the hook must not
// end the process. One that comes out of the oracle ends it all the same.
libfuzzer_sys::fuzz_target!(init: std::panic::set_hook(Box::new(|_| ())), |bytes: &[u8]| {
    oracles::ssp::tokens(bytes);
});
