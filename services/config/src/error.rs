//! What can be wrong with the configuration.

use std::io;
use std::path::PathBuf;

/// A configuration that cannot be used. Daemons exit 78 (EX_CONFIG) on it.
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
    /// The file cannot be read.
    #[error("cannot read the configuration {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
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
}
