//! What Tab completes: commands at the beginning of a line, sessions behind
//! `/session`, and files.

use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper, Result};

use super::known::{OF_ASSISTANT, OWN};
use super::modes::Modes;

/// Where a word that names a file begins.
const OF_FILES: [&str; 4] = ["/", "./", "../", "~/"];

/// Knows what may be meant.
pub(super) struct Completion {
    pub(super) sessions: Vec<String>,
    files: FilenameCompleter,
    modes: Modes,
}

impl Completion {
    pub(super) fn new(modes: Modes) -> Self {
        Self {
            modes,
            sessions: Vec::new(),
            files: FilenameCompleter::new(),
        }
    }
}

/// The names that begin with `begun`, each with what is typed for it.
fn matching<'a>(names: impl IntoIterator<Item = &'a str>, begun: &str, lead: &str) -> Vec<Pair> {
    let mut names: Vec<&str> = names
        .into_iter()
        .filter(|name| name.starts_with(begun))
        .collect();
    names.sort_unstable();
    names.dedup();
    let pair = |name: &str| Pair {
        display: openclaw_terminal::output::line(&format!("{lead}{name}")),
        replacement: format!("{lead}{name}"),
    };
    names.into_iter().map(pair).collect()
}

impl Completer for Completion {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        position: usize,
        context: &Context<'_>,
    ) -> Result<(usize, Vec<Pair>)> {
        let before = line.get(..position).unwrap_or_default();
        if let Some(begun) = before.strip_prefix("/session ") {
            let sessions = self.sessions.iter().map(String::as_str);
            return Ok((position - begun.len(), matching(sessions, begun, "")));
        }
        if let Some(begun) = before.strip_prefix('/')
            && !begun.contains(|c: char| c.is_whitespace() || c == '/')
        {
            let names = OF_ASSISTANT.iter().copied();
            return Ok((0, matching(names.chain(OWN), begun, "/")));
        }
        let word = before
            .rsplit(char::is_whitespace)
            .next()
            .unwrap_or_default();
        if word.starts_with('@') || OF_FILES.iter().any(|lead| word.starts_with(lead)) {
            // Names that an agent gave its files may be orders to the terminal.
            let (at, mut files) = self.files.complete(line, position, context)?;
            files.retain(|file| !file.replacement.chars().any(char::is_control));
            for file in &mut files {
                file.display = openclaw_terminal::output::line(&file.display);
            }
            return Ok((at, files));
        }
        Ok((position, Vec::new()))
    }
}

impl Validator for Completion {
    fn validate(&self, context: &mut ValidationContext<'_>) -> Result<ValidationResult> {
        let goes_on = context.input().ends_with('\\');
        Ok(if goes_on {
            ValidationResult::Incomplete
        } else {
            ValidationResult::Valid(None)
        })
    }
}

impl Hinter for Completion {
    type Hint = String;

    /// Is asked whenever a line is drawn.
    fn hint(&self, _line: &str, _position: usize, _context: &Context<'_>) -> Option<String> {
        self.modes.note();
        None
    }
}

impl Highlighter for Completion {}
impl Helper for Completion {}

#[cfg(test)]
mod tests {
    use rustyline::history::DefaultHistory;

    use super::*;

    fn completed(line: &str) -> Vec<String> {
        let mut completion = Completion::new(Modes::default());
        completion.sessions = vec!["agent:main:main".to_owned(), "agent:main:work".to_owned()];
        let history = DefaultHistory::new();
        let context = Context::new(&history);
        let (_, pairs) = completion.complete(line, line.len(), &context).unwrap();
        pairs.into_iter().map(|pair| pair.replacement).collect()
    }

    #[test]
    fn completion_knows_commands_and_sessions() {
        assert_eq!(completed("/sess"), ["/session", "/sessions"]);
        assert_eq!(completed("/session agent:main:w"), ["agent:main:work"]);
        assert!(completed("/").len() > 10);
        assert!(completed("what is /sess").is_empty());
        assert!(completed("hello").is_empty());
    }

    #[test]
    fn completion_knows_files() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("report.txt"), "").unwrap();
        let begun = format!("look at {}/rep", folder.path().display());
        let expected = format!("{}/report.txt", folder.path().display());
        assert_eq!(completed(&begun), std::slice::from_ref(&expected));
        std::fs::write(folder.path().join("rep\x1b[2Jort"), "").unwrap();
        assert_eq!(completed(&begun).len(), 1);
        let marked = format!("look at @{}/rep", folder.path().display());
        assert_eq!(completed(&marked), [expected]);
    }
}
