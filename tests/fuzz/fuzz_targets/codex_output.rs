//! The lines of the Codex CLI.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| openclaw_turn_process::fuzz::codex_output(bytes));
