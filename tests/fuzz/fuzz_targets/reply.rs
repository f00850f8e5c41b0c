//! Replies of agents on channels: buttons, reactions and files.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| openclaw_inbound::fuzz::reply(text));
