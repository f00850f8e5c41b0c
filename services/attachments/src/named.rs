//! Which files a message names to go with it.
//!
//! `@PATH` does, anywhere. Terminals turn a file that is dragged or pasted into its
//! absolute path, as a rule quoted, with backslashes or as a URI: one at the
//! beginning of the message is meant, and a picture's anywhere. What is no regular file is
//! a word as any other.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// The ends of pictures' names.
const PICTURES: [&str; 8] = ["png", "jpg", "jpeg", "gif", "webp", "bmp", "heic", "tiff"];
/// What may stand behind a path in a sentence.
const STOPS: [char; 8] = ['.', ',', ';', ':', '!', '?', ')', ']'];
/// Files of one message.
const MOST: usize = 20;

/// The files that `text` names, each once and in its order. `folder` is where
/// relative paths begin, `home` what `~` stands for.
#[must_use]
pub fn named(text: &str, folder: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut is_beginning = true;
    let mut rest = text.trim_start();
    while !rest.is_empty() && files.len() < MOST {
        let (word, behind) = word(rest);
        let file = file(&word, folder, home)
            .filter(|path| word.is_marked || is_beginning || is_picture(path));
        is_beginning &= file.is_some();
        if let Some(file) = file.filter(|file| !files.contains(file)) {
            files.push(file);
        }
        rest = behind.trim_start();
    }
    files
}

/// A word that may name a file.
struct Word {
    /// An `@` is before it.
    is_marked: bool,
    text: String,
}

/// The first word of `text`, without what quotes it, and what is behind it.
fn word(text: &str) -> (Word, &str) {
    let (is_marked, text) = match text.strip_prefix('@') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    if let Some(quote) = text.chars().next().filter(|c| ['"', '\''].contains(c))
        && let Some((inner, behind)) = text[1..].split_once(quote)
        && (behind.is_empty() || behind.starts_with(char::is_whitespace))
    {
        let text = inner.to_owned();
        return (Word { is_marked, text }, behind);
    }
    let mut plain = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        if character.is_whitespace() {
            let text_behind = &text[at..];
            return (
                Word {
                    is_marked,
                    text: plain,
                },
                text_behind,
            );
        }
        match (character, characters.clone().next()) {
            ('\\', Some((_, next))) if next != '\n' => {
                plain.push(next);
                characters.next();
            }
            _ => plain.push(character),
        }
    }
    (
        Word {
            is_marked,
            text: plain,
        },
        "",
    )
}

/// The regular file that a word names.
fn file(word: &Word, folder: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let place = |text: &str| {
        let path = match (text.strip_prefix("file://"), text.strip_prefix("~/"), home) {
            (Some(uri), _, _) => {
                PathBuf::from(decoded(uri.strip_prefix("localhost").unwrap_or(uri))?)
            }
            (None, Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(text),
        };
        let is_meant = path.is_absolute() || (word.is_marked && !text.is_empty());
        let path = folder.join(path);
        (is_meant && path.is_file()).then_some(path)
    };
    place(&word.text).or_else(|| place(word.text.trim_end_matches(STOPS)))
}

fn is_picture(path: &Path) -> bool {
    let end = path.extension().and_then(|end| end.to_str());
    end.is_some_and(|end| PICTURES.iter().any(|it| it.eq_ignore_ascii_case(end)))
}

/// A URI's path (RFC 3986, percent-encoding); None: it is no text.
fn decoded(text: &str) -> Option<String> {
    let decoded = percent_encoding::percent_decode_str(text).decode_utf8();
    decoded.ok().map(Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the files that `text` names; `{}` in it is their folder.
    fn found(text: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.txt", "my picture.png", "ü.JPG", "it's.md", "100%41.txt"] {
            std::fs::write(folder.path().join(name), "x").unwrap();
        }
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        let text = text.replace("{}", &folder.path().display().to_string());
        let files = named(&text, folder.path(), Some(folder.path()));
        let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
        files.iter().map(name).collect()
    }

    #[test]
    fn file_with_a_mark_is_named_anywhere() {
        assert_eq!(found("look at @a.txt, and @./a.txt."), ["a.txt"]);
        assert_eq!(
            found("@\"my picture.png\" and @my\\ picture.png"),
            ["my picture.png"]
        );
        assert_eq!(found("(see @{}/a.txt) @~/it's.md"), ["a.txt", "it's.md"]);
        assert_eq!(found("what's in @~/a.txt? it's short"), ["a.txt"]);
        assert!(found("me@a.txt @none @sub @ ask @user").is_empty());
    }

    #[test]
    fn file_that_was_dragged_is_named_at_the_beginning() {
        assert_eq!(found("{}/a.txt"), ["a.txt"]);
        assert_eq!(
            found("'{}/a.txt' {}/my\\ picture.png  what is it?"),
            ["a.txt", "my picture.png"]
        );
        assert_eq!(found("file://{}/my%20picture.png"), ["my picture.png"]);
        assert_eq!(found("file://{}/100%2541.txt"), ["100%41.txt"]);
        assert!(found("what is in {}/a.txt").is_empty());
        assert!(found("/help").is_empty() && found("{}/sub").is_empty());
        assert!(found("a.txt is not there").is_empty());
    }

    #[test]
    fn picture_is_named_anywhere_by_its_whole_path() {
        assert_eq!(
            found("what is on \"{}/my picture.png\" here"),
            ["my picture.png"]
        );
        assert_eq!(found("compare\nfile://{}/%C3%BC.JPG!"), ["ü.JPG"]);
        assert!(found("what is on my picture.png").is_empty());
    }

    #[test]
    fn named_any_text_is_read() {
        for text in [
            "",
            "@",
            "@\"",
            "\\",
            "'",
            "%",
            "file://%",
            "file://%c3",
            "@\\\n",
            "\u{e9}@\u{e9}",
        ] {
            assert!(found(text).is_empty(), "{text:?}");
        }
    }
}
