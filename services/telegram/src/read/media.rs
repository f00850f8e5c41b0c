//! The files of a message.

use openclaw_channel::provider::IncomingFile;
use openclaw_proto::channel::Attachment;

use crate::settings::Options;
use crate::types::{File, Message};

const MEGABYTE: u64 = 1024 * 1024;
/// Megabytes of a file that Telegram gives to a bot; a Bot API server of one's own
/// says itself what it gives.
const GIVEN_MB: u64 = 20;

pub(super) fn files(message: &Message, options: &Options) -> Vec<IncomingFile> {
    let photo = message.photo.iter().max_by_key(|size| size.file_size);
    // An animation is there as a document too.
    let document = message
        .document
        .as_ref()
        .filter(|_| message.animation.is_none());
    let all = [
        (photo, "image", "photo.jpg", "image/jpeg"),
        (message.voice.as_ref(), "voice", "voice.ogg", "audio/ogg"),
        (message.audio.as_ref(), "audio", "audio.mp3", "audio/mpeg"),
        (message.video.as_ref(), "video", "video.mp4", "video/mp4"),
        (
            message.video_note.as_ref(),
            "video",
            "video.mp4",
            "video/mp4",
        ),
        (
            message.animation.as_ref(),
            "video",
            "animation.mp4",
            "video/mp4",
        ),
        (document, "document", "document", "application/octet-stream"),
    ];
    all.into_iter()
        .filter_map(|(file, kind, name, mime_type)| {
            Some(incoming(file?, kind, name, mime_type, options))
        })
        .collect()
}

fn incoming(
    file: &File,
    kind: &str,
    name: &str,
    mime_type: &str,
    options: &Options,
) -> IncomingFile {
    let size = file.file_size.unwrap_or_default();
    let missing = too_large(size, options).unwrap_or_default();
    let reference = if missing.is_empty() {
        file.file_id.clone()
    } else {
        String::new()
    };
    IncomingFile {
        reference,
        attachment: Attachment {
            file_id: String::new(),
            kind: kind.to_owned(),
            mime_type: file
                .mime_type
                .clone()
                .unwrap_or_else(|| mime_type.to_owned()),
            name: file.file_name.clone().unwrap_or_else(|| name.to_owned()),
            size,
            missing,
            is_waiting: false,
        },
    }
}

fn too_large(size: u64, options: &Options) -> Option<String> {
    let own = options.media_max_mb;
    if options.api_root.is_none() && size > GIVEN_MB * MEGABYTE {
        return Some(format!(
            "it is larger than the {GIVEN_MB} MB that Telegram gives to bots; send a smaller one, \
             or in parts"
        ));
    }
    (size > own.saturating_mul(MEGABYTE))
        .then(|| format!("it is larger than the {own} MB that channels.telegram.mediaMaxMb allows"))
}
