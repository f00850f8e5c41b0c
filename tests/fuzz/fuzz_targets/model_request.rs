//! Bodies of requests to a model.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| openclaw_model_api::fuzz::model_request(bytes));
