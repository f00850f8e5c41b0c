//! Long output on a terminal goes through a pager, as git's does. One that cannot be
//! started, or ends at once with an error and has read nothing, has shown nothing: what it was
//! given is then printed without it.

use std::env;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::{Command, Stdio};

use crate::output;
use crate::reader;
use crate::size::size;

/// What is run where nothing else is chosen.
const USUAL: &str = "less";
/// How less behaves unless its user says otherwise: it ends by itself where all
/// fits the screen, shows our colours, and leaves what it showed.
const LESS: &str = "FRX";

/// A pager that reads standard output. Waited for when dropped.
#[derive(Debug)]
pub struct Pager(());

impl Pager {
    /// Starts one where standard input and output are a terminal: `OPENCLAW_PAGER`, else
    /// `PAGER`, else less. None where that is empty or cat, or cannot be started.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "the user's own pager, by the user's own variable: no agent"
    )]
    pub fn begin() -> Option<Self> {
        // Where nobody types, nobody would end it.
        if !output::stdout_is_terminal() || !io::stdin().is_terminal() {
            return None;
        }
        let line = wanted(|name| env::var(name).ok())?;
        let mut command = Command::new("sh");
        command.args(["-c", &line]).stdin(Stdio::piped());
        if env::var_os("LESS").is_none() {
            command.env("LESS", LESS);
        }
        if env::var_os("LESSCHARSET").is_none() {
            command.env("LESSCHARSET", "utf-8");
        }
        let (columns, _) = size();
        let mut child = command.spawn().ok()?;
        let pipe = child.stdin.take()?;
        reader::begin(child, &pipe).ok()?;
        output::reader_is_terminal(columns);
        Some(Self(()))
    }
}

impl Drop for Pager {
    fn drop(&mut self) {
        let _ = io::stdout().flush();
        reader::end();
    }
}

/// The line for the shell; None: no pager, as on a terminal that can only print, unless
/// one is chosen for this program.
fn wanted(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let ours = variable("OPENCLAW_PAGER");
    // It would have to draw where nothing can be drawn, and says so before all else.
    let is_dumb = variable("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    if ours.is_none() && is_dumb {
        return None;
    }
    let chosen = ours.or_else(|| variable("PAGER"));
    let line = chosen.unwrap_or_else(|| USUAL.to_owned());
    let is_none = line.trim().is_empty() || line.trim() == "cat";
    // Where less is not, sh would say so and show nothing.
    let is_there = line != USUAL || has_less(variable("PATH"));
    (!is_none && is_there).then_some(line)
}

fn has_less(path: Option<String>) -> bool {
    let path = path.unwrap_or_default();
    path.split(':')
        .any(|folder| std::path::Path::new(folder).join(USUAL).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pager_is_the_users() {
        let on = |term: &str, ours: Option<&str>, pager: Option<&str>| {
            wanted(|name| match name {
                "OPENCLAW_PAGER" => ours.map(str::to_owned),
                "PAGER" => pager.map(str::to_owned),
                "TERM" => Some(term.to_owned()),
                _ => None,
            })
        };
        let chosen = |ours, pager| on("xterm", ours, pager);
        assert_eq!(chosen(Some("more"), Some("most")).as_deref(), Some("more"));
        assert_eq!(chosen(None, Some("most -s")).as_deref(), Some("most -s"));
        assert_eq!(chosen(Some(""), Some("most")), None);
        assert_eq!(chosen(None, Some("cat")), None);
        assert_eq!(chosen(None, None), None, "less is in no folder");
        for term in ["", "dumb"] {
            assert_eq!(on(term, None, Some("most")), None, "{term:?}");
            assert_eq!(on(term, Some("more"), None).as_deref(), Some("more"));
        }
    }
}
