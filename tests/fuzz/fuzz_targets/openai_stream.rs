//! Streams of chat completions.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| openclaw_agent::fuzz::openai_stream(bytes));
