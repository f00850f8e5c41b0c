//! Heads of requests to the gateway's TCP port.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| openclaw_doors::fuzz::front_head(bytes));
