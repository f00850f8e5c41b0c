//! Finding a hunk's lines in a file.

use crate::patch::Hunk;

/// Why a hunk does not fit.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Misfit {
    #[error("there is no line {0:?}")]
    Context(String),
    #[error("these lines are not there:\n{0}")]
    Lines(String),
}

/// How strictly lines are compared; models get space wrong.
const COMPARISONS: [fn(&str, &str) -> bool; 3] = [
    |a, b| a == b,
    |a, b| a.trim_end() == b.trim_end(),
    |a, b| a.trim() == b.trim(),
];

/// The text with every hunk made, from top to bottom.
pub(super) fn apply(text: &str, hunks: &[Hunk]) -> Result<String, Misfit> {
    let ends_open = !text.is_empty() && !text.ends_with('\n');
    let lines: Vec<&str> = text.lines().collect();
    let mut after: Vec<&str> = Vec::with_capacity(lines.len());
    let mut done = 0;
    for hunk in hunks {
        let at = place(&lines, done, hunk)?;
        after.extend(&lines[done..at]);
        after.extend(hunk.new.iter().map(String::as_str));
        done = at + hunk.old.len();
    }
    after.extend(&lines[done..]);
    let mut after = after.join("\n");
    // A file that ended without a line end still does.
    if !after.is_empty() && !ends_open {
        after.push('\n');
    }
    Ok(restored(text, after))
}

/// Windows line ends stay what they were: `lines` takes them off.
fn restored(before: &str, after: String) -> String {
    let lines = before.matches('\n').count();
    if lines > 0 && before.matches("\r\n").count() == lines {
        after.replace('\n', "\r\n")
    } else {
        after
    }
}

/// Where the hunk's old lines begin, at or behind `from`.
fn place(lines: &[&str], from: usize, hunk: &Hunk) -> Result<usize, Misfit> {
    let mut from = from;
    for context in &hunk.contexts {
        let missing = || Misfit::Context(context.clone());
        let wanted = std::slice::from_ref(context);
        from = seek(lines, from, wanted, false).ok_or_else(missing)? + 1;
    }
    if hunk.old.is_empty() {
        // New lines alone: behind the context, or at the end of the file.
        return Ok(if hunk.contexts.is_empty() || hunk.at_end {
            lines.len()
        } else {
            from
        });
    }
    seek(lines, from, &hunk.old, hunk.at_end)
        // The context may be a line of the hunk itself.
        .or_else(|| seek(lines, from.saturating_sub(1), &hunk.old, hunk.at_end))
        .ok_or_else(|| Misfit::Lines(hunk.old.join("\n")))
}

fn seek(lines: &[&str], from: usize, wanted: &[String], at_end: bool) -> Option<usize> {
    let last = lines.len().checked_sub(wanted.len())?;
    let fits = |at: usize, same: fn(&str, &str) -> bool| {
        let here = &lines[at..at + wanted.len()];
        here.iter().zip(wanted).all(|(a, b)| same(a, b))
    };
    COMPARISONS.iter().find_map(|same| {
        if at_end {
            (last >= from && fits(last, *same)).then_some(last)
        } else {
            (from..=last).find(|at| fits(*at, *same))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunk(contexts: &[&str], old: &[&str], new: &[&str]) -> Hunk {
        let owned = |list: &[&str]| list.iter().map(|line| (*line).to_owned()).collect();
        Hunk {
            contexts: owned(contexts),
            old: owned(old),
            new: owned(new),
            at_end: false,
        }
    }

    #[test]
    fn contexts_choose_among_the_same_lines() {
        let text = "fn a\n x\nfn b\n x\n";
        let after = apply(text, &[hunk(&["fn b"], &[" x"], &[" y"])]).unwrap();
        assert_eq!(after, "fn a\n x\nfn b\n y\n");
    }

    #[test]
    fn hunks_go_from_top_to_bottom() {
        let hunks = [hunk(&[], &["x"], &["1"]), hunk(&[], &["x"], &["2"])];
        assert_eq!(apply("x\nx\nx\n", &hunks).unwrap(), "1\n2\nx\n");
    }

    #[test]
    fn space_is_forgiven_and_line_ends_stay() {
        let spaced = apply("\ta \nb", &[hunk(&[], &["a"], &["c"])]).unwrap();
        assert_eq!(spaced, "c\nb");
        let windows = apply("a\r\nb\r\n", &[hunk(&[], &["a"], &["c", "d"])]).unwrap();
        assert_eq!(windows, "c\r\nd\r\nb\r\n");
    }

    #[test]
    fn lines_alone_go_behind_their_context_or_to_the_end() {
        let after = apply("a\nb\n", &[hunk(&["a"], &[], &["new"])]).unwrap();
        assert_eq!(after, "a\nnew\nb\n");
        assert_eq!(apply("a\n", &[hunk(&[], &[], &["z"])]).unwrap(), "a\nz\n");
        assert_eq!(apply("", &[hunk(&[], &[], &["z"])]).unwrap(), "z\n");
    }

    #[test]
    fn find_what_is_not_there_is_quoted() {
        let error = apply("a\n", &[hunk(&[], &["b", "c"], &[])]).unwrap_err();
        assert!(error.to_string().ends_with("b\nc"), "{error}");
        let error = apply("a\n", &[hunk(&["fn"], &["a"], &[])]).unwrap_err();
        assert_eq!(error, Misfit::Context("fn".to_owned()));
    }
}
