//! What a call of a server's tool gave back, as it is passed on.

use openclaw_turn::Image;
use rmcp::model::{CallToolResult, ContentBlock, ImageContent};
use serde::{Deserialize, Serialize};

/// Bytes of text that are kept from the beginning,
pub(super) const HEAD_BYTES: usize = 32 * 1024;
/// and from the end of what is longer than both.
pub(super) const TAIL_BYTES: usize = 32 * 1024;

/// Images of one call.
const IMAGES: usize = 8;
/// Bytes of one, as base64: what the models' providers take.
const IMAGE_BYTES: usize = 5 * 1024 * 1024;
/// Bytes of all of one call.
const ALL_IMAGES_BYTES: usize = 8 * 1024 * 1024;
/// Kinds of images that the models' providers take.
const IMAGE_TYPES: [&str; 4] = ["image/gif", "image/jpeg", "image/png", "image/webp"];

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
            ContentBlock::Audio(audio) => format!("[a sound, {}]", audio.mime_type),
            other => serde_json::to_string(&other).unwrap_or_default(),
        });
        let blocks: Vec<String> = blocks.collect();
        let text = match (&result.structured_content, blocks.is_empty()) {
            (Some(structured), true) => structured.to_string(),
            _ => blocks.join("\n"),
        };
        Self {
            text: shortened(text),
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
        let kind = image.mime_type.to_ascii_lowercase();
        let why = if !IMAGE_TYPES.contains(&kind.as_str()) {
            "a kind that models do not take"
        } else if bytes > IMAGE_BYTES || self.bytes + bytes > ALL_IMAGES_BYTES {
            "too large to be passed on"
        } else if self.taken.len() >= IMAGES {
            "one too many to be passed on"
        } else if !is_base64(&image.data) {
            "not readable"
        } else {
            self.bytes += bytes;
            self.taken.push(Image {
                mime_type: kind.clone(),
                data: image.data,
            });
            return format!("[an image, {kind}]");
        };
        format!("[an image, {}, {why}]", image.mime_type)
    }
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

/// The beginning and the end of a text that is too long, as of the output of a
/// command.
fn shortened(text: String) -> String {
    if text.len() <= HEAD_BYTES + TAIL_BYTES {
        return text;
    }
    let head = cut(&text, HEAD_BYTES);
    let mut tail = text.len() - TAIL_BYTES;
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
            image("image/PNG", "aGVsbG8="),
            image("image/svg+xml", "aGVsbG8="),
            image("image/png", "no base64!"),
            image("image/png", &"A".repeat(IMAGE_BYTES + 4)),
        ]));
        let [image] = &said.images[..] else {
            panic!("{:?}", said.images.len());
        };
        assert_eq!((&*image.mime_type, &*image.data), ("image/png", "aGVsbG8="));
        let lines: Vec<&str> = said.text.lines().collect();
        assert_eq!(lines[..2], ["here", "[an image, image/png]"]);
        assert!(lines[2].contains("do not take") && lines[3].contains("not readable"));
        assert!(lines[4].contains("too large"));
    }

    #[test]
    fn images_of_one_call_are_bounded_together() {
        let large = "A".repeat(IMAGE_BYTES - 1024);
        let image = json!({"type": "image", "mimeType": "image/png", "data": large});
        assert_eq!(output(json!([image, image])).images.len(), 1);
        let small = json!({"type": "image", "mimeType": "image/png", "data": "AAAA"});
        assert_eq!(output(json!(vec![small; IMAGES + 3])).images.len(), IMAGES);
    }
}
