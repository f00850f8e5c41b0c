//! What may be asked for at the model's door.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| openclaw_agent_runner::fuzz::model_door(bytes));
