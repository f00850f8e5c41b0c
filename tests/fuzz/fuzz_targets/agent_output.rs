//! The event lines of the agent in the sandbox.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| openclaw_turn_process::fuzz::agent_output(bytes));
