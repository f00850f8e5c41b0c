//! What a call of a server's tool gave back, as it is passed on.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use openclaw_turn::Image;
use rmcp::model::{CallToolResult, ContentBlock, ImageContent};
use serde::{Deserialize, Serialize};

/// Bytes of text that are kept from the beginning,
pub(super) const HEAD_BYTES: usize = 32 * 1024;
/// and from the end of what is longer than both.
pub(super) const TAIL_BYTES: usize = 32 * 1024;

/// Bytes of why something failed.
const COMPLAINT_BYTES: usize = 4096;

/// Images of one call.
const IMAGES: usize = 8;
/// Bytes of one, as base64: what the models' providers take.
const IMAGE_BYTES: usize = 5 * 1024 * 1024;
/// Bytes of all of one call.
const ALL_IMAGES_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of the name of a kind that is told.
const TYPE_BYTES: usize = 64;
/// Digits of base64 that hold the bytes by which a kind is told.
const BEGINNING: usize = Image::BEGINNING / 3 * 4;

/// The text, in which images are named, and those that are passed on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// Its texts, cut in the middle.
    pub text: String,
    /// Images of kinds that models take.
    pub images: Vec<Image>,
}

impl Output {
    /// Its texts, cut in the middle, and its images; what is neither is named.
    pub(super) fn of(result: CallToolResult) -> Self {
        let mut images = Images::default();
        let blocks = result.content.into_iter().map(|block| match block {
            ContentBlock::Text(text) => text.text,
            ContentBlock::Image(image) => images.take(image),
            ContentBlock::Audio(audio) => {
                format!("[a sound, {}]", cut(&audio.mime_type, TYPE_BYTES))
            }
            other => serde_json::to_string(&other).unwrap_or_default(),
        });
        let blocks: Vec<String> = blocks.collect();
        let text = match (&result.structured_content, blocks.is_empty()) {
            (Some(structured), true) => structured.to_string(),
            _ => blocks.join("\n"),
        };
        Self {
            text: shortened(text, HEAD_BYTES, TAIL_BYTES),
            images: images.taken,
        }
    }
}

#[derive(Default)]
struct Images {
    taken: Vec<Image>,
    bytes: usize,
}

impl Images {
    /// Takes the image where it can be passed on; what the text has in its
    /// place.
    fn take(&mut self, image: ImageContent) -> String {
        let bytes = image.data.len();
        let kind = kind_of(&image.data);
        let why = if bytes > IMAGE_BYTES || self.bytes + bytes > ALL_IMAGES_BYTES {
            "too large to be passed on"
        } else if self.taken.len() >= IMAGES {
            "one too many to be passed on"
        } else if !is_base64(&image.data) {
            "not readable"
        } else if let Some(kind) = kind {
            self.bytes += bytes;
            self.taken.push(Image {
                mime_type: kind.to_owned(),
                data: image.data,
            });
            return format!("[an image, {kind}]");
        } else {
            "not of a kind that models take"
        };
        format!("[an image, {}, {why}]", cut(&image.mime_type, TYPE_BYTES))
    }
}

/// The kind of an image, told by what its first digits stand for.
fn kind_of(data: &str) -> Option<&'static str> {
    let digits = data.get(..BEGINNING.min(data.len()))?;
    Image::kind_of(&BASE64_STANDARD.decode(digits).ok()?)
}

/// A provider refuses the whole conversation for one image that is not.
fn is_base64(data: &str) -> bool {
    let digits = data.trim_end_matches('=');
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
    !digits.is_empty()
        && data.len().is_multiple_of(4)
        && data.len() - digits.len() <= 2
        && digits.bytes().all(plain)
}

/// Why something failed, with as much of it as is told: a server chooses the words of an error,
/// and what it sent in the place of an answer is written out.
pub(super) fn complaint(why: &str) -> String {
    shortened(why.to_owned(), COMPLAINT_BYTES, COMPLAINT_BYTES / 4)
}

/// The beginning and the end of a text that is too long, as of the output of a
/// command.
fn shortened(text: String, head: usize, tail: usize) -> String {
    if text.len() <= head + tail {
        return text;
    }
    let head = cut(&text, head);
    let mut tail = text.len() - tail;
    while !text.is_char_boundary(tail) {
        tail += 1;
    }
    format!(
        "{head}\n[… {} bytes elided …]\n{}",
        tail - head.len(),
        &text[tail..]
    )
}

/// The beginning of a text, of `limit` bytes at most.
pub(super) fn cut(text: &str, limit: usize) -> &str {
    let mut end = text.len().min(limit);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0";

    fn of(bytes: &[u8]) -> String {
        BASE64_STANDARD.encode(bytes)
    }

    fn output(content: serde_json::Value) -> Output {
        Output::of(serde_json::from_value(json!({"content": content})).unwrap())
    }

    #[test]
    fn output_long_text_is_cut_in_the_middle() {
        let text = format!("first{}last", "ž".repeat(1 << 20));
        let said = output(json!([{"type": "text", "text": text}])).text;
        assert!(said.starts_with("first") && said.ends_with("last"));
        assert!(said.contains(" bytes elided …]") && said.len() < 70_000);
        let short = "x".repeat(HEAD_BYTES + TAIL_BYTES);
        assert_eq!(output(json!([{"type": "text", "text": short}])).text, short);
    }

    #[test]
    fn images_that_models_take_are_passed_on_and_others_named() {
        let image =
            |kind: &str, data: &str| json!({"type": "image", "mimeType": kind, "data": data});
        let said = output(json!([
            {"type": "text", "text": "here"},
            image("image/PNG", &of(PNG)),
            image("image/svg+xml", "aGVsbG8="),
            image("image/png", "no base64!"),
            image("image/png", &"A".repeat(IMAGE_BYTES + 4)),
        ]));
        let [image] = &said.images[..] else {
            panic!("{:?}", said.images.len());
        };
        assert_eq!((&*image.mime_type, &*image.data), ("image/png", &*of(PNG)));
        let lines: Vec<&str> = said.text.lines().collect();
        assert_eq!(lines[..2], ["here", "[an image, image/png]"]);
        assert!(lines[2].contains("not of a kind") && lines[3].contains("not readable"));
        assert!(lines[4].contains("too large"));
    }

    #[test]
    fn images_of_one_call_are_bounded_together() {
        let large = of(PNG) + &"A".repeat(IMAGE_BYTES - 1024);
        let image = json!({"type": "image", "mimeType": "image/png", "data": large});
        assert_eq!(output(json!([image, image])).images.len(), 1);
        let small = json!({"type": "image", "mimeType": "image/png", "data": of(PNG)});
        assert_eq!(output(json!(vec![small; IMAGES + 3])).images.len(), IMAGES);
    }

    #[test]
    fn image_is_of_the_kind_that_its_bytes_say() {
        let jpeg = of(b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01");
        for (said, data, kind) in [
            ("image/png", of(PNG), Some("image/png")),
            ("image/jpeg", of(PNG), Some("image/png")),
            ("text/html", jpeg, Some("image/jpeg")),
            ("", of(b"GIF89a\x01\0\x01\0\x80\0"), Some("image/gif")),
            ("x", of(b"RIFF\x24\0\0\0WEBPVP8 "), Some("image/webp")),
            ("image/webp", of(b"RIFF\x24\0\0\0WAVEfmt "), None),
            ("image/png", of(b"hello world, I am text"), None),
            ("image/png", of(b"\x89PNG"), None),
            ("image/png", "\u{17e}".repeat(8), None),
        ] {
            let said = output(json!([{"type": "image", "mimeType": said, "data": data}]));
            let kinds = said.images.iter().map(|image| &*image.mime_type);
            assert_eq!(
                kinds.collect::<Vec<_>>(),
                Vec::from_iter(kind),
                "{}",
                said.text
            );
        }
        let long = json!([{"type": "image", "mimeType": "x".repeat(100_000), "data": "AAAA"}]);
        assert!(output(long).text.len() < 200);
    }

    #[test]
    fn complaint_is_told_as_far_as_somebody_reads_it() {
        assert_eq!(complaint("no such file"), "no such file");
        let why = complaint(&format!("because{}!", "\u{17e}".repeat(1 << 20)));
        assert!(
            why.starts_with("because") && why.ends_with('!') && why.len() < 8192,
            "{}",
            why.len()
        );
    }
}
