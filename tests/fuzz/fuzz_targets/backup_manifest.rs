//! What a backup says of itself.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| openclaw_backup::fuzz::backup_manifest(text));
