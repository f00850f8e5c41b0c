//! The text of a reply, put together from a run's events.

use futures_util::StreamExt as _;
use openclaw_proto::event::Kind;

use crate::stream::Events;

/// A whole answer that says that there is nothing to say, as in OpenClaw.
pub const NO_REPLY: &str = "NO_REPLY";

/// What an agent that was woken answers when nobody needs to hear of it, as in
/// OpenClaw.
pub(crate) const SILENT: [&str; 2] = [NO_REPLY, "HEARTBEAT_OK"];

/// All that a run says, or why it did not come to its end.
pub(crate) async fn of(mut events: Events) -> Result<String, String> {
    let mut text = String::new();
    while let Some(event) = events.next().await {
        match event.map(|event| event.kind) {
            Ok(Kind::Failed(failed)) => return Err(failed.message),
            Ok(Kind::Aborted { reason, .. }) => return Err(format!("aborted: {reason}")),
            Ok(Kind::TextDelta { text: piece }) => text.push_str(&piece),
            Ok(_) => {}
            Err(refusal) => return Err(refusal.to_string()),
        }
    }
    Ok(text)
}
