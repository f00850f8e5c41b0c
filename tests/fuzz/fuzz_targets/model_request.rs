//! Bodies of requests to a model.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| openclaw_agent_runner::fuzz::model_request(bytes));
