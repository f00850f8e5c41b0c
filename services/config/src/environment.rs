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

/// Set to "yes" in the suite of the machine.
const SYSTEM: &str = "OPENCLAW_SYSTEM";
/// Where the suite of the machine has its places; its units (`systemd/system`) say the same.
const OF_MACHINE: [(&str, &str); 4] = [
    (SYSTEM, "yes"),
    ("OPENCLAW_STATE_DIR", "/var/lib/openclaw"),
    ("OPENCLAW_AGENT_DIR", "/var/lib/openclaw-agent"),
    ("OPENCLAW_RUNTIME_DIR", "/run/openclaw"),
];

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
    pub(crate) fn runtime_fallback(&self) -> Option<&Path> {
        self.runtime_fallback.as_deref()
    }

    /// The value of a variable; an empty one counts as not set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// Whether this is the suite of the machine and not of a user: each daemon is a user of its
    /// own, and its units are those of the machine's manager.
    #[must_use]
    pub fn is_of_machine(&self) -> bool {
        self.get(SYSTEM) == Some("yes")
    }

    /// The same for the suite of the machine, wherever a variable says something else.
    #[must_use]
    pub fn of_machine(mut self) -> Self {
        for (name, value) in OF_MACHINE {
            self.variables.insert(name.to_owned(), value.to_owned());
        }
        self
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

    fn environment(variables: &[(&str, &str)]) -> Environment {
        variables.iter().copied().collect()
    }

    fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        pairs.iter().map(own).collect()
    }

    #[test]
    fn variable_that_is_empty_is_none() {
        let environment = environment(&[("A", "1"), ("B", "")]);
        assert_eq!(environment.get("A"), Some("1"));
        assert_eq!(environment.get("B"), None);
        assert_eq!(environment.get("C"), None);
        assert_eq!(environment.runtime_fallback(), None);
    }

    #[test]
    fn suite_of_the_machine_has_its_places_whatever_else_is_said() {
        let users = environment(&[("OPENCLAW_STATE_DIR", "/s"), ("A", "1")]);
        assert!(!users.is_of_machine());
        let machine = users.of_machine();
        assert!(machine.is_of_machine());
        assert_eq!(machine.get("A"), Some("1"));
        let paths = crate::Paths::resolve(&machine).unwrap();
        assert_eq!(paths.state, Path::new("/var/lib/openclaw"));
        assert_eq!(
            paths.gateway_socket(),
            Path::new("/run/openclaw/gateway.sock")
        );
    }

    #[test]
    fn variables_are_found_by_the_beginning_of_their_names() {
        let environment = environment(&[
            ("A_", "0"),
            ("B_A", "1"),
            ("B_B", ""),
            ("B_C", "2"),
            ("BA", "3"),
        ]);
        let found: Vec<_> = environment.beginning_with("B_").collect();
        assert_eq!(found, [("B_A", "1"), ("B_C", "2")]);
        assert_eq!(environment.beginning_with("C").count(), 0);
    }

    #[test]
    fn fallback_fills_what_has_no_value() {
        let environment = environment(&[("A", "1"), ("B", "")]);
        let more = owned(&[("A", "2"), ("B", "3"), ("C", "4")]);
        let merged = environment.with_fallback(more);
        let all = ["A", "B", "C"].map(|name| merged.get(name));
        assert_eq!(all, [Some("1"), Some("3"), Some("4")]);
    }

    #[test]
    fn settings_of_the_command_line_are_added_and_passed_on() {
        let none = Environment::default();
        assert_eq!(none.overrides(), []);
        assert_eq!(none.overrides_variable(), None);
        let (first, second) = (owned(&[("a.b", "1")]), owned(&[("a.b", "2"), ("c", "\"")]));
        let both = none.overridden(first.clone()).overridden(second.clone());
        assert_eq!(both.overrides(), [first, second].concat());
        let passed = both.overrides_variable().unwrap();
        assert_eq!(passed, r#"[["a.b","1"],["a.b","2"],["c","\""]]"#);
    }

    #[test]
    fn environment_of_this_process_is_inherited() {
        let inherited = Environment::inherit();
        // Cargo sets it for every test.
        let own = std::env::var("CARGO_MANIFEST_DIR").unwrap();
        assert_eq!(inherited.get("CARGO_MANIFEST_DIR"), Some(own.as_str()));
        let users = Path::new(RUNTIME_OF_USERS);
        assert_eq!(inherited.runtime_fallback(), own_runtime(users).as_deref());
    }

    #[test]
    fn runtime_of_the_user_is_passed_on() {
        let folder = Some(PathBuf::from("/run/user/7"));
        let environment = Environment {
            runtime_fallback: folder.clone(),
            ..Environment::default()
        };
        let merged = environment.with_fallback([]).overridden([]);
        assert_eq!(merged.runtime_fallback(), folder.as_deref());
    }

    #[test]
    fn folder_that_somebody_else_made_is_no_runtime() {
        if !test_skip::is_root("a folder of somebody else") {
            return;
        }
        let users = tempfile::tempdir().unwrap();
        let own = users.path().join(geteuid().to_string());
        fs::create_dir(&own).unwrap();
        #[expect(clippy::disallowed_methods, reason = "nobody else is there")]
        std::os::unix::fs::chown(&own, Some(65_534), None).unwrap();
        assert_eq!(own_runtime(users.path()), None);
    }
}
