//! Which tools of the servers a turn has, by its policy, and what people and
//! the model are told of the servers.

use std::collections::BTreeMap;

use openclaw_handoff::servers::Pace;
use openclaw_tokens::{characters, tokens};
use openclaw_tools::catalog::SERVER_SEPARATOR;
use openclaw_tools::{Policy, ToolDefinition};
use rmcp::model::Tool;
use serde_json::Value;

use super::line::{Known, Status};
use super::naming;
use super::output::cut;

/// Tools of one server; the model's providers take 128 in all.
pub(super) const TOOLS: usize = 64;

/// Bytes of a tool's description, all of which the model reads in every turn.
pub(super) const DESCRIPTION_BYTES: usize = 2048;

/// Bytes of what one server says of how it is to be used,
const INSTRUCTIONS_BYTES: usize = 2048;
/// and of what all of them say.
const ALL_INSTRUCTIONS_BYTES: usize = 8192;

/// A tool of a server.
#[derive(Debug, Clone)]
pub(super) struct Offered {
    pub(super) server: String,
    /// As the server calls it.
    pub(super) name: String,
    /// Whether it says of it that it only reads, and is believed.
    pub(super) only_reads: bool,
    /// Whether it says of it that it changes something.
    pub(super) changes: bool,
    /// What its server may reach, in words.
    pub(super) reach: String,
}

/// What there is now.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    pub(super) tools: BTreeMap<String, Offered>,
    /// What models are told of them.
    pub(super) definitions: Vec<ToolDefinition>,
    /// What the servers say of how they are to be used.
    pub(super) instructions: String,
    /// For the user.
    pub(super) notes: Vec<String>,
    /// Whether more may be there in a moment.
    pub(super) is_awaited: bool,
    /// Whether a server has not told yet what it offers.
    is_incomplete: bool,
    /// The servers that do not run, and why.
    absent: Vec<(String, String)>,
}

impl State {
    /// Of these servers, of which those no slower than `patience` are waited
    /// for.
    pub(super) fn of(servers: &[Known], policy: &Policy, patience: Pace) -> Self {
        let mut state = Self::default();
        for server in servers {
            let name = &server.name;
            state.is_incomplete |= matches!(server.status, Status::Starting { failed: None, .. });
            let absent = server.status.absence();
            state.absent.extend(absent.map(|why| (name.clone(), why)));
            match &server.status {
                Status::Ready {
                    tools,
                    more,
                    instructions,
                } => {
                    state.add(server, tools, *more, policy);
                    state.instruct(name, instructions);
                }
                Status::Starting { pace, .. } if *pace <= patience => state.is_awaited = true,
                Status::Starting { failed: None, .. } => state.notes.push(format!(
                    "the MCP server {name} is still being started; its tools come when it is there"
                )),
                Status::Failed(why)
                | Status::Starting {
                    failed: Some(why), ..
                } => state
                    .notes
                    .push(format!("the MCP server {name} cannot be used: {why}")),
            }
        }
        state
    }

    /// Tokens that what the servers offer takes of each request to a model at most;
    /// `None`: they have not all told it.
    pub(super) fn tokens(&self) -> Option<u64> {
        if self.is_incomplete {
            return None;
        }
        let tools: usize = self.definitions.iter().map(ToolDefinition::cost).sum();
        let all = tools + characters(&self.instructions);
        u64::try_from(tokens(all)).ok()
    }

    /// Why the tool `name` is not there: its server does not run.
    pub(super) fn absence(&self, name: &str) -> Option<String> {
        let is_of = |server: &str| {
            let tool = name.strip_prefix(server);
            tool.is_some_and(|tool| tool.starts_with(SERVER_SEPARATOR))
        };
        let (server, why) = self.absent.iter().find(|(server, _)| is_of(server))?;
        Some(format!("the MCP server {server} does not answer: {why}"))
    }

    /// The names of those tools that say that they change something.
    pub(super) fn alone(&self) -> impl Iterator<Item = &String> {
        let changing = self.tools.iter().filter(|(_, tool)| tool.changes);
        changing.map(|(name, _)| name)
    }

    fn add(&mut self, server: &Known, tools: &[Tool], more: usize, policy: &Policy) {
        let (mut left_out, mut count) = (more, 0);
        for tool in tools {
            let Some(name) = naming::of(&server.name, &tool.name) else {
                left_out += 1;
                continue;
            };
            if policy.denies(&name).is_some() {
                continue;
            }
            if count >= TOOLS || self.tools.contains_key(&name) {
                left_out += 1;
                continue;
            }
            count += 1;
            self.definitions.push(definition(&name, tool));
            let hints = tool.annotations.as_ref();
            let reads = hints.and_then(|hints| hints.read_only_hint);
            let offered = Offered {
                server: server.name.clone(),
                name: tool.name.clone().into_owned(),
                only_reads: server.trusted && reads == Some(true),
                reach: server.reach.clone(),
                changes: reads == Some(false),
            };
            self.tools.insert(name, offered);
        }
        if left_out > 0 {
            let name = &server.name;
            self.notes.push(format!(
                "{left_out} tools of the MCP server {name} are left out: they are too large, their \
                 names are too long or taken, or there are more than {TOOLS}"
            ));
        }
    }

    fn instruct(&mut self, server: &str, said: &str) {
        let left = ALL_INSTRUCTIONS_BYTES.saturating_sub(self.instructions.len());
        let said = said.trim();
        if said.is_empty() || left < INSTRUCTIONS_BYTES / 8 {
            return;
        }
        let kept = cut(said, INSTRUCTIONS_BYTES.min(left));
        let more = match said.len() - kept.len() {
            0 => String::new(),
            more => format!("\n[… {more} bytes elided …]"),
        };
        self.instructions
            .push_str(&format!("\n### {server}\n{kept}{more}\n"));
    }
}

fn definition(name: &str, tool: &Tool) -> ToolDefinition {
    let description = tool.description.as_deref().unwrap_or_default();
    let parameters = Value::Object(tool.input_schema.as_ref().clone());
    ToolDefinition::new(name, cut(description, DESCRIPTION_BYTES), parameters)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn known(name: &str, status: Status) -> Known {
        Known {
            name: name.to_owned(),
            trusted: false,
            reach: "network none".to_owned(),
            status,
        }
    }

    fn ready(tools: usize, instructions: &str) -> Status {
        let tool =
            |number| json!({"name": format!("t{number}"), "inputSchema": {"type": "object"}});
        let tools = (0..tools).map(|number| serde_json::from_value(tool(number)).unwrap());
        Status::Ready {
            tools: tools.collect(),
            more: 0,
            instructions: instructions.to_owned(),
        }
    }

    #[test]
    fn tokens_of_what_servers_offer_are_known_when_all_have_told_it() {
        let tokens =
            |servers: &[Known]| State::of(servers, &Policy::default(), Pace::Prompt).tokens();
        assert_eq!(tokens(&[]), Some(0));
        let one = tokens(&[known("s", ready(1, ""))]).unwrap();
        let ten = tokens(&[known("s", ready(10, ""))]).unwrap();
        assert!(one > 10 && ten > one * 9, "{one}, {ten}");
        let words = tokens(&[known("s", ready(1, &"word ".repeat(100)))]).unwrap();
        assert!(words > one + 100, "{words}");
        let starting = Status::Starting {
            pace: Pace::Slow,
            failed: None,
        };
        assert_eq!(
            tokens(&[known("s", ready(1, "")), known("t", starting)]),
            None
        );
        let failed = known("t", Status::Failed("no".to_owned()));
        assert_eq!(tokens(&[known("s", ready(1, "")), failed]), Some(one));
    }

    #[test]
    fn instructions_have_a_budget_each_and_together() {
        let long = "ž".repeat(INSTRUCTIONS_BYTES);
        let servers: Vec<Known> = (0..20)
            .map(|number| known(&format!("s{number}"), ready(1, &long)))
            .collect();
        let state = State::of(&servers, &Policy::default(), Pace::Prompt);
        assert!(state.instructions.len() < ALL_INSTRUCTIONS_BYTES + 1024);
        assert!(state.instructions.contains("### s0\nž"));
        assert!(state.instructions.contains(" bytes elided …]"));
        assert!(!state.instructions.contains("### s19"));
        let state = State::of(
            &[known("s", ready(1, " \n"))],
            &Policy::default(),
            Pace::Prompt,
        );
        assert_eq!(state.instructions, "");
    }

    #[test]
    fn tools_that_say_that_they_change_something_run_alone() {
        let tool = |name: &str, hints: Value| {
            let tool = json!({"name": name, "inputSchema": {}, "annotations": hints});
            serde_json::from_value(tool).unwrap()
        };
        let tools = vec![
            tool("unsaid", json!({})),
            tool("reads", json!({"readOnlyHint": true})),
            tool("changes", json!({"readOnlyHint": false})),
        ];
        let status = Status::Ready {
            tools,
            more: 0,
            instructions: String::new(),
        };
        let state = State::of(&[known("s", status)], &Policy::default(), Pace::Prompt);
        assert_eq!(state.alone().collect::<Vec<_>>(), ["s__changes"]);
    }

    #[test]
    fn notes_tell_what_is_not_there() {
        let starting = |pace, failed: Option<&str>| Status::Starting {
            pace,
            failed: failed.map(str::to_owned),
        };
        let servers = [
            known("a", starting(Pace::Prompt, None)),
            known("b", starting(Pace::Late, None)),
            known("c", starting(Pace::Slow, Some("no such file"))),
            known("d", Status::Failed("it has ended".to_owned())),
            known("e", ready(TOOLS + 3, "")),
        ];
        let is_awaited =
            |patience| State::of(&servers[1..], &Policy::default(), patience).is_awaited;
        assert!(!is_awaited(Pace::Prompt) && is_awaited(Pace::Late));
        let state = State::of(&servers, &Policy::default(), Pace::Prompt);
        assert!(state.is_awaited);
        let notes = state.notes.join("\n");
        assert!(!notes.contains("server a "), "{notes}");
        for said in [
            "b is still being started",
            "c cannot be used: no such file",
            "d cannot be used: it has ended",
            "3 tools of the MCP server e",
        ] {
            assert!(notes.contains(said), "{said}: {notes}");
        }
        assert_eq!(state.definitions.len(), TOOLS);
        let why = state.absence("d__t1").unwrap();
        assert!(
            why.contains("server d") && why.contains("it has ended"),
            "{why}"
        );
        assert!(state.absence("c__x").unwrap().contains("no such file"));
        assert!(state.absence("a__t1").unwrap().contains("being started"));
        assert_eq!(state.absence("e__t0"), None);
        assert_eq!(state.absence("dd__t0"), None);
    }
}
