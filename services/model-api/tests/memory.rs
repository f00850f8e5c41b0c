//! What a provider's answer takes of memory where it is metered, alone in a process.

#![cfg(test)]

use openclaw_model_api::wire::{Api, Form, Tally};

/// Kilobytes of this process at most so far.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kilobytes = line.unwrap().split_whitespace().nth(1).unwrap();
    kilobytes.parse().unwrap()
}

/// Each of them is 7 million values.
#[test]
fn tally_keeps_nothing_of_values_that_it_does_not_know() {
    let values = "0,".repeat(7_000_000);
    let names = |name: &str| {
        format!("{{\"type\":\"x\",\"usage\":{{\"{name}\":[{values}0],\"output_tokens\":7}}}}")
    };
    let events = [
        names("input_tokens"),
        names("input_tokens_details"),
        format!("{{\"type\":\"x\",\"usage\":{{\"output_tokens\":7}},\"output\":[{values}0]}}"),
        format!(
            "{{\"type\":\"x\",\"usage\":{{\"output_tokens\":7}},\"output\":[{{\"a\":[{values}0]}}]}}"
        ),
    ];
    let before = peak();
    for event in events {
        let mut tally = Tally::new(Api::Anthropic, Form::Events, 300, None);
        for piece in format!("data: {event}\n\n").as_bytes().chunks(1 << 16) {
            tally.feed(piece);
        }
        assert_eq!(tally.usage().output, 7, "what else it says is lost");
    }
    let grown = (peak() - before) / 1024;
    assert!(grown < 100, "{grown} MB for a line of 14");
}
