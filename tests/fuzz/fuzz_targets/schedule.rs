//! Jobs as clients describe them.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| openclaw_runs::fuzz::schedule(text));
