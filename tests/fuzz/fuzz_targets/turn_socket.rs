//! HTTP of the agent in the sandbox, over the turn socket.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| openclaw_turn_process::fuzz::turn_socket(bytes));
