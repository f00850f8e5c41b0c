//! The text of a reply, put together from a run's events.

use futures_util::StreamExt as _;
use openclaw_proto::event::Kind;

use crate::door::stream::Events;

/// A whole answer that says that there is nothing to say, as in OpenClaw.
pub(crate) const NO_REPLY: &str = "NO_REPLY";

/// What an agent that was woken answers when nobody needs to hear of it, as in
/// OpenClaw.
pub(crate) const SILENT: [&str; 2] = [NO_REPLY, "HEARTBEAT_OK"];

/// All that a run says, or why it did not come to its end.
pub(crate) async fn of(mut events: Events) -> Result<String, String> {
    let mut text = ReplyText::default();
    while let Some(event) = events.next().await {
        match event.map(|event| event.kind) {
            Ok(Kind::Failed(failed)) => return Err(failed.message),
            Ok(Kind::Aborted { reason, .. }) => return Err(format!("aborted: {reason}")),
            Ok(kind) => drop(text.take(&kind)),
            Err(status) => return Err(status.message().to_owned()),
        }
    }
    Ok(text.whole())
}

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
