//! Which backend answers an agent's turns, and where the programs of agent CLIs are. What CLIs
//! there are is said by [`openclaw_agent_clis::ALL`].

use std::collections::BTreeMap;
use std::fmt;

use openclaw_agent_clis::{ALL, AgentCli};
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

/// Which backend answers an agent's turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// By what is there: CLIs that come first, then native, then other CLIs, then offline.
    Auto,
    /// An agent CLI that is not ours.
    Cli(&'static AgentCli),
    /// Our own loop.
    Native,
    /// No model: answers from memory.
    Offline,
}

impl Backend {
    /// As it is written in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Cli(cli) => cli.backend,
            Self::Native => "native",
            Self::Offline => "offline",
        }
    }

    /// The only provider whose models it asks; `None`: it asks any, or none.
    pub const fn provider(self) -> Option<&'static str> {
        match self {
            Self::Cli(cli) => Some(cli.provider),
            Self::Auto | Self::Native | Self::Offline => None,
        }
    }

    /// All words for backends, each with what it means.
    fn words() -> impl Iterator<Item = (&'static str, Self)> {
        let clis = ALL.into_iter();
        let clis = clis.flat_map(|cli| [cli.backend, cli.program].map(|it| (it, Self::Cli(cli))));
        let ours = [Self::Native, Self::Offline].map(|it| (it.name(), it));
        [(Self::Auto.name(), Self::Auto)]
            .into_iter()
            .chain(clis)
            .chain(ours)
    }
}

impl<'de> Deserialize<'de> for Backend {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        let meant = Self::words().find(|(it, _)| *it == word);
        meant.map(|(_, backend)| backend).ok_or_else(|| {
            let words: Vec<_> = Self::words().map(|(it, _)| it).collect();
            de::Error::custom(format!("{word:?} is none of {}", words.join(", ")))
        })
    }
}

impl Serialize for Backend {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Where the programs of agent CLIs are, by their keys: each a path or a name on the PATH.
#[derive(Debug, Clone, PartialEq)]
pub struct CliPaths(BTreeMap<&'static str, String>);

impl CliPaths {
    /// Where the program of each CLI is, by its key.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(key, path)| (*key, path.as_str()))
    }
}

impl Default for CliPaths {
    fn default() -> Self {
        Self(ALL.map(|cli| (cli.path_key, cli.program.to_owned())).into())
    }
}

impl Serialize for CliPaths {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// It is flattened into the keys of an agent, of which it takes its own.
impl<'de> Deserialize<'de> for CliPaths {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OwnKeys)
    }
}

struct OwnKeys;

impl<'de> Visitor<'de> for OwnKeys {
    type Value = CliPaths;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the keys of an agent")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut keys: A) -> Result<CliPaths, A::Error> {
        let mut paths = CliPaths::default();
        while let Some(key) = keys.next_key::<String>()? {
            match ALL.into_iter().find(|cli| cli.path_key == key) {
                Some(cli) => _ = paths.0.insert(cli.path_key, keys.next_value()?),
                None => _ = keys.next_value::<IgnoredAny>()?,
            }
        }
        Ok(paths)
    }
}

#[cfg(test)]
mod schema {
    use std::borrow::Cow;

    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use serde_json::{Map, Value, json};

    use super::*;

    impl JsonSchema for Backend {
        fn inline_schema() -> bool {
            true
        }

        fn schema_name() -> Cow<'static, str> {
            "Backend".into()
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            let words: Vec<_> = Self::words().map(|(word, _)| word).collect();
            json_schema!({"type": "string", "enum": words})
        }
    }

    impl JsonSchema for CliPaths {
        fn schema_name() -> Cow<'static, str> {
            "CliPaths".into()
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            let key = |cli: &AgentCli| {
                let said = format!("The {} CLI: a path or a name on the PATH.", cli.title);
                let key = json!({"type": ["string", "null"], "description": said});
                (cli.path_key.to_owned(), key)
            };
            let properties: Map<String, Value> = ALL.map(key).into_iter().collect();
            json_schema!({"type": "object", "properties": properties})
        }
    }
}
