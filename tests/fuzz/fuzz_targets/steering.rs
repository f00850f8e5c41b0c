//! The file with messages for a turn that goes on.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| openclaw_handoff::fuzz::steering(bytes));
