//! Times as people say them.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| openclaw_runs::fuzz::when(text));
