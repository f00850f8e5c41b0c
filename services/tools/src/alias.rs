//! Other names of a tool and of its arguments.

use serde_json::Value;

/// Arguments' other names with the real ones.
pub(crate) type Renames = &'static [(&'static str, &'static str)];

/// Another name of a tool.
#[derive(Debug, Clone)]
pub(crate) struct Alias {
    alias: String,
    name: String,
    renames: Renames,
}

impl Alias {
    pub(crate) fn new(alias: &str, name: &str, renames: Renames) -> Self {
        Self {
            alias: alias.to_owned(),
            name: name.to_owned(),
            renames,
        }
    }

    pub(crate) fn is(&self, name: &str) -> bool {
        self.alias == name
    }

    /// The tool's own name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The arguments with their real names. One that is there under its real
    /// name already keeps that, and the schema refuses the other.
    pub(crate) fn rename(&self, mut arguments: Value) -> Value {
        if let Some(fields) = arguments.as_object_mut() {
            for (other, real) in self.renames {
                if !fields.contains_key(*real)
                    && let Some(value) = fields.shift_remove(*other)
                {
                    fields.insert((*real).to_owned(), value);
                }
            }
        }
        arguments
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn alias_stands_for_its_tool_and_its_arguments() {
        let alias = Alias::new(
            "Read",
            "read_file",
            &[("file_path", "path"), ("from", "start")],
        );
        assert!(alias.is("Read") && !alias.is("read_file"));
        assert_eq!(alias.name(), "read_file");
        let renamed = |arguments: Value| alias.rename(arguments);
        assert_eq!(
            renamed(json!({"file_path": "a", "from": 1, "other": 2})),
            json!({"other": 2, "path": "a", "start": 1})
        );
        let both = json!({"file_path": "a", "path": "b"});
        assert_eq!(renamed(both.clone()), both);
        assert_eq!(renamed(json!({"path": "b"})), json!({"path": "b"}));
        assert_eq!(renamed(json!(null)), json!(null));
    }
}
