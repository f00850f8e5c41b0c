//! Paths of the machine that was backed up, in the configuration.

use std::path::{Path, PathBuf};

use openclaw_config::{KeyPath, Paths, parse};
use serde_json::Value;

use crate::manifest::Manifest;
use crate::place::moved;

/// A value of the configuration that names a place of the machine before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// Its key.
    pub key: String,
    /// The path that it names.
    pub path: String,
    /// Where that is here.
    pub here: PathBuf,
}

/// Those of the configuration at `file`. None where it cannot be read: whoever
/// loads it says why.
pub(crate) fn find(file: &Path, manifest: &Manifest, paths: &Paths) -> Vec<Mention> {
    let text = parse::read(file).unwrap_or_default();
    let document = parse::parse_value(file, &text).ok().flatten();
    let mut mentions = Vec::new();
    if let Some(document) = document {
        look(&document, &KeyPath::default(), &mut |key, text| {
            let here = moved(Path::new(text), manifest, paths);
            if Path::new(text).is_absolute() && here != Path::new(text) {
                mentions.push(Mention {
                    key: key.to_string(),
                    path: text.to_owned(),
                    here,
                });
            }
        });
    }
    mentions
}

fn look(value: &Value, at: &KeyPath, seen: &mut impl FnMut(&KeyPath, &str)) {
    match value {
        Value::String(text) => seen(at, text),
        Value::Array(items) => {
            let numbered = items.iter().enumerate();
            numbered.for_each(|(index, item)| look(item, &at.child(&index.to_string()), seen));
        }
        Value::Object(map) => map
            .iter()
            .for_each(|(name, value)| look(value, &at.child(name), seen)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mentions_are_paths_of_the_old_home_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("openclaw.json");
        std::fs::write(
            &file,
            r#"{ agents: { defaults: { workspace: "/home/old/notes" },
                 list: [{ id: "a", workspace: "~/x" }, { id: "b", workspace: "/mnt/x" }] },
                 sandbox: { paths: ["/usr", "/home/old/.openclaw/p"] } }"#,
        )
        .unwrap();
        let manifest = Manifest {
            home: Some("/home/old".into()),
            state: "/home/old/.openclaw".into(),
            ..Manifest::default()
        };
        let paths = Paths::resolve(&[("HOME", "/home/new")].into_iter().collect()).unwrap();
        let found = find(&file, &manifest, &paths);
        let found: Vec<(&str, &str, &Path)> = found
            .iter()
            .map(|it| (it.key.as_str(), it.path.as_str(), it.here.as_path()))
            .collect();
        assert_eq!(
            found,
            [
                (
                    "agents.defaults.workspace",
                    "/home/old/notes",
                    Path::new("/home/new/notes")
                ),
                (
                    "sandbox.paths.1",
                    "/home/old/.openclaw/p",
                    Path::new("/home/new/.openclaw/p")
                ),
            ]
        );
    }
}
