//! The process environment as a value.

use std::collections::BTreeMap;

/// The variable with which `openclawctl run` passes settings of its command
/// line to the daemons: a JSON list of keys and values.
pub const OVERRIDES: &str = "OPENCLAW_OVERRIDES";

/// Environment variables and settings of the command line, as an input of the
/// configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    overrides: Vec<(String, String)>,
}

impl Environment {
    /// The variables of this process; those that are not UTF-8 are left out.
    pub fn inherit() -> Self {
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect()
    }

    /// The value of a variable; an empty one counts as not set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// The variables that are set and whose names begin so.
    pub fn beginning_with<'a>(
        &'a self,
        start: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.variables
            .range(start.to_owned()..)
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .take_while(move |(name, _)| name.starts_with(start))
            .filter(|(_, value)| !value.is_empty())
    }

    /// The same variables, with `more` where they have no value yet.
    pub fn with_fallback(&self, more: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut merged = self.clone();
        for (name, value) in more {
            if merged.get(&name).is_none() {
                merged.variables.insert(name, value);
            }
        }
        merged
    }

    /// The same with settings of the command line: keys and values, which come
    /// before variables and file.
    pub fn overridden(mut self, settings: impl IntoIterator<Item = (String, String)>) -> Self {
        self.overrides.extend(settings);
        self
    }

    /// The settings of the command line.
    pub fn overrides(&self) -> &[(String, String)] {
        &self.overrides
    }

    /// The settings of the command line as the value of [`OVERRIDES`]; `None`
    /// when there are none.
    pub fn overrides_variable(&self) -> Option<String> {
        let settings = serde_json::to_string(&self.overrides).ok();
        settings.filter(|_| !self.overrides.is_empty())
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(variables: I) -> Self {
        Self {
            variables: variables
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            overrides: Vec::new(),
        }
    }
}
