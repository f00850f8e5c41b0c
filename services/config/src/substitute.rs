//! `${VARIABLE}` references in strings (seed 003 §2.3, step 5).

use std::path::Path;

use serde_json::Value;

use crate::environment::Environment;
use crate::error::Error;

/// What a reference to a variable that is not set means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// An error, wherever it is.
    Refused,
    /// Left as it is in the sections whose secrets one daemon alone holds, the
    /// gateway or the agent-runner: they are in its environment alone.
    KeptForOwner,
}

/// Sections with secrets that are in one daemon's environment alone. It checks
/// them itself.
const OWNED_SECTIONS: [&str; 4] = ["env", "gateway", "hooks", "models"];

/// Replaces every `${NAME}` in every string of `document`; `$${` stands for a
/// literal `${`. A variable that is not set is an error that names the key,
/// unless `missing` lets it be.
pub fn apply(
    path: &Path,
    document: &mut Value,
    environment: &Environment,
    missing: Missing,
) -> Result<(), Error> {
    walk(document, &mut Vec::new(), &|key, text| {
        let owned = key
            .first()
            .is_some_and(|section| OWNED_SECTIONS.contains(&section.as_str()));
        match expand(text, environment) {
            Ok(text) => Ok(text),
            Err(_) if owned && missing == Missing::KeptForOwner => Ok(text.to_owned()),
            Err(name) => Err(Error::Value {
                origin: path.display().to_string(),
                key: key.join("."),
                problem: format!("refers to ${{{name}}}, which is not set in the environment"),
            }),
        }
    })
}

type Expand<'a> = dyn Fn(&[String], &str) -> Result<String, Error> + 'a;

fn walk(value: &mut Value, key: &mut Vec<String>, expand: &Expand<'_>) -> Result<(), Error> {
    match value {
        Value::String(text) if text.contains("${") => *text = expand(key, text)?,
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                key.push(index.to_string());
                walk(item, key, expand)?;
                key.pop();
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields.iter_mut() {
                key.push(name.clone());
                walk(field, key, expand)?;
                key.pop();
            }
        }
        _ => {}
    }
    Ok(())
}

/// The text with its references replaced, or the name that is not set.
fn expand(text: &str, environment: &Environment) -> Result<String, String> {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let (before, reference) = rest.split_at(start);
        if let Some(literal) = before.strip_suffix('$') {
            result.push_str(literal);
            result.push_str("${");
            rest = &reference[2..];
            continue;
        }
        result.push_str(before);
        let Some(end) = reference.find('}') else {
            result.push_str(reference);
            return Ok(result);
        };
        let name = &reference[2..end];
        result.push_str(environment.get(name).ok_or_else(|| name.to_owned())?);
        rest = &reference[end + 1..];
    }
    result.push_str(rest);
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_literals_and_missing_names() {
        let environment: Environment = [("A", "1"), ("B", "2")].into_iter().collect();
        assert_eq!(expand("x${A}-${B}y", &environment).unwrap(), "x1-2y");
        assert_eq!(expand("$${A}", &environment).unwrap(), "${A}");
        assert_eq!(expand("${A", &environment).unwrap(), "${A");
        assert_eq!(expand("${C}", &environment).unwrap_err(), "C");
    }

    #[test]
    fn the_error_names_the_key() {
        let mut document = serde_json::json!({"models": {"list": ["${NOPE}"]}});
        let none = Environment::default();
        let error = apply(Path::new("f"), &mut document, &none, Missing::Refused).unwrap_err();
        assert!(error.to_string().contains("models.list.0"), "{error}");
        let before = document.clone();
        apply(Path::new("f"), &mut document, &none, Missing::KeptForOwner).unwrap();
        assert_eq!(document, before);
        let mut other = serde_json::json!({"logging": {"x": "${NOPE}"}});
        apply(Path::new("f"), &mut other, &none, Missing::KeptForOwner).unwrap_err();
    }
}
