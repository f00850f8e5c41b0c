//! Messages that stop what runs.

use openclaw_commands::Id;
use openclaw_proto::channel::Message;

/// Whether files of `message` are still to be had. A stop is one with a picture, too, and
/// waits for none.
pub(super) fn has_wanted_files(message: &Message) -> bool {
    message.attachments.iter().any(|it| it.is_waiting) && !is_stop(&message.text)
}

pub(super) fn is_stop(text: &str) -> bool {
    openclaw_commands::read(text).is_some_and(|asked| asked.command.id == Id::Stop)
}
