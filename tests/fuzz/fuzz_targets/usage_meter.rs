//! Answers of a model, as they are counted.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| openclaw_model_api::fuzz::usage_meter(bytes));
