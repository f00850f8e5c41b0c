//! Which tools an agent has: a profile, lists of what is allowed and what is
//! denied. Deny wins.

use serde::{Deserialize, Serialize};

use crate::catalog::{self, KNOWN, Profile, SERVER_GROUP};

/// One layer of a policy, as the configuration has it. Entries are names of
/// tools, `group:NAME`, or patterns with `*`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// What is there at most; `None`: what the layer before has.
    pub profile: Option<Profile>,
    /// What is allowed; empty: everything.
    pub allow: Vec<String>,
    /// What is allowed beside the profile and `allow`.
    pub also_allow: Vec<String>,
    /// What is not.
    pub deny: Vec<String>,
    /// What other keys than `deny` switch off: the entry, and the key that says so.
    #[serde(default)]
    pub off: Vec<(String, String)>,
}

/// All layers, the general one first. A tool must pass each of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    layers: Vec<Layer>,
    /// Whether nothing is there that works on the machine.
    #[serde(default)]
    is_text: bool,
}

/// The groups of tools that run something, touch files, or reach out.
const OF_THE_MACHINE: [&str; 4] = ["fs", "runtime", "web", SERVER_GROUP];

/// OpenClaw's name for the tools of all servers.
pub(crate) const SERVERS: &str = "bundle-mcp";

/// Why a tool is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    /// The tool.
    pub tool: String,
    /// One sentence that names the key of the configuration.
    pub reason: String,
}

impl Policy {
    /// A policy of `layers`, the general one first.
    #[must_use]
    pub fn new(layers: Vec<Layer>) -> Self {
        Self {
            layers,
            is_text: false,
        }
    }

    /// The same for the sandbox level `text`: without commands, files, the web and
    /// servers of tools.
    #[must_use]
    pub fn of_text(self) -> Self {
        Self {
            is_text: true,
            ..self
        }
    }

    /// Why the tool `name` is not allowed; `None` when it is.
    #[must_use]
    pub fn denies(&self, name: &str) -> Option<String> {
        let tool = Tool::of(name);
        if self.is_text && OF_THE_MACHINE.contains(&tool.group) {
            return Some(
                "at the sandbox level \"text\" there are neither commands nor files; \
                 `openclawctl doctor` says what gives a level with them"
                    .to_owned(),
            );
        }
        if self.layers.iter().any(|layer| tool.is_in(&layer.deny)) {
            return Some("the configuration denies it (tools.deny)".to_owned());
        }
        let mut off = self.layers.iter().flat_map(|layer| &layer.off);
        if let Some((_, key)) = off.find(|(entry, _)| tool.is(entry)) {
            return Some(format!("the configuration denies it ({key})"));
        }
        // The last layer that names a profile says which one holds.
        let profile = self.layers.iter().rev().find_map(|layer| layer.profile);
        let profile = profile.unwrap_or(Profile::Full);
        let beside = self
            .layers
            .iter()
            .any(|layer| tool.is_in(&layer.also_allow));
        if !profile.has(tool.group) && !beside {
            return Some(format!(
                "the profile {:?} does not have it; tools.alsoAllow of the configuration adds it",
                profile.name()
            ));
        }
        let left_out = |layer: &&Layer| {
            !layer.allow.is_empty() && !tool.is_in(&layer.allow) && !tool.is_in(&layer.also_allow)
        };
        if self.layers.iter().any(|layer| left_out(&layer)) {
            return Some("tools.allow of the configuration does not have it".to_owned());
        }
        None
    }

    /// The known tools that are allowed, and those that are not.
    #[must_use]
    pub fn split(&self) -> (Vec<&'static str>, Vec<Denial>) {
        let (mut allowed, mut denied) = (Vec::new(), Vec::new());
        for tool in &KNOWN {
            match self.denies(tool.name) {
                None => allowed.push(tool.name),
                Some(reason) => denied.push(Denial {
                    tool: tool.name.to_owned(),
                    reason,
                }),
            }
        }
        (allowed, denied)
    }
}

/// A tool by all its names.
struct Tool<'a> {
    names: Vec<&'a str>,
    group: &'a str,
}

impl<'a> Tool<'a> {
    fn of(name: &'a str) -> Self {
        if let Some(known) = catalog::find(name) {
            let mut names = vec![known.name];
            names.extend(known.aliases);
            names.extend(known.claude);
            let group = known.group;
            return Self { names, group };
        }
        let mut names = vec![name];
        let foreign = catalog::foreign(name);
        names.extend(foreign.iter().flat_map(|tool| tool.openclaw));
        let group = foreign.map_or(SERVER_GROUP, |tool| tool.group);
        Self { names, group }
    }

    fn is_in(&self, entries: &[String]) -> bool {
        entries.iter().any(|entry| self.is(entry))
    }

    fn is(&self, entry: &str) -> bool {
        match entry.strip_prefix("group:") {
            Some("all") => true,
            Some("openclaw") => self.group != SERVER_GROUP,
            Some(group) => group == self.group,
            None if entry == SERVERS => self.group == SERVER_GROUP,
            None => self.names.iter().any(|name| glob(entry, name)),
        }
    }
}

/// Whether `text` fits `pattern`, in which `*` stands for anything.
#[must_use]
pub fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(profile: Option<Profile>, allow: &[&str], also: &[&str], deny: &[&str]) -> Layer {
        let owned = |list: &[&str]| list.iter().map(|entry| (*entry).to_owned()).collect();
        Layer {
            profile,
            allow: owned(allow),
            also_allow: owned(also),
            deny: owned(deny),
            off: Vec::new(),
        }
    }

    fn allowed(layers: &[Layer], name: &str) -> bool {
        Policy::new(layers.to_vec()).denies(name).is_none()
    }

    #[test]
    fn deny_wins_by_whichever_name() {
        for entry in [
            "exec",
            "execute_shell",
            "Bash",
            "group:runtime",
            "exec*",
            "*",
        ] {
            let layers = [layer(None, &["execute_shell"], &["exec"], &[entry])];
            assert!(!allowed(&layers, "execute_shell"), "{entry}");
            assert!(!allowed(&layers, "Bash"), "{entry}");
        }
    }

    #[test]
    fn denial_names_the_key_that_says_so() {
        let mut own = layer(None, &[], &[], &["read"]);
        let key = "tools.web.fetch.enabled is false".to_owned();
        own.off.push(("web_fetch".to_owned(), key));
        let policy = Policy::new(vec![own]);
        let said = |name| policy.denies(name).unwrap_or_default();
        for name in ["web_fetch", "WebFetch"] {
            let words = "the configuration denies it (tools.web.fetch.enabled is false)";
            assert_eq!(said(name), words, "{name}");
        }
        assert_eq!(said("read"), "the configuration denies it (tools.deny)");
        assert_eq!(said("web_search"), "");
    }

    #[test]
    fn profile_bounds_and_also_allow_adds() {
        let coding = layer(Some(Profile::Coding), &[], &[], &[]);
        assert!(allowed(std::slice::from_ref(&coding), "exec"));
        assert!(!allowed(std::slice::from_ref(&coding), "files__read"));
        assert!(!allowed(std::slice::from_ref(&coding), "WebFetch"));
        let more = layer(None, &[], &["files__*", "group:web"], &[]);
        assert!(allowed(&[coding.clone(), more.clone()], "files__read"));
        assert!(allowed(&[coding.clone(), more], "WebFetch"));
        let minimal = layer(Some(Profile::Minimal), &[], &[], &[]);
        assert!(!allowed(&[coding, minimal.clone()], "read"));
        assert!(allowed(&[minimal], "session_status"));
    }

    #[test]
    fn policy_every_layer_must_allow() {
        let global = layer(None, &["read", "ls", "exec"], &[], &[]);
        let agent = layer(None, &["group:fs"], &[], &[]);
        assert!(allowed(&[global.clone(), agent.clone()], "read_file"));
        assert!(!allowed(&[global.clone(), agent.clone()], "exec"));
        assert!(!allowed(&[global, agent], "write"));
    }

    #[test]
    fn text_leaves_what_touches_nothing() {
        let policy = Policy::new(vec![layer(
            None,
            &[],
            &["group:fs", "files__*"],
            &["status"],
        )]);
        let policy = policy.of_text();
        let (there, denied) = policy.split();
        assert_eq!(
            there,
            [
                "memory_search",
                "memory_get",
                "memory_write",
                "cron",
                "remind"
            ]
        );
        let word = |name: &str| denied.iter().find(|denial| denial.tool == name);
        assert!(word("read_file").unwrap().reason.contains("\"text\""));
        assert!(
            word("session_status")
                .unwrap()
                .reason
                .contains("tools.deny")
        );
        for name in ["exec", "Bash", "WebFetch", "web_search", "files__read"] {
            assert!(policy.denies(name).is_some(), "{name}");
        }
    }

    #[test]
    fn tool_of_a_cli_is_denied_by_openclaws_name() {
        for (entry, tool) in [
            ("web_fetch", "WebFetch"),
            ("web_search", "WebSearch"),
            ("web_search", "web_search"),
            ("web_*", "WebFetch"),
            ("sessions_spawn", "Task"),
        ] {
            assert!(
                !allowed(&[layer(None, &[], &[], &[entry])], tool),
                "{entry}"
            );
            assert!(allowed(&[layer(None, &[entry], &[], &[])], tool), "{entry}");
        }
        assert!(allowed(
            &[layer(None, &[], &[], &["web_fetch"])],
            "WebSearch"
        ));
        let no_servers = [layer(None, &[], &[], &["bundle-mcp"])];
        assert!(!allowed(&no_servers, "files__read"));
        assert!(allowed(&no_servers, "read"));
    }

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, text, fits) in [
            ("a*", "abc", true),
            ("*c", "abc", true),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "acb", false),
            ("a", "ab", false),
            ("*", "", true),
            ("ab*ba", "aba", false),
        ] {
            assert_eq!(glob(pattern, text), fits, "{pattern} {text}");
        }
    }
}
