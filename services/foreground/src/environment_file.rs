//! `~/.config/openclaw/env`, which the agent-runner's unit reads with
//! EnvironmentFile=: model credentials that no other daemon is given.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use anyhow::Context as _;
use openclaw_config::Paths;
use openclaw_terminal::Failure;

/// The file's variables; none when there is no file.
pub fn read(paths: &Paths) -> Result<Vec<(String, String)>, Failure> {
    let Some(path) = place(paths) else {
        return Ok(Vec::new());
    };
    match fs::read_to_string(&path) {
        Ok(text) => Ok(variables(&text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error)
            .with_context(|| format!("cannot read {}", path.display()))
            .map_err(Failure::from),
    }
}

/// Where it is, if there is a home.
#[must_use]
pub fn place(paths: &Paths) -> Option<PathBuf> {
    let home = paths.home.as_ref()?;
    Some(home.join(".config/openclaw/env"))
}

/// The part of systemd.exec(5)'s format that people use: one assignment a
/// line, comments, quotes around a whole value. Other lines are left out, as
/// systemd does.
fn variables(text: &str) -> Vec<(String, String)> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.starts_with(['#', ';']))
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.trim().to_owned(), unquoted(value.trim()).to_owned()))
        .filter(|(name, _)| is_name(name))
        .collect()
}

fn is_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(allowed)
}

fn unquoted(value: &str) -> &str {
    for quote in ['"', '\''] {
        let inner = value
            .strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote));
        if let Some(inner) = inner {
            return inner;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments_comments_and_quotes() {
        let text = "# keys\nA=1\n B = \"two words\" \n;C=3\nexport D=4\nE='x=y'\n2F=1\nG\n\nH=";
        let expected = [("A", "1"), ("B", "two words"), ("E", "x=y"), ("H", "")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(variables(text), expected);
    }
}
