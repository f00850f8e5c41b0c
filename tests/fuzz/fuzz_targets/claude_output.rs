//! The lines of the Claude Code CLI.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| openclaw_agent_runner::fuzz::claude_output(bytes));
