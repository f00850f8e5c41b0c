//! Text on its way to Telegram.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| openclaw_telegram::fuzz::telegram_text(text));
