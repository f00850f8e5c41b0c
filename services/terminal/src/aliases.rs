//! Commands of the user's own, as git has them: `~/.config/openclaw/aliases`,
//! lines `NAME = WORDS`. It is looked at only where a command is not known.

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;

use crate::output;
use openclaw_config::Environment;

/// Bytes that are read of the file.
const LONGEST: u64 = 64 * 1024;

/// What `name` stands for.
#[must_use]
pub fn find(name: &str, environment: &Environment) -> Option<Vec<String>> {
    let path = path(environment)?;
    let mut text = String::new();
    let read = File::open(&path)
        .ok()?
        .take(LONGEST)
        .read_to_string(&mut text);
    if let Err(error) = read {
        let path = path.display();
        output::stderr_line(&format!("warning: {path} is not used: {error}"));
        return None;
    }
    meaning(&text, name)
}

fn path(environment: &Environment) -> Option<PathBuf> {
    let folder = match environment
        .get("XDG_CONFIG_HOME")
        .filter(|it| it.starts_with('/'))
    {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(environment.get("HOME")?).join(".config"),
    };
    Some(folder.join("openclaw").join("aliases"))
}

fn meaning(text: &str, name: &str) -> Option<Vec<String>> {
    let mut lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'));
    let words = lines.find_map(|line| {
        let (alias, words) = line.split_once('=')?;
        (alias.trim() == name).then_some(words)
    })?;
    shlex::split(words).filter(|words| !words.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alias_stands_for_words() {
        let text = "# mine\nst = status --verbose\nask=message --session \"my work\" ''\nnone =\n";
        let found = |name: &str| meaning(text, name);
        assert_eq!(found("st").unwrap(), ["status", "--verbose"]);
        assert_eq!(
            found("ask").unwrap(),
            ["message", "--session", "my work", ""]
        );
        assert_eq!(found("none"), None);
        assert_eq!(found("mine"), None);
        assert_eq!(meaning("open = message 'no end", "open"), None);
    }
}
