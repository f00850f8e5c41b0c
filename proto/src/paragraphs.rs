//! What is said in one round of a turn and in the next: two paragraphs, for
//! every reader of a run and whoever puts its pieces together.

use crate::event::Kind;

/// Line ends between two paragraphs.
const APART: usize = 2;

/// Follows what a run says.
#[derive(Debug, Default)]
pub struct Paragraphs {
    /// Something was said.
    has_spoken: bool,
    /// Line ends at the end of it.
    ends: usize,
    /// Something was done since.
    is_next_round: bool,
}

impl Paragraphs {
    /// Adds to the first piece of a round what sets it apart from the round
    /// before.
    pub fn set_apart(&mut self, kind: &mut Kind) {
        match kind {
            Kind::TextDelta { text } if !text.is_empty() => {
                if std::mem::take(&mut self.is_next_round) && self.has_spoken {
                    let begins = text.len() - text.trim_start_matches('\n').len();
                    let missing = APART.saturating_sub(self.ends + begins);
                    text.insert_str(0, &"\n".repeat(missing));
                }
                self.said(text);
            }
            Kind::ToolCall { .. } | Kind::ToolResult(_) | Kind::Steered { .. } => {
                self.is_next_round = true;
            }
            _ => {}
        }
    }

    fn said(&mut self, text: &str) {
        let words = text.trim_end_matches('\n');
        let ends = text.len() - words.len();
        self.ends = if words.is_empty() {
            self.ends + ends
        } else {
            ends
        };
        self.has_spoken = true;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call() -> Kind {
        Kind::ToolCall {
            id: "c".to_owned(),
            name: "read_file".to_owned(),
            arguments: json!({}),
        }
    }

    /// All that is said, where `None` is a call.
    fn said(pieces: &[Option<&str>]) -> String {
        let mut paragraphs = Paragraphs::default();
        let mut all = String::new();
        for piece in pieces {
            let mut kind = match piece {
                None => call(),
                Some(text) => Kind::TextDelta {
                    text: (*text).to_owned(),
                },
            };
            paragraphs.set_apart(&mut kind);
            if let Kind::TextDelta { text } = kind {
                all.push_str(&text);
            }
        }
        all
    }

    #[test]
    fn paragraphs_of_rounds_have_one_blank_line_between_them() {
        for pieces in [
            &[None, Some("Step"), Some(" 1."), None, None, Some("Step 2.")][..],
            &[Some("Step 1.\n"), None, Some("Step 2.")],
            &[
                Some("Step 1."),
                Some("\n"),
                Some("\n"),
                None,
                Some("Step 2."),
            ],
            &[Some("Step 1."), None, Some(""), Some("\n\nStep 2.")],
            &[Some("Step 1.\n"), None, Some("\nStep"), Some(" 2.")],
        ] {
            assert_eq!(said(pieces), "Step 1.\n\nStep 2.", "{pieces:?}");
        }
        assert_eq!(said(&[Some("one "), Some("two")]), "one two");
        assert_eq!(said(&[None, Some("one")]), "one");
    }
}
