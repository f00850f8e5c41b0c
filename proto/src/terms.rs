//! How confined a command runs, and what of that is no more than before.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::wire::run;

/// The levels of the sandbox, the strictest first.
const LEVELS: [&str; 5] = ["text", "strict", "namespaces", "workspace", OFF];
/// No sandbox: nothing else of the terms acts there.
const OFF: &str = "off";
/// What agents may reach, the least first.
const NETWORKS: [&str; 3] = ["model-only", ALLOWLIST, FULL];
const ALLOWLIST: &str = "allowlist";
/// With it the model's provider may do everything, too.
const FULL: &str = "full";

/// How confined a command runs: what decides how much it can do. What is allowed, or given
/// as a job, is so at these terms and at stricter ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Terms {
    /// The level of the sandbox as it came out.
    pub level: String,
    /// `model-only`, `allowlist` or `full`.
    pub network: String,
    /// Those of an allowlist.
    pub hosts: Vec<String>,
    /// What the model's provider may do.
    pub provider_tools: Vec<String>,
    /// What it may read beside the system: absolute.
    pub read_only: Vec<String>,
    /// What it may write: absolute.
    pub read_write: Vec<String>,
}

impl Terms {
    /// Whether a command can do no more at `now` than at these.
    #[must_use]
    pub fn cover(&self, now: &Self) -> bool {
        let (Some(given), Some(level)) = (place(&LEVELS, &self.level), place(&LEVELS, &now.level))
        else {
            return false;
        };
        self.level == OFF
            || level <= given && self.reach(now) && self.provide(now) && self.open(now)
    }

    fn reach(&self, now: &Self) -> bool {
        let places = (
            place(&NETWORKS, &self.network),
            place(&NETWORKS, &now.network),
        );
        let (Some(given), Some(network)) = places else {
            return false;
        };
        let is_same_list = self.network == ALLOWLIST && now.network == ALLOWLIST;
        network <= given && (!is_same_list || now.hosts.iter().all(|it| self.hosts.contains(it)))
    }

    fn provide(&self, now: &Self) -> bool {
        let tools = &self.provider_tools;
        self.network == FULL || now.provider_tools.iter().all(|it| tools.contains(it))
    }

    fn open(&self, now: &Self) -> bool {
        let is_in = |path: &str, folders: &[String]| {
            folders
                .iter()
                .any(|folder| Path::new(path).starts_with(folder))
        };
        let writes = |path: &String| is_in(path, &self.read_write);
        let reads = |path: &String| writes(path) || is_in(path, &self.read_only);
        now.read_write.iter().all(writes) && now.read_only.iter().all(reads)
    }

    /// For people.
    #[must_use]
    pub fn words(&self) -> String {
        match self.level.as_str() {
            OFF => "sandbox level off".to_owned(),
            level => format!("sandbox level {level}, network {}", self.network),
        }
    }
}

fn place(all: &[&str], name: &str) -> Option<usize> {
    all.iter().position(|it| *it == name)
}

impl From<run::Terms> for Terms {
    fn from(terms: run::Terms) -> Self {
        Self {
            level: terms.level,
            network: terms.network,
            hosts: terms.hosts,
            provider_tools: terms.provider_tools,
            read_only: terms.read_only,
            read_write: terms.read_write,
        }
    }
}

impl From<Terms> for run::Terms {
    fn from(terms: Terms) -> Self {
        Self {
            level: terms.level,
            network: terms.network,
            hosts: terms.hosts,
            provider_tools: terms.provider_tools,
            read_only: terms.read_only,
            read_write: terms.read_write,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(level: &str, network: &str) -> Terms {
        Terms {
            level: level.to_owned(),
            network: network.to_owned(),
            read_write: vec!["/ws".to_owned()],
            ..Terms::default()
        }
    }

    #[test]
    fn terms_cover_what_is_as_strict_and_nothing_weaker() {
        let levels = LEVELS.map(|level| at(level, "model-only"));
        for (first, given) in levels.iter().enumerate() {
            for (second, now) in levels.iter().enumerate() {
                assert_eq!(given.cover(now), second <= first, "{given:?} {now:?}");
            }
        }
        let networks = NETWORKS.map(|network| at("strict", network));
        for (first, given) in networks.iter().enumerate() {
            for (second, now) in networks.iter().enumerate() {
                assert_eq!(given.cover(now), second <= first, "{given:?} {now:?}");
            }
        }
        // Without a sandbox nothing else is held.
        assert!(at("off", "model-only").cover(&at("workspace", "full")));
        assert!(!at("of", "full").cover(&at("of", "full")), "no such level");
        assert!(!Terms::default().cover(&at("strict", "model-only")));
    }

    #[test]
    fn terms_cover_no_host_tool_or_folder_that_came_later() {
        let given = Terms {
            hosts: vec!["a".to_owned(), "b".to_owned()],
            provider_tools: vec!["web_search".to_owned()],
            read_only: vec!["/books".to_owned()],
            ..at("strict", "allowlist")
        };
        let with = |change: fn(&mut Terms)| {
            let mut now = given.clone();
            change(&mut now);
            given.cover(&now)
        };
        assert!(with(|_| ()));
        assert!(with(|now| now.hosts.truncate(1)));
        assert!(!with(|now| now.hosts.push("c".to_owned())));
        assert!(with(|now| now.provider_tools.clear()));
        assert!(!with(|now| now.provider_tools.push("web_fetch".to_owned())));
        assert!(with(
            |now| now.read_only = vec!["/books/one".to_owned(), "/ws/x".to_owned()]
        ));
        assert!(!with(|now| now.read_only.push("/bookshelf".to_owned())));
        assert!(!with(|now| now.read_write.push("/books".to_owned())));
        assert!(!with(|now| now.read_write = vec!["/".to_owned()]));
        let full = at("strict", "full");
        let fetching = Terms {
            provider_tools: vec!["web_fetch".to_owned()],
            ..at("strict", "model-only")
        };
        assert!(full.cover(&fetching));
    }
}
