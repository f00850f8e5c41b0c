//! The configuration file as written: JSON5 with `${VARIABLE}` references.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde_json::{Map, Value};

use crate::environment::Environment;
use crate::error::Error;
use crate::nearest::nearest;
use crate::substitute::{self, Missing};

/// Top-level sections of OpenClaw (seed 003 §2.2) and of the MVP schema
/// (seed 002, `agent`), and our own `sandbox`.
const SECTIONS: [&str; 31] = [
    "agent",
    "agents",
    "approvals",
    "auth",
    "bindings",
    "browser",
    "channels",
    "commands",
    "cron",
    "diagnostics",
    "discovery",
    "env",
    "gateway",
    "hooks",
    "logging",
    "media",
    "memory",
    "messages",
    "meta",
    "models",
    "plugins",
    "sandbox",
    "secrets",
    "session",
    "skills",
    "talk",
    "tools",
    "ui",
    "update",
    "web",
    "wizard",
];

/// Reads `path`, checks its sections and puts in the environment's values.
/// A missing or empty file is an empty document.
pub fn read(path: &Path, environment: &Environment, missing: Missing) -> Result<Value, Error> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(source) => {
            return Err(Error::Read {
                path: path.to_owned(),
                source,
            });
        }
    };
    let mut document = parse(path, &text)?;
    check_sections(path, &document)?;
    substitute::apply(path, &mut document, environment, missing)?;
    Ok(document)
}

fn parse(path: &Path, text: &str) -> Result<Value, Error> {
    if text.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    let document: Value = json5::from_str(text).map_err(|error| {
        let (line, column) = error
            .position()
            .map_or((0, 0), |position| (position.line + 1, position.column + 1));
        Error::Syntax {
            path: path.to_owned(),
            line,
            column,
            message: error.to_string(),
        }
    })?;
    if document.is_object() {
        return Ok(document);
    }
    Err(value_error(path, "(top level)", "must be an object { … }"))
}

fn check_sections(path: &Path, document: &Value) -> Result<(), Error> {
    let sections = document.as_object().map(Map::keys).into_iter().flatten();
    for section in sections {
        // `$schema` and `$include` are directives, not sections.
        if section.starts_with('$') || SECTIONS.contains(&section.as_str()) {
            continue;
        }
        let hint = nearest(section, SECTIONS)
            .map(|known| format!("; did you mean {known:?}?"))
            .unwrap_or_default();
        let problem = format!("is no section of the configuration{hint}");
        return Err(value_error(path, section, &problem));
    }
    Ok(())
}

fn value_error(path: &Path, key: &str, problem: &str) -> Error {
    Error::Value {
        origin: path.display().to_string(),
        key: key.to_owned(),
        problem: problem.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Value, Error> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("openclaw.json");
        fs::write(&path, text).unwrap();
        let environment = [("TOKEN", "s3cret")].into_iter().collect();
        read(&path, &environment, Missing::Refused)
    }

    #[test]
    fn comments_trailing_commas_and_references() {
        let document =
            read_text("{ // mine\n models: { providers: { x: { apiKey: '${TOKEN}', }, }, }, }")
                .unwrap();
        assert_eq!(document["models"]["providers"]["x"]["apiKey"], "s3cret");
    }

    #[test]
    fn empty_and_missing_files_are_empty_documents() {
        assert_eq!(read_text(" \n").unwrap(), Value::Object(Map::new()));
        let missing = read(
            Path::new("/nonexistent/openclaw.json"),
            &Environment::default(),
            Missing::Refused,
        );
        assert_eq!(missing.unwrap(), Value::Object(Map::new()));
    }

    #[test]
    fn a_broken_file_is_named_with_line_and_column() {
        let error = read_text("{\n  agents: {\n    defaults: [\n").unwrap_err();
        let Error::Syntax { line, column, .. } = error else {
            panic!("{error}");
        };
        assert!(line >= 3 && column >= 1, "{line}:{column}");
    }

    #[test]
    fn unknown_sections_get_a_hint() {
        let error = read_text("{ agnets: {} }").unwrap_err().to_string();
        assert!(
            error.contains("agnets") && error.contains("\"agents\""),
            "{error}"
        );
    }
}
