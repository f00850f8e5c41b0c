//! Requests for the host's tools, through the pipe.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| openclaw_turn_process::fuzz::tool_pipe(bytes));
