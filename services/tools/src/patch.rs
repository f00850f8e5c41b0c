//! The text of a patch, taken apart.

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const UPDATE: &str = "*** Update File: ";
const DELETE: &str = "*** Delete File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";

/// All changes, in order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Patch {
    pub(crate) changes: Vec<Change>,
}

/// A change of one file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Add {
        path: String,
        text: String,
    },
    Delete {
        path: String,
    },
    Update {
        path: String,
        to: Option<String>,
        hunks: Vec<Hunk>,
    },
}

/// Lines that become other lines.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// Lines that must come before, in this order, each somewhere.
    pub(crate) contexts: Vec<String>,
    pub(crate) old: Vec<String>,
    pub(crate) new: Vec<String>,
    /// Whether the old lines are the file's last.
    pub(crate) at_end: bool,
}

/// What is wrong with a patch.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ParseError {
    #[error("the patch must begin with the line \"{BEGIN}\"")]
    NoBegin,
    #[error("the patch must end with the line \"{END}\"")]
    NoEnd,
    #[error("the patch changes nothing")]
    Empty,
    #[error(
        "line {number} of the patch is no section: {line:?}; there are \"{ADD}PATH\", \"{UPDATE}PATH\" and \"{DELETE}PATH\""
    )]
    Section { number: usize, line: String },
    #[error("line {number} of the patch must begin with {expected}: {line:?}")]
    Line {
        number: usize,
        line: String,
        expected: &'static str,
    },
    #[error("line {number} of the patch names no file")]
    NoPath { number: usize },
    #[error("the patch does not say what to change in {path}")]
    NoHunks { path: String },
}

/// Lines with their numbers, of which the next can be looked at.
struct Lines<'a> {
    lines: Vec<&'a str>,
    next: usize,
}

impl<'a> Lines<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.next).copied()
    }

    /// The number of the line that was taken last, from 1.
    fn number(&self) -> usize {
        self.next + 1
    }

    /// The next line without `prefix`, when it begins with it.
    fn take(&mut self, prefix: &str) -> Option<&'a str> {
        let rest = self.peek()?.strip_prefix(prefix)?;
        self.next += 1;
        Some(rest)
    }
}

/// Takes `input` apart. A code fence or a shell's here-document around it is
/// forgiven.
pub(crate) fn parse(input: &str) -> Result<Patch, ParseError> {
    let all: Vec<&str> = input.lines().collect();
    let is = |line: &&str, mark: &str| line.trim() == mark;
    let begin = all.iter().position(|line| is(line, BEGIN));
    let begin = begin.ok_or(ParseError::NoBegin)?;
    let end = all.iter().rposition(|line| is(line, END));
    let end = end.filter(|end| *end > begin).ok_or(ParseError::NoEnd)?;
    let mut lines = Lines {
        lines: all[..end].to_vec(),
        next: begin + 1,
    };
    let mut changes = Vec::new();
    while let Some(line) = lines.peek() {
        if line.trim().is_empty() {
            lines.next += 1;
            continue;
        }
        changes.push(change(&mut lines, line)?);
    }
    if changes.is_empty() {
        Err(ParseError::Empty)
    } else {
        Ok(Patch { changes })
    }
}

fn change(lines: &mut Lines<'_>, line: &str) -> Result<Change, ParseError> {
    let number = lines.number();
    let named = |path: &str| match path.trim() {
        "" => Err(ParseError::NoPath { number }),
        path => Ok(path.to_owned()),
    };
    if let Some(path) = lines.take(ADD) {
        let path = named(path)?;
        return Ok(Change::Add {
            path,
            text: added(lines)?,
        });
    }
    if let Some(path) = lines.take(DELETE) {
        return Ok(Change::Delete { path: named(path)? });
    }
    if let Some(path) = lines.take(UPDATE) {
        let path = named(path)?;
        let to = lines.take(MOVE).map(named).transpose()?;
        let hunks = hunks(lines)?;
        if hunks.is_empty() && to.is_none() {
            return Err(ParseError::NoHunks { path });
        }
        return Ok(Change::Update { path, to, hunks });
    }
    Err(ParseError::Section {
        number,
        line: line.to_owned(),
    })
}

/// Whether the line begins something else.
fn is_section(line: &str) -> bool {
    [ADD, UPDATE, DELETE]
        .iter()
        .any(|mark| line.starts_with(mark))
}

fn added(lines: &mut Lines<'_>) -> Result<String, ParseError> {
    let mut text = String::new();
    while let Some(line) = lines.peek().filter(|line| !is_section(line)) {
        let Some(rest) = lines.take("+") else {
            return Err(ParseError::Line {
                number: lines.number(),
                line: line.to_owned(),
                expected: "+",
            });
        };
        text.push_str(rest);
        text.push('\n');
    }
    Ok(text)
}

fn hunks(lines: &mut Lines<'_>) -> Result<Vec<Hunk>, ParseError> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut hunk = Hunk::default();
    let mut finish = |hunk: &mut Hunk| {
        if !(hunk.old.is_empty() && hunk.new.is_empty()) {
            hunks.push(std::mem::take(hunk));
        }
    };
    while let Some(line) = lines.peek().filter(|line| !is_section(line)) {
        lines.next += 1;
        if line == END_OF_FILE {
            hunk.at_end = true;
            finish(&mut hunk);
        } else if let Some(context) = line.strip_prefix("@@") {
            finish(&mut hunk);
            let context = context.strip_prefix(' ').unwrap_or(context);
            if !context.trim().is_empty() {
                hunk.contexts.push(context.to_owned());
            }
        } else {
            body(&mut hunk, line).ok_or_else(|| ParseError::Line {
                number: lines.next,
                line: line.to_owned(),
                expected: "a space, - or + (or @@)",
            })?;
        }
    }
    finish(&mut hunk);
    Ok(hunks)
}

/// A line of a hunk. Models leave the space of an empty line away.
fn body(hunk: &mut Hunk, line: &str) -> Option<()> {
    let mut characters = line.chars();
    let (old, new) = match characters.next() {
        None | Some(' ') => (true, true),
        Some('-') => (true, false),
        Some('+') => (false, true),
        Some(_) => return None,
    };
    let rest = characters.as_str();
    if old {
        hunk.old.push(rest.to_owned());
    }
    if new {
        hunk.new.push(rest.to_owned());
    }
    Some(())
}

/// The files that a patch changes, as it names them.
///
/// # Errors
/// It is no patch; in words.
pub(crate) fn paths(input: &str) -> Result<Vec<String>, String> {
    let patch = parse(input).map_err(|error| error.to_string())?;
    let named = patch.changes.into_iter().flat_map(|change| match change {
        Change::Add { path, .. } | Change::Delete { path } => vec![path],
        Change::Update { path, to, .. } => std::iter::once(path).chain(to).collect(),
    });
    Ok(named.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patch(body: &str) -> Result<Patch, ParseError> {
        parse(&format!("{BEGIN}\n{body}\n{END}\n"))
    }

    #[test]
    fn patch_every_kind_of_section() {
        let body = "*** Add File: a\n+one\n+\n*** Delete File: b\n*** Update File: c\n*** Move to: d\n@@ fn x\n keep\n-old\n+new\n*** End of File";
        let patch = patch(body).unwrap();
        assert_eq!(
            patch.changes,
            [
                Change::Add {
                    path: "a".to_owned(),
                    text: "one\n\n".to_owned()
                },
                Change::Delete {
                    path: "b".to_owned()
                },
                Change::Update {
                    path: "c".to_owned(),
                    to: Some("d".to_owned()),
                    hunks: vec![Hunk {
                        contexts: vec!["fn x".to_owned()],
                        old: vec!["keep".to_owned(), "old".to_owned()],
                        new: vec!["keep".to_owned(), "new".to_owned()],
                        at_end: true,
                    }],
                },
            ]
        );
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        assert_eq!(parse("nothing"), Err(ParseError::NoBegin));
        assert_eq!(parse(BEGIN), Err(ParseError::NoEnd));
        assert_eq!(patch(""), Err(ParseError::Empty));
        let error = patch("*** Rename File: a").unwrap_err().to_string();
        assert!(
            error.starts_with("line 2 of the patch is no section"),
            "{error}"
        );
        let error = patch("*** Add File: a\none").unwrap_err().to_string();
        assert!(error.contains("line 3"), "{error}");
        let error = patch("*** Update File: a\n@@\n-x\n*x").unwrap_err();
        assert!(error.to_string().contains("line 5"), "{error}");
        assert!(matches!(
            patch("*** Update File: a"),
            Err(ParseError::NoHunks { .. })
        ));
    }

    #[test]
    fn patch_what_is_around_a_patch_is_forgiven() {
        let text = format!("apply_patch <<'EOF'\n{BEGIN}\n*** Delete File: a\n{END}\nEOF\n");
        assert_eq!(parse(&text).unwrap().changes.len(), 1);
    }
}
