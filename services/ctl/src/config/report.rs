//! Telling problems.

use openclaw_config::problem::Kind;
use openclaw_config::{Error, Problem};
use openclaw_terminal::output;
use serde::Serialize;

/// One problem as `--json` prints it.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// The key; empty when it is about the whole file.
    path: String,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nearest: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
}

impl Report {
    fn bare(message: String) -> Self {
        Self {
            path: String::new(),
            message,
            value: None,
            allowed: None,
            nearest: None,
            file: None,
            line: None,
            column: None,
        }
    }

    /// All problems of an error, each by itself.
    pub(super) fn of(error: &Error) -> Vec<Self> {
        match error {
            Error::Invalid { problems, .. } => problems.iter().map(Self::from).collect(),
            Error::Syntax {
                path, line, column, ..
            } => vec![Self {
                file: Some(path.display().to_string()),
                line: Some(*line),
                column: Some(*column),
                ..Self::bare(error.to_string())
            }],
            Error::Value { key, .. } => vec![Self {
                path: key.clone(),
                ..Self::bare(error.to_string())
            }],
            other => {
                let cause = std::error::Error::source(other);
                let cause = cause.map(|cause| format!(": {cause}")).unwrap_or_default();
                vec![Self::bare(format!("{other}{cause}"))]
            }
        }
    }
}

impl From<&Problem> for Report {
    fn from(problem: &Problem) -> Self {
        let place = problem.place.as_deref();
        Self {
            path: problem.path.to_string(),
            message: problem.text(),
            value: match &problem.kind {
                Kind::Value { value, .. } => Some(value.clone()),
                _ => None,
            },
            allowed: problem.allowed(),
            nearest: problem.nearest.clone(),
            file: place.map(|place| place.file.display().to_string()),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
        }
    }
}

/// Prints problems, one a line.
pub(super) fn print(kind: &str, problems: &[Problem]) {
    for problem in problems {
        let place = match &problem.place {
            Some(place) => format!("{}:{}:{}: ", place.file.display(), place.line, place.column),
            None => String::new(),
        };
        let told = output::line(&format!("{place}{problem}"));
        output::stderr_line(&format!("{kind}: {told}"));
    }
}
