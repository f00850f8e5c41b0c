//! `$include`: parts of the configuration in files of their own (seed 003
//! §2.3, step 4; OpenClaw's documentation of config includes).
//!
//! A string stands for the file's content, a list for the deep merge of its
//! files. Keys beside it are merged over what was included.

use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value};

use crate::error::Error;
use crate::key::KeyPath;
use crate::parse;
use crate::problem::Problem;

/// The directive.
pub const INCLUDE: &str = "$include";
/// Files that include files (OpenClaw's limit).
const DEPTH_LIMIT: usize = 10;
/// All files together: ten files that include ten files each, ten deep, would
/// be read for ever.
const FILES_LIMIT: usize = 200;

/// A file that takes part in the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Where it is.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// Where its content goes.
    pub mount: KeyPath,
}

/// Puts the included files in. `sources` gets every file that was read.
pub fn resolve(path: &Path, document: Value, sources: &mut Vec<Source>) -> Result<Value, Error> {
    let mut includer = Includer {
        folder: path.parent().unwrap_or(path),
        chain: vec![path.to_owned()],
        sources,
    };
    includer.value(document, &KeyPath::default())
}

struct Includer<'a> {
    /// The folder that included files must be in.
    folder: &'a Path,
    /// The files that are being included, outermost first.
    chain: Vec<PathBuf>,
    sources: &'a mut Vec<Source>,
}

impl Includer<'_> {
    fn value(&mut self, value: Value, at: &KeyPath) -> Result<Value, Error> {
        match value {
            Value::Array(items) => items
                .into_iter()
                .enumerate()
                .map(|(index, item)| self.value(item, &at.child(&index.to_string())))
                .collect(),
            Value::Object(mut fields) => {
                let directive = fields.shift_remove(INCLUDE);
                let rest = self.fields(fields, at)?;
                match directive {
                    Some(directive) => self.directive(&directive, rest, at),
                    None => Ok(Value::Object(rest)),
                }
            }
            other => Ok(other),
        }
    }

    fn fields(
        &mut self,
        fields: Map<String, Value>,
        at: &KeyPath,
    ) -> Result<Map<String, Value>, Error> {
        fields
            .into_iter()
            .map(|(key, value)| {
                let value = self.value(value, &at.child(&key))?;
                Ok((key, value))
            })
            .collect()
    }

    fn directive(
        &mut self,
        directive: &Value,
        beside: Map<String, Value>,
        at: &KeyPath,
    ) -> Result<Value, Error> {
        let included = match directive {
            Value::String(name) => self.file(name, at)?,
            Value::Array(names) => {
                let mut merged = Value::Object(Map::new());
                for name in names {
                    let name = name
                        .as_str()
                        .ok_or_else(|| self.refused(at, "lists something that is no string"))?;
                    merged = deep_merge(merged, self.file(name, at)?);
                }
                merged
            }
            _ => return Err(self.refused(at, "must be a string or a list of strings")),
        };
        match (beside.is_empty(), included.is_object()) {
            (true, _) => Ok(included),
            (false, true) => Ok(deep_merge(included, Value::Object(beside))),
            (false, false) => {
                Err(self.refused(at, "has keys beside it, so the file must hold an object"))
            }
        }
    }

    fn file(&mut self, name: &str, at: &KeyPath) -> Result<Value, Error> {
        let path = self.located(name, at)?;
        if self.chain.contains(&path) {
            let files: Vec<_> = self.chain.iter().chain([&path]).collect();
            let files: Vec<_> = files
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            return Err(self.refused(
                at,
                &format!("goes round in a circle: {}", files.join(" → ")),
            ));
        }
        if self.chain.len() > DEPTH_LIMIT {
            return Err(self.refused(at, &format!("goes more than {DEPTH_LIMIT} files deep")));
        }
        if self.sources.len() >= FILES_LIMIT {
            return Err(self.refused(at, &format!("leads to more than {FILES_LIMIT} files")));
        }
        // Also a file that is not there yet takes part: it may come.
        let index = self.sources.len();
        self.sources.push(Source {
            path: path.clone(),
            text: String::new(),
            mount: at.clone(),
        });
        let text = parse::read_existing(&path)?;
        let content = content(&path, &text)?;
        self.sources[index].text = text;
        self.chain.push(path);
        let resolved = self.value(content, at);
        self.chain.pop();
        resolved
    }

    /// The file `name` means, seen from the including file; confined to the
    /// folder of the configuration, by name and by what links lead to.
    fn located(&self, name: &str, at: &KeyPath) -> Result<PathBuf, Error> {
        let including = self.chain.last().and_then(|path| path.parent());
        let path = normalized(&including.unwrap_or(self.folder).join(name));
        let outside = |path: &Path| {
            let folder = self.folder.display();
            let path = path.display();
            self.refused(
                at,
                &format!("leads to {path}, which is outside of {folder}"),
            )
        };
        if !path.starts_with(self.folder) {
            return Err(outside(&path));
        }
        // A file that is not there is reported when it is read.
        let (Ok(real), Ok(folder)) = (path.canonicalize(), self.folder.canonicalize()) else {
            return Ok(path);
        };
        if real.starts_with(folder) {
            Ok(path)
        } else {
            Err(outside(&real))
        }
    }

    fn refused(&self, at: &KeyPath, problem: &str) -> Error {
        let file = self.chain.last().map_or(self.folder, PathBuf::as_path);
        Error::invalid(file, vec![Problem::other(at.child(INCLUDE), problem)])
    }
}

/// An included file may hold any value, unlike the configuration itself.
fn content(path: &Path, text: &str) -> Result<Value, Error> {
    match parse::parse_value(path, text)? {
        Some(value) => Ok(value),
        None => Ok(Value::Object(Map::new())),
    }
}

fn normalized(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                result.pop();
            }
            Component::CurDir => {}
            other => result.push(other),
        }
    }
    result
}

/// Objects are merged, lists put behind each other, everything else replaced.
pub fn deep_merge(under: Value, over: Value) -> Value {
    match (under, over) {
        (Value::Array(mut under), Value::Array(over)) => {
            under.extend(over);
            Value::Array(under)
        }
        (Value::Object(mut under), Value::Object(over)) => {
            for (key, value) in over {
                let merged = match under.shift_remove(&key) {
                    Some(below) => deep_merge(below, value),
                    None => value,
                };
                under.insert(key, merged);
            }
            Value::Object(under)
        }
        (_, over) => over,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    fn resolved(files: &[(&str, &str)]) -> Result<Value, Error> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let path = folder.path().join(files[0].0);
        let document = parse::parse(&path, files[0].1)?;
        resolve(&path, document, &mut Vec::new())
    }

    fn refused(files: &[(&str, &str)]) -> String {
        resolved(files).unwrap_err().to_string()
    }

    #[test]
    fn files_are_put_in_and_merged() {
        let document = resolved(&[
            (
                "o.json",
                "{ agents: { $include: './parts/a.json5' }, $include: ['b.json', 'c.json'], x: { z: 3 } }",
            ),
            ("parts/a.json5", "{ list: { $include: 'list.json5' }, }"),
            ("parts/list.json5", "[1, 2]"),
            ("b.json", "{ x: { y: 1, z: 1 }, l: [1] }"),
            ("c.json", "{ x: { y: 2 }, l: [2] }"),
        ]);
        let expected = json!({
            "x": {"y": 2, "z": 3}, "l": [1, 2], "agents": {"list": [1, 2]},
        });
        assert_eq!(document.unwrap(), expected);
    }

    #[test]
    fn circles_are_named() {
        let error = refused(&[
            ("o.json", "{ $include: 'a.json' }"),
            ("a.json", "{ $include: 'b.json' }"),
            ("b.json", "{ x: { $include: 'a.json' } }"),
        ]);
        assert!(
            error.contains("x.$include") && error.contains("circle"),
            "{error}"
        );
        assert!(
            error.contains("a.json → ") && error.contains("b.json → "),
            "{error}"
        );
        let itself = refused(&[("o.json", "{ $include: './o.json' }")]);
        assert!(itself.contains("circle"), "{itself}");
    }

    #[test]
    fn include_ten_files_deep_and_no_more() {
        let chain = |depth: usize| {
            let mut files = vec![("o.json".to_owned(), "{ $include: '1.json' }".to_owned())];
            for n in 1..depth {
                files.push((
                    format!("{n}.json"),
                    format!("{{ $include: '{}.json' }}", n + 1),
                ));
            }
            files.push((format!("{depth}.json"), "{ x: 1 }".to_owned()));
            let files: Vec<_> = files
                .iter()
                .map(|(a, b)| (a.as_str(), b.as_str()))
                .collect();
            resolved(&files)
        };
        assert_eq!(chain(DEPTH_LIMIT).unwrap(), json!({"x": 1}));
        let error = chain(DEPTH_LIMIT + 1).unwrap_err().to_string();
        assert!(error.contains("10 files deep"), "{error}");
    }

    #[test]
    fn files_outside_are_refused() {
        for name in ["../x.json", "/etc/passwd", "a/../../x.json"] {
            let error = refused(&[
                ("d/o.json", &format!("{{ $include: '{name}' }}")),
                ("x.json", "{}"),
            ]);
            assert!(error.contains("outside of"), "{error}");
        }
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("in");
        fs::create_dir(&inside).unwrap();
        fs::write(folder.path().join("secret.json"), "{}").unwrap();
        std::os::unix::fs::symlink("../secret.json", inside.join("link.json")).unwrap();
        let document = json!({"$include": "link.json"});
        let error = resolve(&inside.join("o.json"), document, &mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("outside of"), "{error}");
    }

    #[test]
    fn include_what_cannot_be_included_is_named() {
        let missing = refused(&[("o.json", "{ $include: 'no.json' }")]);
        assert!(missing.contains("no.json"), "{missing}");
        assert!(refused(&[("o.json", "{ a: { $include: 5 } }")]).contains("a.$include"));
        assert!(
            refused(&[("o.json", "{ $include: ['a', 5] }"), ("a", "{}")]).contains("no string")
        );
        let beside = refused(&[("o.json", "{ a: { $include: 'l', b: 1 } }"), ("l", "[1]")]);
        assert!(beside.contains("must hold an object"), "{beside}");
        let broken = refused(&[("o.json", "{ $include: 'b' }"), ("b", "{\n x: ]")]);
        assert!(broken.contains("b:2:"), "{broken}");
    }
}
