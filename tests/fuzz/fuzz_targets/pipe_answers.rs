//! Answers of the runner, through the pipe.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| openclaw_agent::fuzz::pipe_answers(bytes));
