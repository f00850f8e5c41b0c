//! What can be wrong with the configuration.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::edit;
use crate::problem::Problem;

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
    #[error("{0} is larger than any configuration ({limit} MiB)", limit = crate::parse::SIZE_LIMIT >> 20)]
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
    #[error("{path}: {source}")]
    Edit {
        /// The file.
        path: PathBuf,
        /// Why; a part of the message.
        source: edit::Error,
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
            Self::Value { origin, .. } => {
                [crate::ENVIRONMENT, crate::COMMAND_LINE].contains(&origin.as_str())
            }
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
