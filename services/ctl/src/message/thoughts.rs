//! What the model thinks, where its session wants it shown.

use openclaw_proto::shown::Thinking;
use openclaw_terminal::output;

/// Stands before each line of it.
const MARK: &str = "∴ ";
/// Bytes that wait to be shown. What is more of one thought is left out.
const LIMIT: usize = 256 * 1024;

/// Thinking on its way to lines.
#[derive(Debug, Default)]
pub(super) struct Thoughts {
    wanted: Thinking,
    text: String,
}

impl Thoughts {
    /// As the session wants it.
    pub(super) fn wanted(wanted: Thinking) -> Self {
        Self {
            wanted,
            text: String::new(),
        }
    }

    /// The lines that `more` makes whole, where they are shown while they come.
    pub(super) fn more(&mut self, more: &str) -> Vec<String> {
        if !matches!(self.wanted, Thinking::Whole | Thinking::Streamed) {
            return Vec::new();
        }
        if self.text.len() + more.len() <= LIMIT {
            self.text.push_str(more);
        }
        match self.text.rfind('\n') {
            Some(end) if self.wanted == Thinking::Streamed => {
                let rest = self.text.split_off(end + 1);
                lines(&std::mem::replace(&mut self.text, rest))
            }
            _ => Vec::new(),
        }
    }

    /// The rest, when something else comes.
    pub(super) fn end(&mut self) -> Vec<String> {
        lines(&std::mem::take(&mut self.text))
    }

    /// What is thought at the moment, where that is shown.
    pub(super) fn latest(&self) -> Option<String> {
        let line = self.text.lines().next_back()?;
        (self.wanted == Thinking::Streamed).then(|| output::line(line))
    }
}

fn lines(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| format!("{MARK}{}", output::line(line)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_are_shown_as_the_session_wants_them() {
        let said = |wanted| {
            let mut thoughts = Thoughts::wanted(wanted);
            let first = thoughts.more("one\ntw");
            let latest = thoughts.latest();
            (first, latest, thoughts.more("o"), thoughts.end())
        };
        let all = |words: &[&str]| words.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        for wanted in [Thinking::AsAsked, Thinking::Hidden] {
            assert_eq!(said(wanted), (all(&[]), None, all(&[]), all(&[])));
        }
        let whole = (all(&[]), None, all(&[]), all(&["∴ one", "∴ two"]));
        assert_eq!(said(Thinking::Whole), whole);
        let streamed = (
            all(&["∴ one"]),
            Some("tw".to_owned()),
            all(&[]),
            all(&["∴ two"]),
        );
        assert_eq!(said(Thinking::Streamed), streamed);
    }

    #[test]
    fn thoughts_do_nothing_to_a_terminal_and_have_a_bound() {
        let mut thoughts = Thoughts::wanted(Thinking::Whole);
        thoughts.more("a\u{1b}[2J");
        thoughts.more(&"x".repeat(LIMIT));
        assert_eq!(thoughts.end(), ["∴ a\\x1b[2J"]);
    }
}
