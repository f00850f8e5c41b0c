//! Streams of the Messages API.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| openclaw_agent::fuzz::anthropic_stream(bytes));
