//! Answers of a model, as they are counted.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| openclaw_agent_runner::fuzz::usage_meter(bytes));
