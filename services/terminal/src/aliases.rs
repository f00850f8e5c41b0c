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
    /// What that is.
    pub meaning: Meaning,
}

/// Those that there are, and what of the file is none.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Aliases {
    /// Those that can be used.
    pub list: Vec<Alias>,
    /// What is wrong with the file, or with lines of it.
    pub problems: Vec<String>,
}

impl Aliases {
    /// Those of the user's file.
    #[must_use]
    pub fn read(environment: &Environment) -> Self {
        let Some(path) = path(environment) else {
            return Self::default();
        };
        let shown = path.display();
        let mut text = String::new();
        let read = File::open(&path).and_then(|file| file.take(LONGEST).read_to_string(&mut text));
        match read {
            Ok(length) => {
                let mut all = Self::of(&text);
                if u64::try_from(length).is_ok_and(|length| length >= LONGEST) {
                    let problem = format!("what is behind its first {LONGEST} bytes is not read");
                    all.problems.push(problem);
                }
                let problems = all.problems.iter();
                all.problems = problems.map(|it| format!("{shown}: {it}")).collect();
                all
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Self::default(),
            Err(error) => Self {
                list: Vec::new(),
                problems: vec![format!("{shown} is not used: {error}")],
            },
        }
    }

    /// Says what is wrong, on standard error.
    pub fn tell_problems(&self) {
        for problem in &self.problems {
            output::stderr_line(&format!("warning: {}", output::line(problem)));
        }
    }

    /// The one of this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Alias> {
        self.list.iter().find(|alias| alias.name == name)
    }

    /// Those of a file's text.
    fn of(text: &str) -> Self {
        let mut all = Self::default();
        let lines = text.lines().enumerate();
        for (at, line) in lines.map(|(at, line)| (at + 1, line.trim())) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let alias = match Alias::of(line) {
                Ok(alias) => alias,
                Err(problem) => {
                    all.problems
                        .push(format!("line {at} is no alias: {problem}"));
                    continue;
                }
            };
            if all.find(&alias.name).is_some() {
                let name = &alias.name;
                let problem = format!("line {at} is not used: {name:?} stands above it already");
                all.problems.push(problem);
                continue;
            }
            all.list.push(alias);
        }
        all
    }
}

impl Alias {
    /// The one of a line, or what is wrong with that.
    fn of(line: &str) -> Result<Self, String> {
        let (name, text) = line
            .split_once('=')
            .ok_or("there is no = behind its name")?;
        let (name, text) = (name.trim(), text.trim());
        if name.is_empty() {
            return Err("there is no name before the =".to_owned());
        }
        if name.starts_with('-') || name.contains(char::is_whitespace) {
            return Err(format!("{name:?} is not one word, or looks like an option"));
        }
        Ok(Self {
            meaning: Meaning::of(text).map_err(|why| format!("{name:?} {why}"))?,
            name: name.to_owned(),
            text: text.to_owned(),
        })
    }
}

impl Meaning {
    /// What `text` means, or why it means nothing.
    fn of(text: &str) -> Result<Self, &'static str> {
        const NOTHING: &str = "stands for nothing";
        if let Some(line) = text.strip_prefix(SHELL) {
            let line = line.trim();
            return if line.is_empty() {
                Err(NOTHING)
            } else {
                Ok(Self::Shell(line.to_owned()))
            };
        }
        let words = shlex::split(text).ok_or("has a quote without an end")?;
        if words.is_empty() {
            return Err(NOTHING);
        }
        Ok(Self::Words(words))
    }
}

/// Lets the shell run `line` with `arguments`, as git does; the code that it ends with.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alias_stands_for_words_or_a_line() {
        let text = "# mine\n\nst = status --verbose\nask=message --session \"my work\" ''\n\
                    last = !openclawctl turns | head\n";
        let all = Aliases::of(text);
        assert_eq!(all.problems, [] as [&str; 0]);
        let found = |name: &str| Some(all.find(name)?.meaning.clone());
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
        assert_eq!(found("mine"), None);
    }

    #[test]
    fn line_that_is_no_alias_is_said() {
        let text = "st = status\nnone =\nopen = message 'no end\nbang = !\n= x\nno sign\n\
                    two words = status\n--json = status\nst = turns\n";
        let all = Aliases::of(text);
        assert_eq!(all.list.len(), 1);
        let expected = [
            "line 2 is no alias: \"none\" stands for nothing",
            "line 3 is no alias: \"open\" has a quote without an end",
            "line 4 is no alias: \"bang\" stands for nothing",
            "line 5 is no alias: there is no name before the =",
            "line 6 is no alias: there is no = behind its name",
            "line 7 is no alias: \"two words\" is not one word, or looks like an option",
            "line 8 is no alias: \"--json\" is not one word, or looks like an option",
            "line 9 is not used: \"st\" stands above it already",
        ];
        assert_eq!(all.problems, expected);
    }

    #[test]
    fn file_that_cannot_be_read_is_said() {
        let home = tempfile::tempdir().unwrap();
        let place = home.path().join("openclaw/aliases");
        let folder = home.path().to_str().unwrap();
        let environment: Environment = [("XDG_CONFIG_HOME", folder)].into_iter().collect();
        assert_eq!(Aliases::read(&environment), Aliases::default());
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(&place, [0xff, 0xfe]).unwrap();
        let problems = Aliases::read(&environment).problems;
        assert!(problems[0].contains("aliases is not used:"), "{problems:?}");
        std::fs::write(&place, "x\n").unwrap();
        let problems = Aliases::read(&environment).problems;
        assert!(
            problems[0].contains("aliases: line 1 is no"),
            "{problems:?}"
        );
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
