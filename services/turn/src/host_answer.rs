//! Calls of host tools, and their answers.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The runner's answer to a call of a host tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostAnswer {
    /// Whether the tool did what it was asked to.
    pub ok: bool,
    /// What it said.
    #[serde(default)]
    pub output: String,
    /// Pictures that came with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<HostFailure>,
}

/// Why a call of a host tool failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFailure {
    /// A stable word to match on.
    #[serde(rename = "type")]
    pub kind: String,
    /// One sentence for the model and the user.
    pub message: String,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Its MIME type.
    pub mime_type: String,
    /// In base64.
    pub data: String,
}

impl Image {
    /// Bytes at the beginning of a picture by which its kind is told.
    pub const BEGINNING: usize = 12;

    /// The kind of a picture by its first bytes, of those that the models' providers take: they
    /// refuse the whole conversation for one that is not what it is said to be.
    pub fn kind_of(beginning: &[u8]) -> Option<&'static str> {
        match beginning {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
            [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
            [
                b'R',
                b'I',
                b'F',
                b'F',
                _,
                _,
                _,
                _,
                b'W',
                b'E',
                b'B',
                b'P',
                ..,
            ] => Some("image/webp"),
            _ => None,
        }
    }
}

impl HostAnswer {
    /// The tool did what it was asked to.
    #[must_use]
    pub fn done(output: String) -> Self {
        Self {
            ok: true,
            output,
            images: Vec::new(),
            error: None,
        }
    }

    /// The tool failed.
    pub fn failed(kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            ok: false,
            output: String::new(),
            images: Vec::new(),
            error: Some(HostFailure {
                kind: kind.into(),
                message: message.into(),
            }),
        }
    }

    /// The same with pictures.
    #[must_use]
    pub fn with_images(self, images: Vec<Image>) -> Self {
        Self { images, ..self }
    }
}

/// The arguments of the question [`APPROVAL`](crate::APPROVAL): the call that is
/// asked about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApprovalQuestion {
    /// Names the call.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// A JSON object.
    #[serde(default)]
    pub arguments: Value,
}

/// A line of a tool server: a call of a host tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostCall {
    /// Names the call in its answer.
    pub id: u64,
    /// The tool.
    pub tool: String,
    /// A JSON object.
    #[serde(default)]
    pub arguments: Value,
}

/// A line of the runner to a tool server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum HostLine {
    /// The answer to a call.
    Answer {
        /// The call.
        id: u64,
        /// What came of it.
        #[serde(flatten)]
        answer: HostAnswer,
    },
    /// Whether there are other tools now.
    Changed {
        /// Always true.
        changed: bool,
    },
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answers() -> [HostAnswer; 2] {
        let image = Image {
            mime_type: "image/png".to_owned(),
            data: "AA==".to_owned(),
        };
        [
            HostAnswer::done("said".to_owned()).with_images(vec![image]),
            HostAnswer::failed("timeout", "too slow"),
        ]
    }

    #[test]
    fn host_answer_is_read_as_it_was_written() {
        for answer in answers() {
            let json = json!(answer);
            assert_eq!(serde_json::from_value::<HostAnswer>(json).unwrap(), answer);
        }
    }

    #[test]
    fn host_line_of_each_kind_is_read_as_it_was_written() {
        let [answer, _] = answers();
        for line in [
            HostLine::Answer { id: 7, answer },
            HostLine::Changed { changed: true },
        ] {
            let json = json!(line);
            assert_eq!(serde_json::from_value::<HostLine>(json).unwrap(), line);
        }
    }

    #[test]
    fn host_call_and_approval_question_are_read_as_they_were_written() {
        let call = HostCall {
            id: 1,
            tool: "memory_get".to_owned(),
            arguments: json!({"path": "p"}),
        };
        let json = json!(call);
        assert_eq!(serde_json::from_value::<HostCall>(json).unwrap(), call);
        let question = ApprovalQuestion {
            call_id: "1".to_owned(),
            tool: "execute_shell".to_owned(),
            arguments: json!({"command": "ls"}),
        };
        let json = json!(question);
        let read: ApprovalQuestion = serde_json::from_value(json).unwrap();
        assert_eq!(read, question);
    }
}
