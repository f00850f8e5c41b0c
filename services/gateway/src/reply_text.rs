//! The text of a reply, put together from a run's events.

use openclaw_proto::event::Kind;

/// What was said so far.
#[derive(Debug, Default)]
pub(crate) struct ReplyText {
    text: String,
    /// Tools were used since the last text.
    interrupted: bool,
}

impl ReplyText {
    /// The piece that `kind` adds, if it is one. What is said before a tool's
    /// work and after it are two paragraphs.
    pub(crate) fn take(&mut self, kind: &Kind) -> Option<String> {
        match kind {
            Kind::TextDelta { text } if !text.is_empty() => {
                let apart = self.interrupted && !self.text.is_empty() && !self.text.ends_with('\n');
                let piece = match apart {
                    true => format!("\n\n{text}"),
                    false => text.clone(),
                };
                self.interrupted = false;
                self.text.push_str(&piece);
                Some(piece)
            }
            Kind::ToolCall { .. } | Kind::ToolResult(_) => {
                self.interrupted = true;
                None
            }
            _ => None,
        }
    }

    /// All of it.
    pub(crate) fn whole(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use openclaw_proto::event::ToolResult;

    use super::*;

    fn delta(text: &str) -> Kind {
        Kind::TextDelta {
            text: text.to_owned(),
        }
    }

    fn result() -> Kind {
        Kind::ToolResult(ToolResult {
            call_id: String::new(),
            success: true,
            output: String::new(),
            error: None,
        })
    }

    #[test]
    fn text_around_tools_is_told_apart_and_pieces_make_the_whole() {
        let mut text = ReplyText::default();
        let kinds = [
            result(),
            delta("Let me"),
            delta(" look."),
            result(),
            delta("Found"),
            delta(" it."),
        ];
        let pieces: Vec<_> = kinds.iter().filter_map(|kind| text.take(kind)).collect();
        assert_eq!(pieces.concat(), "Let me look.\n\nFound it.");
        assert_eq!(text.whole(), pieces.concat());
    }
}
