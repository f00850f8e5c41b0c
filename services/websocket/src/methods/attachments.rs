//! Files that come with a message. Texts become part of what is said; nothing
//! else can be shown to a model here, and is refused.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openclaw_protocol::Failure;
use openclaw_runs::TEXT_LIMIT;
use serde::Deserialize;

/// Files of one message. Each has a name and a frame around it.
const COUNT_LIMIT: usize = 20;

/// Characters of a name; it is a label for the model.
const NAME_LIMIT: usize = 200;

/// One file, as clients send it; what else they say of it is not needed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Attachment {
    mime_type: Option<String>,
    file_name: Option<String>,
    /// Base64, or a `data:` URL of it.
    content: Option<String>,
}

/// `text` with the files after it.
pub(super) fn joined(text: String, attachments: &[Attachment]) -> Result<String, Failure> {
    if attachments.len() > COUNT_LIMIT {
        let count = attachments.len();
        return Err(Failure::invalid(format!(
            "{count} attachments; at most {COUNT_LIMIT} are taken with one message"
        )));
    }
    let mut whole = text;
    for (at, attachment) in attachments.iter().enumerate() {
        let framed = attachment.framed(at)?;
        if !whole.is_empty() {
            whole.push_str("\n\n");
        }
        whole.push_str(&framed);
    }
    if !attachments.is_empty() && whole.len() > TEXT_LIMIT {
        return Err(Failure::invalid(format!(
            "the message and its attachments have {} bytes; at most {TEXT_LIMIT} are allowed; \
             put large files into the agent's workspace and name them",
            whole.len()
        )));
    }
    Ok(whole)
}

impl Attachment {
    /// A text file in the form in which OpenClaw shows it to the model.
    fn framed(&self, at: usize) -> Result<String, Failure> {
        let name = self.name(at);
        let kind = self.kind();
        let text = self.text(&name, kind)?;
        Ok(format!(
            "<file name=\"{name}\" mime=\"{kind}\">\n{text}\n</file>"
        ))
    }

    fn kind(&self) -> &str {
        let kind = self.mime_type.as_deref().unwrap_or_default().trim();
        // It is put into quotes.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/+-._; =".contains(c);
        if !kind.is_empty() && kind.chars().all(is_plain) {
            kind
        } else {
            "text/plain"
        }
    }

    fn name(&self, at: usize) -> String {
        let name = self.file_name.as_deref().unwrap_or_default();
        let name: String = name
            .chars()
            .filter(|c| !c.is_control() && !matches!(c, '"' | '<' | '>'))
            .take(NAME_LIMIT)
            .collect();
        match name.trim() {
            "" => format!("attachment-{}", at + 1),
            name => name.to_owned(),
        }
    }

    fn text(&self, name: &str, kind: &str) -> Result<String, Failure> {
        let content = self.content.as_deref().unwrap_or_default();
        let encoded = match content.strip_prefix("data:") {
            Some(url) => url.split_once(";base64,").map(|(_, encoded)| encoded),
            None => Some(content),
        };
        let bytes = encoded.and_then(|encoded| STANDARD.decode(encoded.trim()).ok());
        let Some(bytes) = bytes.filter(|bytes| !bytes.is_empty()) else {
            return Err(Failure::invalid(format!(
                "attachment {name}: content must be base64 and not empty"
            )));
        };
        let text = String::from_utf8(bytes).ok();
        // Control characters are in no text, but in files that happen to be UTF-8.
        let is_text = |text: &String| {
            !text
                .chars()
                .any(|c| c.is_control() && !"\n\r\t\u{c}".contains(c))
        };
        text.filter(is_text).ok_or_else(|| {
            Failure::invalid(format!(
                "attachment {name} is {kind} and no text; put it into the agent's workspace and \
                 name it"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn attachment(value: Value) -> Attachment {
        serde_json::from_value(value).unwrap()
    }

    fn file(name: &str, bytes: &[u8]) -> Attachment {
        attachment(json!({
            "type": "file", "mimeType": "text/csv", "fileName": name,
            "content": STANDARD.encode(bytes),
        }))
    }

    #[test]
    fn texts_are_put_behind_the_message() {
        let files = [file("a.csv", b"x,y"), file("", "ü".as_bytes())];
        assert_eq!(
            joined("look".to_owned(), &files).unwrap(),
            "look\n\n<file name=\"a.csv\" mime=\"text/csv\">\nx,y\n</file>\n\n\
             <file name=\"attachment-2\" mime=\"text/csv\">\nü\n</file>"
        );
        let url = attachment(json!({"content": "data:text/plain;base64,aGk="}));
        let alone = joined(String::new(), &[url]).unwrap();
        assert!(alone.starts_with("<file name=\"attachment-1\" mime=\"text/plain\">\nhi"));
    }

    #[test]
    fn attachments_what_is_no_text_is_refused_by_name() {
        for (bad, part) in [
            (file("p.png", &[0x89, b'P', b'N', b'G', 0, 1]), "p.png"),
            (file("zero", &[0; 9]), "zero"),
            (file("none", b""), "none"),
            (
                attachment(json!({"fileName": "x", "content": "%%"})),
                "base64",
            ),
            (file("big", &vec![b'a'; TEXT_LIMIT]), "bytes"),
        ] {
            let failure = joined("look".to_owned(), &[bad]).unwrap_err();
            assert!(failure.message.contains(part), "{}", failure.message);
        }
        let many: Vec<_> = (0..=COUNT_LIMIT).map(|_| file("a", b"b")).collect();
        assert!(joined(String::new(), &many).is_err());
    }

    proptest! {
        /// Whatever a client calls a file, its frame has one name and one kind.
        #[test]
        fn name_cannot_end_its_frame(name in "\\PC{0,60}", kind in "\\PC{0,30}") {
            let file = attachment(json!({"fileName": name, "mimeType": kind, "content": "aGk="}));
            let framed = joined(String::new(), &[file]).unwrap();
            let head = framed.lines().next().unwrap();
            prop_assert_eq!(head.matches('"').count(), 4, "{}", head);
            prop_assert_eq!(head.matches('>').count(), 1, "{}", head);
        }
    }
}
