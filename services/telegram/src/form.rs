//! A body of parts (RFC 7578): fields, and one file that is passed on as it comes.

use bytes::Bytes;
use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt as _};
use serde_json::{Map, Value};

/// What parts are kept apart by. It is in no field: line breaks in names are taken
/// out, and a file that had it would have to guess 64 bits.
#[derive(Debug)]
struct Boundary(String);

/// A body of parts.
pub(crate) struct Form {
    boundary: Boundary,
    content: BoxStream<'static, Result<Bytes, String>>,
}

impl std::fmt::Debug for Form {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Form")
    }
}

impl Form {
    /// The `fields`, and the file `name` as the field `part`.
    pub(crate) fn new(
        fields: &Map<String, Value>,
        part: &str,
        name: &str,
        content: impl Stream<Item = Result<Bytes, String>> + Send + 'static,
    ) -> Self {
        let boundary = format!("openclaw-{}", uuid::Uuid::new_v4().simple());
        let mut head = String::new();
        for (field, value) in fields {
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            head.push_str(&format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"{field}\"\r\n\r\n{text}\r\n"
            ));
        }
        let name: String = name
            .chars()
            .map(|it| {
                if it.is_control() || it == '"' || it == '\\' {
                    '_'
                } else {
                    it
                }
            })
            .collect();
        head.push_str(&format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{part}\"; filename=\"{name}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n"
        ));
        let tail = format!("\r\n--{boundary}--\r\n");
        let piece = |text: String| stream::iter([Ok(Bytes::from(text))]);
        Self {
            boundary: Boundary(boundary),
            content: piece(head).chain(content).chain(piece(tail)).boxed(),
        }
    }

    /// The header of the request.
    pub(crate) fn content_type(&self) -> String {
        format!("multipart/form-data; boundary={}", self.boundary.0)
    }

    /// The body.
    pub(crate) fn into_stream(self) -> BoxStream<'static, Result<Bytes, String>> {
        self.content
    }
}
