//! Other names of a tool and of its arguments.

use serde_json::Value;

/// Arguments' other names with the real ones.
pub type Renames = &'static [(&'static str, &'static str)];

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
