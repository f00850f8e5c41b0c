//! Where the programs of agent CLIs are.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::all::ALL;
use crate::cli::AgentCli;

/// Where their programs are, by the keys that say so: each a path or a name on the PATH. It is
/// flattened into the keys of an agent, of which it takes its own.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(try_from = "BTreeMap<String, Value>")]
pub struct CliPaths(BTreeMap<&'static str, String>);

impl CliPaths {
    /// The program of a CLI.
    pub fn program(&self, cli: &AgentCli) -> &str {
        let path = self.0.get(cli.path_key);
        path.map_or(cli.program, String::as_str)
    }

    /// The same with each of them as `resolve` makes it.
    #[must_use]
    pub fn resolved(&self, resolve: impl Fn(&str) -> String) -> Self {
        let paths = self.0.iter();
        Self(paths.map(|(key, path)| (*key, resolve(path))).collect())
    }
}

impl Default for CliPaths {
    fn default() -> Self {
        Self(ALL.map(|cli| (cli.path_key, cli.program.to_owned())).into())
    }
}

impl TryFrom<BTreeMap<String, Value>> for CliPaths {
    type Error = String;

    fn try_from(keys: BTreeMap<String, Value>) -> Result<Self, String> {
        let mut paths = Self::default();
        for (key, path) in &mut paths.0 {
            match keys.get(*key) {
                Some(Value::String(own)) => path.clone_from(own),
                Some(other) => return Err(format!("{key} is {other}, which is no text")),
                None => {}
            }
        }
        Ok(paths)
    }
}
