//! Overlays: JSON merge patches (RFC 7396) in a folder beside the file, as
//! systemd has them for units (seed 003 §2.3, step 8).
//!
//! `openclaw.json.d/*.json` and `*.json5` are applied in the order of their
//! names; `null` takes a value away.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::include::Source;
use crate::error::Error;
use crate::key::KeyPath;
use crate::parse;

/// The folder of the file's overlays.
pub fn folder(configuration: &Path) -> PathBuf {
    let mut name = configuration.as_os_str().to_owned();
    name.push(".d");
    PathBuf::from(name)
}

/// The overlays in their order; none when there is no folder.
pub fn overlays(configuration: &Path) -> Result<Vec<Source>, Error> {
    let folder = folder(configuration);
    let failed = |source| Error::Read {
        path: folder.clone(),
        source,
    };
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // Hidden ones are editors' temporary files.
        if (name.ends_with(".json") || name.ends_with(".json5")) && !name.starts_with('.') {
            paths.push(path);
        }
    }
    paths.sort();
    let read = |path: PathBuf| {
        let text = parse::read_existing(&path)?;
        Ok(Source {
            path,
            text,
            mount: KeyPath::default(),
        })
    };
    paths.into_iter().map(read).collect()
}

/// `/dev/null.d` cannot be there: its parent is not a folder.
fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Applies the overlays.
pub fn apply(document: &mut Value, overlays: &[Source]) -> Result<(), Error> {
    for overlay in overlays {
        patch(document, parse::parse(&overlay.path, &overlay.text)?);
    }
    Ok(())
}

/// The parts over one another, the later over the earlier.
pub fn layered<'a>(parts: impl IntoIterator<Item = Option<&'a Value>>) -> Value {
    let mut merged = Value::Object(Map::new());
    for part in parts.into_iter().flatten() {
        patch(&mut merged, part.clone());
    }
    merged
}

/// RFC 7396.
pub fn patch(target: &mut Value, patch: Value) {
    let Value::Object(changes) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(fields) = target else {
        return;
    };
    for (key, change) in changes {
        if change.is_null() {
            fields.shift_remove(&key);
        } else {
            self::patch(fields.entry(key).or_insert(Value::Null), change);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The examples of RFC 7396, appendix A.
    #[test]
    fn examples_of_the_rfc() {
        for (target, change, result) in [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (
                json!({"a": "b"}),
                json!({"b": "c"}),
                json!({"a": "b", "b": "c"}),
            ),
            (json!({"a": "b"}), json!({"a": null}), json!({})),
            (
                json!({"a": "b", "b": "c"}),
                json!({"a": null}),
                json!({"b": "c"}),
            ),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "c"}), json!({"a": ["b"]}), json!({"a": ["b"]})),
            (
                json!({"a": {"b": "c"}}),
                json!({"a": {"b": "d", "c": null}}),
                json!({"a": {"b": "d"}}),
            ),
            (
                json!({"a": [{"b": "c"}]}),
                json!({"a": [1]}),
                json!({"a": [1]}),
            ),
            (json!(["a", "b"]), json!(["c", "d"]), json!(["c", "d"])),
            (json!({"a": "b"}), json!(["c"]), json!(["c"])),
            (
                json!({"e": null}),
                json!({"a": 1}),
                json!({"e": null, "a": 1}),
            ),
            (
                json!([1, 2]),
                json!({"a": "b", "c": null}),
                json!({"a": "b"}),
            ),
            (
                json!({}),
                json!({"a": {"bb": {"ccc": null}}}),
                json!({"a": {"bb": {}}}),
            ),
        ] {
            let mut patched = target;
            patch(&mut patched, change);
            assert_eq!(patched, result);
        }
    }

    #[test]
    fn overlays_are_applied_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("openclaw.json");
        let overlay_folder = super::folder(&file);
        assert!(overlays(&file).unwrap().is_empty());
        fs::create_dir(&overlay_folder).unwrap();
        for (name, text) in [
            ("20-b.json", "{ a: 2, // later\n }"),
            ("10-a.json5", "{ a: 1, b: null }"),
            (".30.json", "{ a: 3 }"),
            ("README", "x"),
        ] {
            fs::write(overlay_folder.join(name), text).unwrap();
        }
        let mut document = json!({"b": 1});
        apply(&mut document, &overlays(&file).unwrap()).unwrap();
        assert_eq!(document, json!({"a": 2}));
        fs::write(overlay_folder.join("30.json"), "{\n x").unwrap();
        let error = apply(&mut document, &overlays(&file).unwrap()).unwrap_err();
        assert!(error.to_string().contains("30.json:2:"), "{error}");
    }
}
