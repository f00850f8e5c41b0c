//! What would make a confinement possible.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What would give a stricter level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remedy {
    /// A line for a shell.
    Command(String),
    /// What no command does.
    Words(String),
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(text) | Self::Words(text) => f.write_str(text),
        }
    }
}
