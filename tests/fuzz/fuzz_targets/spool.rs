//! Spools, whatever a crash left in one, and what is written after it.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| openclaw_handoff::fuzz::spool(bytes));
