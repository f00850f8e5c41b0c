//! What a command printed, read from the words in which a model is told of it
//! ([`Builtin::ExecuteShell`](crate::Builtin::ExecuteShell)).

/// What a command printed and how it ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Printed {
    /// `0`, or what else it ended with, for people.
    pub end: String,
    /// Its standard output, as far as it is told.
    pub stdout: String,
    /// Its standard error likewise.
    pub stderr: String,
}

const END: &str = "exit code: ";
const STDOUT: &str = "stdout (";
const STDERR: &str = "stderr (";
const SIZE_ENDS: &str = " bytes):\n";

impl Printed {
    /// Reads a report; None: it is none.
    #[must_use]
    pub fn read(report: &str) -> Option<Self> {
        let (end, rest) = report.strip_prefix(END)?.split_once('\n')?;
        let (stdout, rest) = stream(rest, STDOUT, |rest| rest.starts_with(STDERR))?;
        let (stderr, _) = stream(rest, STDERR, |rest| {
            rest.is_empty() || rest.starts_with("note: ")
        })?;
        Some(Self {
            end: end.to_owned(),
            stdout: stdout.to_owned(),
            stderr: stderr.to_owned(),
        })
    }

    /// Whether it did what it was to do.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.end == "0"
    }

    /// What people are told: what it printed; where it printed on both, each with
    /// its name.
    #[must_use]
    pub fn text(&self) -> String {
        let (out, err) = (self.stdout.trim_end(), self.stderr.trim_end());
        match (out, err) {
            (out, "") => out.to_owned(),
            ("", err) => err.to_owned(),
            (out, err) => format!("stdout:\n{out}\n\nstderr:\n{err}"),
        }
    }
}

/// What stands under a stream's head, and what is behind it. The head says how
/// much it is; where that was cut, it ends where what `follows` is found last.
fn stream<'a>(
    report: &'a str,
    head: &str,
    follows: impl Fn(&str) -> bool,
) -> Option<(&'a str, &'a str)> {
    let (size, rest) = report.strip_prefix(head)?.split_once(SIZE_ENDS)?;
    let size: usize = size.parse().ok()?;
    if let Some((text, behind)) = rest.split_at_checked(size) {
        let behind = behind
            .strip_prefix('\n')
            .filter(|_| !text.ends_with('\n') && !text.is_empty())
            .unwrap_or(behind);
        if follows(behind) {
            return Some((text, behind));
        }
    }
    let lines = rest.match_indices('\n').map(|(at, _)| at + 1);
    let end = lines.rev().find(|at| follows(&rest[*at..]))?;
    Some((&rest[..end], &rest[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(end: &str, stdout: &str, stderr: &str) -> Printed {
        Printed {
            end: end.to_owned(),
            stdout: stdout.to_owned(),
            stderr: stderr.to_owned(),
        }
    }

    #[test]
    fn report_is_read_as_it_was_printed() {
        for (report, expected) in [
            (
                "exit code: 0\nstdout (3 bytes):\nhi\nstderr (0 bytes):\n",
                printed("0", "hi\n", ""),
            ),
            (
                "exit code: 0\nstdout (2 bytes):\nhi\nstderr (1 bytes):\nx\n",
                printed("0", "hi", "x"),
            ),
            (
                "exit code: 3\nstdout (0 bytes):\nstderr (4 bytes):\noops\n",
                printed("3", "", "oops"),
            ),
            (
                "exit code: 0\nstdout (18 bytes):\nstderr (0 bytes):\nstderr (0 bytes):\n",
                printed("0", "stderr (0 bytes):\n", ""),
            ),
            (
                "exit code: 0\nstdout (99999 bytes):\na\n[cut]\nb\nstderr (0 bytes):\nnote: all of stdout is in /t\n",
                printed("0", "a\n[cut]\nb\n", ""),
            ),
        ] {
            assert_eq!(Printed::read(report), Some(expected), "{report}");
        }
        for none in [
            "",
            "exit code: 0",
            "exit code: 0\nstdout (x bytes):\n",
            "hello",
        ] {
            assert_eq!(Printed::read(none), None, "{none}");
        }
    }

    #[test]
    fn command_did_what_it_was_to_do_when_it_ended_with_nought() {
        assert!(printed("0", "", "a warning").is_success());
        for end in ["1", "128", "00", "", "ended by signal 9"] {
            assert!(!printed(end, "done", "").is_success(), "{end}");
        }
    }

    #[test]
    fn text_names_the_streams_where_there_are_two() {
        assert_eq!(printed("0", "a\n", "").text(), "a");
        assert_eq!(printed("0", "", "b\n").text(), "b");
        assert_eq!(
            printed("0", "a\n", "b\n").text(),
            "stdout:\na\n\nstderr:\nb"
        );
    }
}
