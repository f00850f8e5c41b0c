//! Members of the archive of a backup.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| openclaw_backup::fuzz::backup_members(bytes));
