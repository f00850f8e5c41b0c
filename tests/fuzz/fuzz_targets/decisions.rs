//! The file with decisions about calls, whatever a crash left in it.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| openclaw_handoff::fuzz::decisions(bytes));
