//! Telegram's updates.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| openclaw_telegram::fuzz::telegram_update(text));
