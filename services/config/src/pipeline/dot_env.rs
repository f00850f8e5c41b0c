//! `.env` beside the configuration: variables for what the environment and
//! the file do not set (seed 003 §2.3, step 9).

use std::path::{Path, PathBuf};

use crate::environment::Environment;
use crate::error::Error;
use crate::parse;
use crate::syntax;

/// Where it is.
pub fn place(configuration: &Path) -> PathBuf {
    configuration.with_file_name(".env")
}

/// The environment with the file's variables behind it.
pub fn overlay(configuration: &Path, environment: &Environment) -> Result<Environment, Error> {
    let path = place(configuration);
    let text = match parse::read(&path) {
        Ok(text) => text,
        // `.env` may also be a folder, a Python environment.
        Err(Error::Read { source, .. }) if source.raw_os_error() == Some(nix::libc::EISDIR) => {
            String::new()
        }
        Err(error) => return Err(error),
    };
    let variables = variables(&path, &text)?;
    Ok(environment.with_fallback(variables))
}

fn variables(path: &Path, text: &str) -> Result<Vec<(String, String)>, Error> {
    dotenvy::from_read_iter(text.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|error| misfit(path, text, &error))
}

fn misfit(path: &Path, text: &str, error: &dotenvy::Error) -> Error {
    let (line, column) = match error {
        dotenvy::Error::LineParse(line, at) => {
            let start = text.find(line.as_str()).unwrap_or_default();
            syntax::line_and_column(text, start + at)
        }
        _ => (1, 1),
    };
    Error::Value {
        origin: path.display().to_string(),
        key: format!("line {line}, column {column}"),
        // The line itself may be a key.
        problem: "is no assignment; write NAME=value, with quotes around spaces".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_quotes_and_comments() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("openclaw.json");
        let outer: Environment = [("A", "outer")].into_iter().collect();
        assert_eq!(overlay(&file, &outer).unwrap(), outer);
        std::fs::write(
            place(&file),
            "# keys\nA=file\nexport B='two words'\nC=\"x\\ny\" # why\n\nD=\n",
        )
        .unwrap();
        let all = overlay(&file, &outer).unwrap();
        let values = ["A", "B", "C", "D"].map(|name| all.get(name));
        assert_eq!(
            values,
            [Some("outer"), Some("two words"), Some("x\ny"), None]
        );
    }

    #[test]
    fn broken_line_is_named_but_not_shown() {
        let error = variables(Path::new("/x/.env"), "A=1\nsk-secret value\n").unwrap_err();
        let text = error.to_string();
        assert!(text.contains("/x/.env: line 2"), "{text}");
        assert!(!text.contains("sk-secret"), "{text}");
    }
}
