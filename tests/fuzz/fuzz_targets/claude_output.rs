//! The lines of the Claude Code CLI.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| openclaw_turn_process::fuzz::claude_output(bytes));
