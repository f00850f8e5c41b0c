//! HTTP of the runner, over the turn socket.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| openclaw_agent::fuzz::socket_answers(bytes));
