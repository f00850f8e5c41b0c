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
        let mut is_in_comment = false;
        let mut lines = text.split('\n');
        if lines.all(|line| says_nothing(after_comments(line, &mut is_in_comment))) {
            Self::Empty
        } else {
            Self::Tasks(text.into_owned())
        }
    }
}

/// Space as OpenClaw's expressions know it; a byte order mark is.
fn is_space(letter: char) -> bool {
    letter == '\u{feff}' || (letter.is_whitespace() && letter != '\u{85}')
}

/// Whether a line of Markdown has no task in it, as OpenClaw sees it: nothing, a heading,
/// the fence of a block, a point without a text.
fn says_nothing(line: &str) -> bool {
    let line = line.trim_matches(is_space);
    line.is_empty() || is_heading(line) || is_stub(line) || is_fence(line)
}

fn is_heading(line: &str) -> bool {
    let title = line.trim_start_matches('#');
    title.len() < line.len() && (title.is_empty() || title.starts_with(is_space))
}

fn is_stub(line: &str) -> bool {
    let Some(text) = line.strip_prefix(['-', '*', '+']) else {
        return false;
    };
    let text = text.trim_matches(is_space);
    let inside = text.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    let is_mark = |mark: char| is_space(mark) || matches!(mark, 'x' | 'X');
    let is_box = |inside: &str| inside.chars().count() <= 1 && inside.chars().all(is_mark);
    text.is_empty() || inside.is_some_and(is_box)
}

fn is_fence(line: &str) -> bool {
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let language = line.strip_prefix("```");
    language.is_some_and(|language| language.chars().all(is_of_name))
}

/// The line after the comments, `<!-- … -->`, with which it begins; one may go on over
/// several lines.
fn after_comments<'a>(line: &'a str, is_in_comment: &mut bool) -> &'a str {
    let mut rest = line;
    loop {
        let inside = if *is_in_comment {
            rest
        } else {
            match rest.trim_start_matches(is_space).strip_prefix("<!--") {
                Some(_) => rest.trim_start_matches(is_space),
                None => return rest,
            }
        };
        let Some((_, after)) = inside.split_once("-->") else {
            *is_in_comment = true;
            return "";
        };
        *is_in_comment = false;
        rest = after;
    }
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
            "\u{feff}",
            "\u{feff}# Heartbeat\r\n\r\n- [x]\r\n",
            "\u{feff}\n<!-- a --> <!-- b\nc --> \n",
            "#\tTasks\n\u{a0}\n",
            "+ [X] \n- []\n```markdown\n```",
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
            "\u{feff}Call Ada",
            "- [ ] [ ]",
            "- [xx]",
            "- -",
            "---",
            "~~~",
            "```do this",
            "Ada <!-- only her",
        ] {
            let expected = Checklist::Tasks(tasks.to_owned());
            assert_eq!(Checklist::of(Some(tasks.as_bytes())), expected, "{tasks:?}");
        }
    }
}
