//! What can be wrong with the configuration.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::edit;
use crate::problem::Problem;

/// The origin of values that variables set.
pub const ENVIRONMENT: &str = "the environment";
/// The origin of values that the command line sets.
pub const COMMAND_LINE: &str = "the command line";

/// The most one file may have; OpenClaw's limit for included files. An avatar
/// inside the configuration may have two million characters.
pub const SIZE_LIMIT: u64 = 4 << 20;

/// How many problems a message names; the rest is a number.
const NAMED_PROBLEMS: usize = 5;

/// A configuration that cannot be used, or not be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Neither OPENCLAW_STATE_DIR nor a home directory is known.
    #[error("no state directory: set OPENCLAW_STATE_DIR or HOME to an absolute path")]
    NoStateDirectory,
    /// A directory variable that is not absolute.
    #[error("{variable} is {value:?}: it must be an absolute path")]
    RelativePath {
        /// The environment variable.
        variable: &'static str,
        /// Its value.
        value: String,
    },
    /// A file cannot be read.
    #[error("cannot read the configuration {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file that cannot be a configuration.
    #[error("{0} is larger than any configuration ({limit} MiB)", limit = SIZE_LIMIT >> 20)]
    TooLarge(PathBuf),
    /// The file is not JSON5.
    #[error("{path}:{line}:{column}: not valid JSON5: {message}")]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
        /// What the parser says.
        message: String,
    },
    /// A value that is not allowed.
    #[error("{origin}: {key}: {problem}")]
    Value {
        /// The file or the environment variable it comes from.
        origin: String,
        /// The dotted path of the value.
        key: String,
        /// What is wrong and what is allowed.
        problem: String,
    },
    /// Keys or values that are not allowed.
    #[error("{}", named(.path, .problems))]
    Invalid {
        /// The file.
        path: PathBuf,
        /// At least one.
        problems: Vec<Problem>,
    },
    /// The text of the file could not be changed.
    #[error("{path}: {why}")]
    Edit {
        /// The file.
        path: PathBuf,
        /// A part of the message, so it is no source of it.
        why: edit::Error,
    },
    /// The file cannot be written; it is as it was before.
    #[error("cannot write {path}; nothing was changed")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Somebody else could read or change what is private.
    #[error("{path} {problem}; {fix}")]
    Permissions {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong.
        problem: String,
        /// What to do.
        fix: String,
    },
}

impl Error {
    /// Several problems of one file.
    pub fn invalid(path: &Path, problems: Vec<Problem>) -> Self {
        Self::Invalid {
            path: path.to_owned(),
            problems,
        }
    }

    /// Whether it is about the environment or the machine, so that another
    /// configuration file would not help.
    pub fn is_beyond_file(&self) -> bool {
        match self {
            Self::NoStateDirectory | Self::RelativePath { .. } | Self::Permissions { .. } => true,
            Self::Value { origin, .. } => [ENVIRONMENT, COMMAND_LINE].contains(&origin.as_str()),
            _ => false,
        }
    }
}

/// The problems on one line, each with its place.
fn named(path: &Path, problems: &[Problem]) -> impl fmt::Display {
    let mut all: Vec<String> = problems
        .iter()
        .take(NAMED_PROBLEMS)
        .map(|problem| match &problem.place {
            Some(place) => {
                let file = place.file.display();
                format!("{file}:{}:{}: {problem}", place.line, place.column)
            }
            None => format!("{}: {problem}", path.display()),
        })
        .collect();
    if problems.len() > NAMED_PROBLEMS {
        all.push(format!("and {} more", problems.len() - NAMED_PROBLEMS));
    }
    all.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::KeyPath;
    use crate::problem::Place;

    fn problem(key: &str) -> Problem {
        Problem::other(KeyPath::parse(key).unwrap(), "is odd")
    }

    #[test]
    fn five_problems_are_named_and_the_others_counted() {
        let text = |count: usize| {
            let problems = (0..count).map(|at| problem(&format!("k{at}")));
            Error::invalid(Path::new("/f"), problems.collect()).to_string()
        };
        let named = |count: usize| {
            let all: Vec<_> = (0..count).map(|at| format!("/f: k{at}: is odd")).collect();
            all.join("; ")
        };
        assert_eq!(text(1), named(1));
        assert_eq!(text(5), named(5));
        assert_eq!(text(6), named(5) + "; and 1 more");
        assert_eq!(text(9), named(5) + "; and 4 more");
    }

    #[test]
    fn problem_is_named_with_its_place() {
        let place = Place {
            file: "/d".into(),
            line: 3,
            column: 7,
        };
        let placed = Problem {
            place: Some(Box::new(place)),
            ..problem("a")
        };
        let text = Error::invalid(Path::new("/f"), vec![placed]).to_string();
        assert_eq!(text, "/d:3:7: a: is odd");
    }

    #[test]
    fn errors_of_the_machine_are_told_from_those_of_the_file() {
        let value = |origin: &str| Error::Value {
            origin: origin.to_owned(),
            key: "a".to_owned(),
            problem: String::new(),
        };
        let relative = Error::RelativePath {
            variable: "HOME",
            value: "x".to_owned(),
        };
        let permissions = Error::Permissions {
            path: "/f".into(),
            problem: String::new(),
            fix: String::new(),
        };
        let beyond = [
            Error::NoStateDirectory,
            relative,
            permissions,
            value(ENVIRONMENT),
            value(COMMAND_LINE),
        ];
        assert!(beyond.iter().all(Error::is_beyond_file));
        let of_file = [
            value("/f"),
            Error::TooLarge("/f".into()),
            Error::invalid(Path::new("/f"), vec![problem("a")]),
        ];
        assert!(!of_file.iter().any(Error::is_beyond_file));
    }
}
