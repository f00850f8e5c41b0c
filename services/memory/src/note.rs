//! Notes the assistant is told to keep.

use std::io::{self, Read as _, Write as _};

use jiff::Zoned;
use openclaw_folder::ConfiguredFolder;
use openclaw_proto::memory::Remembered;

use crate::error::Error;
use crate::source::{FOLDER, dated};
use crate::workspace::{FILE_LIMIT, Workspace};

/// A longer text is a document, which belongs in a file of its own; in bytes.
const TEXT_LIMIT: usize = 16 * 1024;

/// Appends `text` to the note of the day of `now`, in the workspace at `folder`.
/// Durable when it returns.
pub(crate) fn remember(
    folder: &ConfiguredFolder,
    text: &str,
    now: &Zoned,
) -> Result<Remembered, Error> {
    let item = item(text, now)?;
    let workspace = Workspace::open_or_create(folder)?;
    workspace.create_folder(FOLDER)?;
    let note = dated::path(now.date());
    let (mut file, is_new) = workspace.open_to_append(&note)?;
    let error = |operation| {
        let (workspace, note) = (&workspace, &note);
        move |source: io::Error| workspace.error(operation, note, source)
    };
    let mut before = Vec::new();
    (&mut file)
        .take(FILE_LIMIT)
        .read_to_end(&mut before)
        .map_err(error("read"))?;
    if before.len() + item.len() > FILE_LIMIT as usize {
        return Err(Error::NoteFull { path: note });
    }
    let lead = match before.last() {
        None => format!("# {}\n\n", now.date()),
        Some(b'\n') => String::new(),
        Some(_) => "\n".to_owned(),
    };
    let line = lines(&before) + lines(lead.as_bytes()) + 1;
    // One write: an agent that appends at the same time cannot get between.
    file.write_all(format!("{lead}{item}").as_bytes())
        .and_then(|()| file.sync_data())
        .map_err(error("write"))?;
    if is_new {
        workspace.sync_folder(FOLDER)?;
    }
    Ok(Remembered { path: note, line })
}

/// The text as an item of a list; further lines are indented under it.
fn item(text: &str, now: &Zoned) -> Result<String, Error> {
    if text.len() > TEXT_LIMIT {
        return Err(Error::NoteTooLong {
            size: text.len(),
            limit: TEXT_LIMIT,
        });
    }
    let text = text.trim().replace("\r\n", "\n").replace('\r', "\n");
    if text.is_empty() {
        return Err(Error::NoteEmpty);
    }
    let mut item = format!("- {}", now.strftime("%H:%M"));
    for (index, line) in text.split('\n').enumerate() {
        match (index, line.trim_end()) {
            (0, line) => item.extend([" ", line]),
            (_, "") => item.push('\n'),
            (_, line) => item.extend(["\n  ", line]),
        }
    }
    item.push('\n');
    Ok(item)
}

fn lines(bytes: &[u8]) -> u32 {
    let breaks = bytes.iter().filter(|&&byte| byte == b'\n').count();
    u32::try_from(breaks).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn now() -> Zoned {
        let moment = jiff::civil::date(2026, 3, 4).at(9, 5, 0, 0);
        moment.to_zoned(jiff::tz::TimeZone::UTC).unwrap()
    }

    #[test]
    fn notes_are_appended_with_their_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("workspace");
        let note = path.join("memory/2026-03-04.md");
        let first = remember(&path.clone().into(), " The key is under the mat. ", &now()).unwrap();
        assert_eq!(
            (first.path.as_str(), first.line),
            ("memory/2026-03-04.md", 3)
        );
        let second = remember(
            &path.clone().into(),
            "Shopping:\r\n- milk\n\n- bread",
            &now(),
        )
        .unwrap();
        assert_eq!(second.line, 4);
        assert_eq!(
            fs::read_to_string(&note).unwrap(),
            "# 2026-03-04\n\n- 09:05 The key is under the mat.\n\
             - 09:05 Shopping:\n  - milk\n\n  - bread\n"
        );
    }

    #[test]
    fn file_without_a_last_line_break_is_kept_whole() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("memory")).unwrap();
        let note = folder.path().join("memory/2026-03-04.md");
        fs::write(&note, "one\ntwo").unwrap();
        assert_eq!(
            remember(&folder.path().into(), "three", &now())
                .unwrap()
                .line,
            3
        );
        assert_eq!(
            fs::read_to_string(&note).unwrap(),
            "one\ntwo\n- 09:05 three\n"
        );
    }

    #[test]
    fn note_what_is_no_note_is_refused_and_nothing_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let empty = remember(&folder.path().into(), " \n", &now());
        assert!(matches!(empty, Err(Error::NoteEmpty)));
        let long = remember(&folder.path().into(), &"x".repeat(TEXT_LIMIT + 1), &now());
        assert!(matches!(long, Err(Error::NoteTooLong { .. })));
        assert!(!folder.path().join("memory").exists());
    }

    #[test]
    fn full_note_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("memory")).unwrap();
        let note = folder.path().join("memory/2026-03-04.md");
        fs::File::create(&note)
            .unwrap()
            .set_len(FILE_LIMIT)
            .unwrap();
        let full = remember(&folder.path().into(), "one more", &now());
        assert!(matches!(full, Err(Error::NoteFull { .. })));
    }
}
