//! Files of a memory, whole and in part.

use serde::Serialize;

use crate::wire::memory as wire;

/// A bootstrap file, cut to its budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BootstrapFile {
    /// The file's name within the workspace.
    pub name: String,
    /// Its text.
    pub content: String,
    /// Whether the text was cut.
    pub truncated: bool,
}

/// What every conversation of an agent begins with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bootstrap {
    /// The files, in their order.
    pub files: Vec<BootstrapFile>,
    /// Why files that are there are not among them.
    pub problems: Vec<String>,
}

/// Where a note went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Remembered {
    /// Relative to the workspace.
    pub path: String,
    /// The note's line.
    pub line: u32,
}

/// Which lines are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lines {
    /// Counted from 1; 0: from the first.
    pub from: u32,
    /// 0: as many as may be.
    pub count: u32,
}

/// Lines of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Text {
    /// The file.
    pub path: String,
    /// The lines.
    pub text: String,
    /// The first of them, counted from 1.
    pub from: u32,
    /// How many they are.
    pub lines: u32,
    /// How many the file has.
    pub total_lines: u32,
}

/// What was taken away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Forgotten {
    /// Relative to the workspace.
    pub path: String,
    /// How many lines are gone.
    pub lines: u32,
    /// Whether the file itself is gone.
    pub removed: bool,
}

/// Lines of a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NoteLines {
    /// As a search names it.
    pub path: String,
    /// The first, counted from 1.
    pub from: u32,
    /// The last.
    pub to: u32,
    /// What they say.
    pub text: String,
}

impl From<wire::NoteLines> for NoteLines {
    fn from(wire: wire::NoteLines) -> Self {
        Self {
            path: wire.path,
            from: wire.from,
            to: wire.to,
            text: wire.text,
        }
    }
}

impl From<NoteLines> for wire::NoteLines {
    fn from(lines: NoteLines) -> Self {
        Self {
            path: lines.path,
            from: lines.from,
            to: lines.to,
            text: lines.text,
        }
    }
}

/// A document of a memory, whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Exported {
    /// As a hit names it.
    pub path: String,
    /// `memory`, `extra` or `sessions`.
    pub source: String,
    /// Unix milliseconds.
    pub modified_ms: i64,
    /// All of it; of a transcript what was said.
    pub text: String,
    /// Counted from 1.
    #[serde(skip)]
    pub number: u32,
    /// How many there are.
    #[serde(skip)]
    pub total: u32,
}

impl From<wire::BootstrapFile> for BootstrapFile {
    fn from(file: wire::BootstrapFile) -> Self {
        Self {
            name: file.name,
            content: file.content,
            truncated: file.truncated,
        }
    }
}

impl From<BootstrapFile> for wire::BootstrapFile {
    fn from(file: BootstrapFile) -> Self {
        Self {
            name: file.name,
            content: file.content,
            truncated: file.truncated,
        }
    }
}

impl From<wire::GetResponse> for Text {
    fn from(response: wire::GetResponse) -> Self {
        Self {
            path: response.path,
            text: response.text,
            from: response.from,
            lines: response.lines,
            total_lines: response.total_lines,
        }
    }
}

impl From<Text> for wire::GetResponse {
    fn from(text: Text) -> Self {
        Self {
            path: text.path,
            text: text.text,
            from: text.from,
            lines: text.lines,
            total_lines: text.total_lines,
            found: true,
        }
    }
}

impl From<wire::ForgetResponse> for Forgotten {
    fn from(response: wire::ForgetResponse) -> Self {
        Self {
            path: response.path,
            lines: response.lines,
            removed: response.removed,
        }
    }
}

impl From<Forgotten> for wire::ForgetResponse {
    fn from(forgotten: Forgotten) -> Self {
        Self {
            path: forgotten.path,
            lines: forgotten.lines,
            removed: forgotten.removed,
        }
    }
}

impl From<wire::ExportedDocument> for Exported {
    fn from(document: wire::ExportedDocument) -> Self {
        Self {
            path: document.path,
            source: document.source,
            modified_ms: document.modified_ms,
            text: document.text,
            number: document.number,
            total: document.total,
        }
    }
}

impl From<Exported> for wire::ExportedDocument {
    fn from(document: Exported) -> Self {
        Self {
            path: document.path,
            source: document.source,
            modified_ms: document.modified_ms,
            text: document.text,
            number: document.number,
            total: document.total,
        }
    }
}
