//! Files that a reply names: lines of `MEDIA:` and a path, as OpenClaw has them.
//!
//! They are the agent's words: a file is taken from its workspace alone, through
//! no link, and only if it is a regular one, and of an agent that reads no files
//! none is. Lines of code name none.

use std::path::{Component, Path, PathBuf};

use openclaw_folder::ConfiguredFolder;
use openclaw_proto::outbox::DeliveredFile;

use crate::code_block::Code;

/// What such a line begins with.
const MARK: &str = "MEDIA:";

/// Says that what is heard was spoken.
const AS_VOICE: &str = "[[audio_as_voice]]";

/// What is in an address.
const ELSEWHERE: &str = "://";

/// Files of one reply.
const FILES: usize = 10;

/// What the end of a name says of a file.
const KINDS: [(&str, &str); 20] = [
    ("csv", "text/csv"),
    ("flac", "audio/flac"),
    ("gif", "image/gif"),
    ("html", "text/html"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("json", "application/json"),
    ("m4a", "audio/mp4"),
    ("md", "text/markdown"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("ogg", "audio/ogg"),
    ("opus", "audio/ogg"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("txt", "text/plain"),
    ("wav", "audio/wav"),
    ("webm", "video/webm"),
    ("webp", "image/webp"),
    ("zip", "application/zip"),
];

/// What the name of a file says of its content.
pub fn mime_type(name: &str) -> &'static str {
    let extension = Path::new(name).extension().and_then(|it| it.to_str());
    let extension = extension.unwrap_or_default().to_ascii_lowercase();
    let kind = KINDS.iter().find(|(end, _)| *end == extension);
    kind.map_or("application/octet-stream", |(_, kind)| kind)
}

/// A reply with what it names.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct WithFiles {
    /// What stays.
    pub text: String,
    /// The files.
    pub files: Vec<DeliveredFile>,
    /// Where each is, beneath the workspace.
    pub paths: Vec<String>,
}

/// Whether `text` names files.
pub fn names_files(text: &str) -> bool {
    lines(text, &Code::of(text)).any(|line| !line.names.is_empty())
}

/// A line of a reply.
struct Line<'a> {
    text: &'a str,
    is_code: bool,
    /// The files that it names.
    names: Vec<String>,
}

fn lines<'a>(text: &'a str, code: &'a Code) -> impl Iterator<Item = Line<'a>> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let begin = at + line.len() - line.trim_start().len();
        at += line.len();
        let is_code = code.has(begin);
        let text = line.strip_suffix('\n').unwrap_or(line);
        let text = text.strip_suffix('\r').unwrap_or(text);
        Line {
            text,
            is_code,
            names: if is_code { Vec::new() } else { named(text) },
        }
    })
}

/// `text` without the lines that name files, and the files in the workspace. A
/// file that cannot be had is said in the text; without a workspace that is each.
pub fn with_files(text: &str, workspace: Option<&ConfiguredFolder>) -> WithFiles {
    let code = Code::of(text);
    let mut marks = text.match_indices(AS_VOICE);
    let is_voice = marks.any(|(at, _)| !code.has(at));
    let mut taken = WithFiles::default();
    let mut kept = Vec::new();
    for line in lines(text, &code) {
        if line.names.is_empty() {
            kept.push(if line.is_code || !is_voice {
                line.text.to_owned()
            } else {
                line.text.replace(AS_VOICE, "")
            });
        }
        for name in line.names {
            if name.contains(ELSEWHERE) {
                kept.push(name);
                continue;
            }
            let found = workspace
                .and_then(|workspace| found(&name, workspace))
                .filter(|(_, file)| file.size > 0 && taken.files.len() < FILES);
            match found {
                Some((path, mut file)) => {
                    file.is_voice = is_voice && file.mime_type.starts_with("audio/");
                    taken.files.push(file);
                    taken.paths.push(path);
                }
                None => kept.push(format!("(the file {name} could not be attached)")),
            }
        }
    }
    kept.join("\n").trim().clone_into(&mut taken.text);
    taken
}

/// What a line names, if it does. What is elsewhere stays in the text as an address, where
/// people can follow it.
fn named(line: &str) -> Vec<String> {
    let Some(rest) = line.trim().strip_prefix(MARK) else {
        return Vec::new();
    };
    let next = format!(" {MARK}");
    let names = rest.split(next.as_str()).map(|name| {
        let name = name.trim();
        let name = name.trim_matches(|c| matches!(c, '`' | '"' | '\'')).trim();
        name.strip_prefix("file://").unwrap_or(name).to_owned()
    });
    names.filter(|name| !name.is_empty()).collect()
}

/// The file beneath the workspace, however it is written.
fn found(name: &str, workspace: &ConfiguredFolder) -> Option<(String, DeliveredFile)> {
    let path = Path::new(name);
    let relative = if path.is_absolute() {
        path.strip_prefix(workspace).ok()?
    } else {
        path
    };
    let parts = relative.components();
    let relative: PathBuf = parts
        .filter(|part| !matches!(part, Component::CurDir))
        .collect();
    let (_, status) = workspace.open().ok()??.open_file(&relative).ok()??;
    let name = relative.file_name()?.to_str()?.to_owned();
    let file = DeliveredFile {
        mime_type: mime_type(&name).to_owned(),
        name,
        size: u64::try_from(status.st_size).unwrap_or_default(),
        is_voice: false,
    };
    Some((relative.to_str()?.to_owned(), file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_is_taken_from_the_workspace_alone() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = dir.path().join("workspace");
        std::fs::create_dir_all(workspace.join("out")).unwrap();
        std::fs::write(workspace.join("out/a.PNG"), b"12345").unwrap();
        std::fs::write(workspace.join("say.ogg"), b"1").unwrap();
        std::fs::write(dir.path().join("secret"), b"s").unwrap();
        std::os::unix::fs::symlink(dir.path().join("secret"), workspace.join("link")).unwrap();
        std::os::unix::fs::symlink(dir.path(), workspace.join("up")).unwrap();
        let absolute = workspace.join("say.ogg");
        let text = format!(
            "Here:\nMEDIA:./out/a.PNG\n[[audio_as_voice]]\nMEDIA: `{}`\nMEDIA:link\nMEDIA:up/secret\n\
             MEDIA:../secret\nMEDIA:/etc/passwd\nMEDIA:out\nMEDIA:https://example.org/a.png",
            absolute.display()
        );
        assert!(names_files(&text) && !names_files("MEDIA:\nmedia"));
        let taken = with_files(&text, Some(&workspace.clone().into()));
        assert_eq!(taken.paths, ["out/a.PNG", "say.ogg"]);
        let [picture, voice] = taken.files.as_slice() else {
            panic!("{taken:?}");
        };
        assert_eq!((picture.mime_type.as_str(), picture.size), ("image/png", 5));
        assert!(voice.is_voice && !picture.is_voice);
        assert_eq!(taken.text.matches("could not be attached").count(), 5);
        assert!(taken.text.starts_with("Here:\n"), "{}", taken.text);
        assert!(taken.text.ends_with("\nhttps://example.org/a.png"));
        assert!(!taken.text.contains(AS_VOICE));
    }

    #[test]
    fn media_without_a_workspace_is_none() {
        let taken = with_files("So:\nMEDIA:a.txt\nMEDIA:https://x.org", None);
        let said = "So:\n(the file a.txt could not be attached)\nhttps://x.org";
        assert_eq!((taken.text.as_str(), taken.files.len()), (said, 0));
    }

    #[test]
    fn media_in_code_is_no_file_and_stays() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.txt"), b"1").unwrap();
        let shown = "So:\n```\nMEDIA:a.txt\n[[audio_as_voice]]\n```\nand `x\nMEDIA:a.txt`";
        assert!(!names_files(shown));
        let taken = with_files(&format!("{shown}\n\nMEDIA:a.txt"), Some(&dir.path().into()));
        assert_eq!((taken.text.as_str(), taken.files.len()), (shown, 1));
    }

    #[test]
    fn media_of_one_line_may_be_many() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a.txt", "b c.txt"] {
            std::fs::write(dir.path().join(name), b"1").unwrap();
        }
        let text = "MEDIA:a.txt MEDIA:`b c.txt` MEDIA:none MEDIA:https://x.org";
        let taken = with_files(text, Some(&dir.path().into()));
        assert_eq!(taken.paths, ["a.txt", "b c.txt"]);
        assert_eq!(
            taken.text,
            "(the file none could not be attached)\nhttps://x.org"
        );
    }

    #[test]
    fn media_that_is_empty_is_said() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.txt"), b"").unwrap();
        let taken = with_files("MEDIA:a.txt", Some(&dir.path().into()));
        assert!(taken.files.is_empty() && taken.text.contains("a.txt could not be attached"));
    }

    /// Who writes around a workspace may put a link in its place.
    #[test]
    fn media_is_not_taken_from_where_a_link_in_place_of_the_workspace_leads() {
        let dir = tempfile::tempdir().unwrap();
        let shared = dir.path().join("shared");
        std::fs::create_dir(&shared).unwrap();
        std::fs::write(dir.path().join("secret.txt"), b"s").unwrap();
        std::os::unix::fs::symlink(dir.path(), shared.join("work")).unwrap();
        let workspace = ConfiguredFolder::new(shared.join("work"), [shared].into());
        let taken = with_files("MEDIA:secret.txt", Some(&workspace));
        assert!(taken.files.is_empty(), "{taken:?}");
        assert!(taken.text.contains("could not be attached"));
    }

    #[test]
    fn media_of_one_reply_is_bounded() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), b"1").unwrap();
        let taken = with_files(&"MEDIA:a\n".repeat(FILES + 2), Some(&dir.path().into()));
        assert_eq!(taken.files.len(), FILES);
        assert_eq!(taken.text.lines().count(), 2);
    }
}
