//! The process environment as a value.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use nix::unistd::geteuid;

/// The variable with which `openclawctl run` passes settings of its command
/// line to the daemons: a JSON list of keys and values.
pub const OVERRIDES: &str = "OPENCLAW_OVERRIDES";
/// Where users have their runtime directories (pam_systemd(8)).
const RUNTIME_OF_USERS: &str = "/run/user";

/// Environment variables and settings of the command line, as an input of the
/// configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    overrides: Vec<(String, String)>,
    /// What XDG_RUNTIME_DIR would be, in a session of the user's.
    runtime_fallback: Option<PathBuf>,
}

impl Environment {
    /// The variables of this process; those that are not UTF-8 are left out.
    pub fn inherit() -> Self {
        let variables: Self = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        Self {
            runtime_fallback: own_runtime(Path::new(RUNTIME_OF_USERS)),
            ..variables
        }
    }

    /// The runtime directory of the user whose process this is, if it is there
    /// (pam_systemd(8)).
    pub fn runtime_fallback(&self) -> Option<&Path> {
        self.runtime_fallback.as_deref()
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

/// This user's folder in `users`, which nobody else may have made.
fn own_runtime(users: &Path) -> Option<PathBuf> {
    let user = geteuid().as_raw();
    let folder = users.join(user.to_string());
    let found = fs::symlink_metadata(&folder).ok()?;
    (found.is_dir() && found.uid() == user).then_some(folder)
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(variables: I) -> Self {
        Self {
            variables: variables
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            overrides: Vec::new(),
            runtime_fallback: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runtime_of_the_user_is_found_where_it_is_theirs() {
        let users = tempfile::tempdir().unwrap();
        assert_eq!(own_runtime(users.path()), None);
        let own = users.path().join(geteuid().to_string());
        std::os::unix::fs::symlink("/tmp", &own).unwrap();
        assert_eq!(own_runtime(users.path()), None, "a link");
        fs::remove_file(&own).unwrap();
        fs::create_dir(&own).unwrap();
        assert_eq!(own_runtime(users.path()), Some(own));
    }
}
