//! Commands of the user's own, as git has them: `~/.config/openclaw/aliases`,
//! lines `NAME = WORDS`, or `NAME = !LINE` for the shell. It is looked at only where a
//! command is not known.

use std::fmt;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::failure::Failure;
use crate::output;
use openclaw_config::Environment;

/// Bytes that are read of the file.
const LONGEST: u64 = 64 * 1024;
/// What a line for the shell begins with.
const SHELL: char = '!';

/// What a command of the user's own stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// These words of ours, and what follows.
    Words(Vec<String>),
    /// This line of the shell, with what follows as its arguments.
    Shell(String),
}

impl fmt::Display for Meaning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(words) => {
                let words = words.iter().map(String::as_str);
                let joined = shlex::try_join(words).unwrap_or_default();
                write!(out, "{joined:?}")
            }
            Self::Shell(line) => write!(out, "the shell's {line:?}"),
        }
    }
}

/// A command of the user's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alias {
    /// How it is called.
    pub name: String,
    /// What is written behind it.
    pub text: String,
}

/// Those that there are, as far as the file can be read.
#[must_use]
pub fn all(environment: &Environment) -> Vec<Alias> {
    let Some(path) = path(environment) else {
        return Vec::new();
    };
    let mut text = String::new();
    let read = File::open(&path).and_then(|file| file.take(LONGEST).read_to_string(&mut text));
    match read {
        Ok(_) => parsed(&text),
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => {
            let path = path.display();
            output::stderr_line(&format!("warning: {path} is not used: {error}"));
            Vec::new()
        }
    }
}

/// What `name` stands for.
#[must_use]
pub fn find(name: &str, environment: &Environment) -> Option<Meaning> {
    let all = all(environment);
    all.iter().find(|alias| alias.name == name)?.meaning()
}

impl Alias {
    /// None: nothing, or a quote has no end.
    #[must_use]
    pub fn meaning(&self) -> Option<Meaning> {
        if let Some(line) = self.text.strip_prefix(SHELL) {
            let line = line.trim();
            return (!line.is_empty()).then(|| Meaning::Shell(line.to_owned()));
        }
        let words = shlex::split(&self.text).filter(|words| !words.is_empty())?;
        Some(Meaning::Words(words))
    }
}

/// Has the shell run `line` with `arguments`, as git does; the code that it ends with.
///
/// # Errors
/// When there is no shell.
#[expect(
    clippy::disallowed_methods,
    reason = "the user's own line, out of the user's own file: no agent"
)]
pub fn run(line: &str, arguments: &[String]) -> Result<ExitCode, Failure> {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!("{line} \"$@\""), line])
        .args(arguments);
    let ended = shell
        .status()
        .map_err(|error| Failure::new(format!("cannot start sh for {line:?}: {error}")))?;
    // A signal ends it as a shell says it: with 128 and its number.
    let code = ended.code().or_else(|| {
        use std::os::unix::process::ExitStatusExt as _;
        Some(128 + ended.signal()?)
    });
    let code = code.and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
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

fn parsed(text: &str) -> Vec<Alias> {
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'));
    let aliases = lines.filter_map(|line| {
        let (name, text) = line.split_once('=')?;
        Some(Alias {
            name: name.trim().to_owned(),
            text: text.trim().to_owned(),
        })
    });
    aliases.filter(|alias| !alias.name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alias_stands_for_words_or_a_line() {
        let text = "# mine\nst = status --verbose\nask=message --session \"my work\" ''\nnone =\n\
                    open = message 'no end\nlast = !openclawctl turns | head\nbang = !\n= x\n";
        let all = parsed(text);
        let found = |name: &str| all.iter().find(|it| it.name == name)?.meaning();
        let words = |words: &[&str]| {
            let words = words.iter().map(|word| (*word).to_owned());
            Some(Meaning::Words(words.collect()))
        };
        assert_eq!(found("st"), words(&["status", "--verbose"]));
        assert_eq!(
            found("ask"),
            words(&["message", "--session", "my work", ""])
        );
        let line = "openclawctl turns | head".to_owned();
        assert_eq!(found("last"), Some(Meaning::Shell(line)));
        for name in ["none", "mine", "open", "bang", ""] {
            assert_eq!(found(name), None, "{name}");
        }
    }

    #[test]
    fn line_has_what_follows_as_its_arguments_and_ends_as_the_shell_does() {
        let arguments = ["a b".to_owned(), "c".to_owned()];
        let test = |line: &str| run(line, &arguments).unwrap();
        assert_eq!(test("test 'a b c' =  \"$1 $2\" #"), ExitCode::SUCCESS);
        assert_eq!(test("exit 7 #"), ExitCode::from(7));
        assert_eq!(test("kill -TERM $$ #"), ExitCode::from(143));
    }
}
