//! What may be asked for at the model's door.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| openclaw_proxy::fuzz::model_door(bytes));
