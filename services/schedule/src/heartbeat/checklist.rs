//! HEARTBEAT.md: what there is to look after.

/// What the file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Checklist {
    /// There is none.
    Missing,
    /// There is nothing in it but headings, comments and boxes without a text.
    Empty,
    /// It has tasks; the whole file.
    Tasks(String),
}

impl Checklist {
    /// What the bytes of the file are; None: there is none.
    pub(super) fn of(bytes: Option<&[u8]>) -> Self {
        let Some(bytes) = bytes else {
            return Self::Missing;
        };
        let text = String::from_utf8_lossy(bytes);
        let plain = without_comments(&text);
        if plain.lines().all(says_nothing) {
            Self::Empty
        } else {
            Self::Tasks(text.into_owned())
        }
    }
}

/// Whether a line of Markdown has no task in it, as OpenClaw sees it.
fn says_nothing(line: &str) -> bool {
    let line = line.trim();
    let hashes = line.trim_start_matches('#');
    let is_heading = hashes.len() < line.len() && (hashes.is_empty() || hashes.starts_with(' '));
    let is_fence = line.starts_with("```") || line.starts_with("~~~");
    let stub = line.trim_start_matches(['-', '*', '+']).trim();
    let is_stub = matches!(stub, "" | "[ ]" | "[x]" | "[X]" | "[]");
    is_heading || is_fence || is_stub
}

/// The text without `<!-- … -->`; one that is not closed goes to the end.
fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("<!--") {
        plain.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, after)| after);
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checklist_is_empty_without_a_task() {
        for empty in [
            "",
            "\n \n",
            "# Heartbeat\n\n- [ ]\n* \n<!-- write\ntasks here -->\n```\n```\n",
            "<!-- never closed",
            "###\n",
        ] {
            assert_eq!(
                Checklist::of(Some(empty.as_bytes())),
                Checklist::Empty,
                "{empty:?}"
            );
        }
        assert_eq!(Checklist::of(None), Checklist::Missing);
    }

    #[test]
    fn checklist_has_tasks() {
        for tasks in [
            "- [ ] look at the mail",
            "#hashtag",
            "Call Ada",
            "# T\n<!-- a --> b",
        ] {
            let expected = Checklist::Tasks(tasks.to_owned());
            assert_eq!(Checklist::of(Some(tasks.as_bytes())), expected, "{tasks:?}");
        }
    }
}
