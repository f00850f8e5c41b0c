//! What channel daemons hand in.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| openclaw_doors::fuzz::hand_in(bytes));
