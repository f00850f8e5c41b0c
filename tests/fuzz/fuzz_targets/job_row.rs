//! Jobs as the ledger's rows have them.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| openclaw_runs::fuzz::job_row(text));
