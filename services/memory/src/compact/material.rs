//! The text given to the model that writes the summary.

use std::fmt::Write as _;

use openclaw_sessions::history::HistoryMessage;

use super::step::Step;

/// Of one tool result, in characters: what matters of it the assistant said.
const RESULT: usize = 2_000;
/// Of all, in characters; a model with a window of 100,000 tokens reads it in
/// one piece. The beginning gives way: an earlier summary covers it best.
const LIMIT: usize = 300_000;

/// The steps as a text, oldest first.
pub(crate) fn material(steps: &[Step]) -> String {
    let mut text = String::new();
    for item in steps.iter().flat_map(|step| &step.items) {
        // Writing to a String cannot fail.
        let _ = match &item.said {
            HistoryMessage::User { text: said } => writeln!(text, "User: {said}"),
            HistoryMessage::Assistant { text: said, calls } => {
                if !said.is_empty() {
                    let _ = writeln!(text, "Assistant: {said}");
                }
                calls.iter().try_for_each(|call| {
                    let arguments = call.arguments.to_string();
                    writeln!(text, "Called {}: {}", call.name, head(&arguments, RESULT))
                })
            }
            HistoryMessage::Tool { name, output, .. } => {
                writeln!(text, "{name} said: {}", head(output, RESULT))
            }
        };
    }
    let excess = text.chars().count().saturating_sub(LIMIT);
    match text.char_indices().nth(excess) {
        Some((at, _)) if excess > 0 => format!("[…]\n{}", &text[at..]),
        _ => text,
    }
}

fn head(text: &str, characters: usize) -> &str {
    text.char_indices()
        .nth(characters)
        .map_or(text, |(at, _)| &text[..at])
}
