//! Values that a key may have, and with which it does nothing, or a part of the suite
//! stays off.
//!
//! OpenClaw takes them, so no file is invalid for them alone: what can be done without
//! is listed with the keys that have no effect ([`idle`]), what cannot is a fault
//! ([`faults`]) and keeps off what it is about. Where one of them would weaken a
//! restriction it is an error ([`restrictions`]). What refers to a variable is not
//! judged before it is put in.

use openclaw_config::key::KeyPath;
use openclaw_config::nearest;
use openclaw_config::problem::Problem;
use serde_json::{Map, Value};

pub mod hours;
mod mistakes;
mod params;
pub mod telegram;
mod token_files;
mod tools;

pub use token_files::absent_token_files;

/// A section of the file.
type Fields = Map<String, Value>;

/// What begins a reference to a variable.
const REFERENCE: &str = "${";

/// Keys whose values do nothing, each with the reason.
pub(crate) fn idle(document: &Value) -> Vec<(KeyPath, String)> {
    let mut found = Vec::new();
    for account in accounts(document) {
        account.idle(&mut found);
    }
    let owners = document.pointer("/commands/ownerAllowFrom");
    let path: KeyPath = ["commands", "ownerAllowFrom"].into_iter().collect();
    people(owners, &path, &mut found);
    found.extend(tools::idle(document));
    found.extend(params::idle(document));
    found.extend(prompts(document));
    found.extend(twice(document));
    found
}

/// Values that are most likely mistakes, and do not do what they look like.
pub(crate) fn doubts(document: &Value) -> Vec<Problem> {
    let mut found = tools::doubts(document);
    found.extend(mistakes::doubts(document));
    found
}

/// Agents of `agents.entries` that `agents.list` has too, which is what holds.
fn twice(document: &Value) -> Vec<(KeyPath, String)> {
    let entries = document
        .pointer("/agents/entries")
        .and_then(Value::as_object);
    let list = document.pointer("/agents/list").and_then(Value::as_array);
    let listed = |id: &str| {
        let mut all = list?.iter();
        all.position(|agent| agent.get("id").and_then(Value::as_str) == Some(id))
    };
    let path: KeyPath = ["agents", "entries"].into_iter().collect();
    let ids = entries.into_iter().flatten().map(|(id, _)| id);
    ids.filter_map(|id| {
        let at = listed(id)?;
        Some((
            path.child(id),
            format!("replaced by agents.list.{at}, the same agent"),
        ))
    })
    .collect()
}

/// Instructions that nobody is told: what takes the place of everything else takes
/// theirs too.
fn prompts(document: &Value) -> Vec<(KeyPath, String)> {
    let said = |agent: &Value, key: &str| {
        let text = agent.get(key).and_then(Value::as_str);
        text.is_some_and(|text| !text.trim().is_empty())
    };
    let defaults = document.pointer("/agents/defaults").unwrap_or(&Value::Null);
    let is_idle = |agent: &Value| {
        let is_whole = said(agent, "systemPromptOverride")
            || agent.get("systemPromptOverride").is_none()
                && said(defaults, "systemPromptOverride");
        is_whole && said(agent, "systemPrompt")
    };
    let agents = agents(document).into_iter();
    agents
        .filter(|(_, agent)| is_idle(agent))
        .map(|(path, _)| {
            let reason = "replaced by systemPromptOverride, which is all that the agent is told";
            (path.child("systemPrompt"), reason.to_owned())
        })
        .collect()
}

/// Values with which a part of the suite stays off.
pub fn faults(document: &Value) -> Vec<Problem> {
    let mut found = Vec::new();
    for account in accounts(document) {
        account.faults(&mut found);
    }
    for (path, beat) in heartbeats(document) {
        let Some(Value::Object(written)) = beat.get("activeHours") else {
            continue;
        };
        if let Some((key, problem)) = hours::fault(written) {
            let path = path.child("activeHours").child(key);
            let off = format!("{problem}; until then no heartbeat that has these hours is made");
            found.push(Problem::other(path, off));
        }
    }
    found
}

/// What would restrict something, and names nothing that there is.
pub(crate) fn restrictions(document: &Value) -> Vec<Problem> {
    let mut found = Vec::new();
    for account in accounts(document) {
        account.restrictions(&mut found);
    }
    found.extend(listed_twice(document));
    found.extend(mistakes::channels(document));
    found
}

/// Agents that are in `agents.list` again: of two entries one would be ignored, with the
/// restrictions in it.
fn listed_twice(document: &Value) -> Vec<Problem> {
    let list = document.pointer("/agents/list").and_then(Value::as_array);
    let list = list.map(Vec::as_slice).unwrap_or_default();
    let id = |agent: &Value| agent.get("id").and_then(Value::as_str).map(str::to_owned);
    let again = |(at, agent): (usize, &Value)| {
        let own = id(agent)?;
        let first = list[..at]
            .iter()
            .position(|it| id(it).as_ref() == Some(&own))?;
        let at = at.to_string();
        let path: KeyPath = ["agents", "list", &at, "id"].into_iter().collect();
        let text = format!("is {own:?}, as agents.list.{first}.id is: put both entries into one");
        Some(Problem::other(path, text))
    };
    list.iter().enumerate().filter_map(again).collect()
}

/// What is said of all agents and of each.
fn agents(document: &Value) -> Vec<(KeyPath, &Value)> {
    let agents: KeyPath = ["agents"].into_iter().collect();
    let mut sections = Vec::new();
    if let Some(defaults) = document.pointer("/agents/defaults") {
        sections.push((agents.child("defaults"), defaults));
    }
    let list = document.pointer("/agents/list").and_then(Value::as_array);
    for (at, agent) in list.into_iter().flatten().enumerate() {
        sections.push((agents.child("list").child(&at.to_string()), agent));
    }
    let entries = document.pointer("/agents/entries");
    for (id, agent) in entries.and_then(Value::as_object).into_iter().flatten() {
        sections.push((agents.child("entries").child(id), agent));
    }
    sections
}

/// The sections that may have a heartbeat and do.
fn heartbeats(document: &Value) -> Vec<(KeyPath, &Fields)> {
    let found = agents(document).into_iter().filter_map(|(path, section)| {
        let beat = section.get("heartbeat")?.as_object()?;
        Some((path.child("heartbeat"), beat))
    });
    found.collect()
}

/// An account of Telegram, or what holds for all of them.
struct Account<'a> {
    path: KeyPath,
    fields: &'a Fields,
    /// What holds where it does not say otherwise.
    common: Option<&'a Fields>,
}

fn accounts(document: &Value) -> Vec<Account<'_>> {
    let Some(common) = document
        .pointer("/channels/telegram")
        .and_then(Value::as_object)
    else {
        return Vec::new();
    };
    let path: KeyPath = ["channels", "telegram"].into_iter().collect();
    let own = common.get("accounts").and_then(Value::as_object);
    let own = own.into_iter().flatten().filter_map(|(name, account)| {
        Some(Account {
            path: path.child("accounts").child(name),
            fields: account.as_object()?,
            common: Some(common),
        })
    });
    let all = Account {
        path: path.clone(),
        fields: common,
        common: None,
    };
    std::iter::once(all).chain(own).collect()
}

impl<'a> Account<'a> {
    fn text(&self, key: &str) -> Option<&str> {
        text(self.fields.get(key))
    }

    /// Its own value, or that of all accounts.
    fn either(&self, key: &str) -> Option<&Value> {
        let own = self.fields.get(key);
        own.or_else(|| self.common.and_then(|common| common.get(key)))
    }

    fn idle(&self, found: &mut Vec<(KeyPath, String)>) {
        let mut say = |key: &str, reason: Option<String>| {
            found.extend(reason.map(|reason| (self.path.child(key), reason)));
        };
        let root = text(self.either("apiRoot"));
        let url = self.text("webhookUrl");
        say(
            "webhookUrl",
            url.and_then(|url| telegram::webhook_url(url, root).err()),
        );
        let path = self.text("webhookPath").map(telegram::webhook_path);
        say("webhookPath", path.and_then(|it| it.said()));
        let is_any = self.fields.get("webhookPort") == Some(&Value::from(0));
        say("webhookPort", is_any.then(|| telegram::ANY_PORT.to_owned()));
        let is_none = self
            .text("webhookHost")
            .is_some_and(|host| !telegram::is_host(host));
        say("webhookHost", is_none.then(|| telegram::NO_HOST.to_owned()));
        let secret = self.text("webhookSecret");
        say("webhookSecret", secret.and_then(telegram::secret_problem));
        let reaction = self.text("ackReaction");
        say("ackReaction", reaction.and_then(telegram::reaction_problem));
        let token = self.text("botToken").map(str::trim);
        let is_none = token.is_some_and(|it| !it.is_empty() && !telegram::is_token(it));
        say("botToken", is_none.then(|| telegram::NO_TOKEN.to_owned()));
        let is_shut = self.is_open_to_nobody();
        say("dmPolicy", is_shut.then(|| telegram::NOT_OPEN.to_owned()));
        self.capabilities(found);
        let offers_ours = telegram::offers_ours(self.either("commands"));
        let commands = self.fields.get("customCommands").and_then(Value::as_array);
        let commands = commands.map(Vec::as_slice).unwrap_or_default();
        for (at, read) in telegram::commands(commands, offers_ours)
            .into_iter()
            .enumerate()
        {
            if let Err((key, problem)) = read {
                let path = self.path.child("customCommands").child(&at.to_string());
                found.push((path.child(key), problem));
            }
        }
        for key in ["allowFrom", "groupAllowFrom"] {
            people(self.fields.get(key), &self.path.child(key), found);
        }
        let approvals = self.fields.get("execApprovals");
        people(
            approvals.and_then(|it| it.get("approvers")),
            &self.path.child("execApprovals").child("approvers"),
            found,
        );
        let unanswered = self.unanswered_groups().into_iter();
        found.extend(unanswered.map(|path| (path, telegram::UNANSWERED.to_owned())));
        for (path, _, group) in self.places() {
            people(group.get("allowFrom"), &path.child("allowFrom"), found);
            if let Some(problem) = telegram::place_problem(path.last(), path.parent().last()) {
                found.push((path, problem));
            }
        }
    }

    /// Whether its policy is open to everybody, and its list to some. Where both are said
    /// for all accounts it is said once.
    fn is_open_to_nobody(&self) -> bool {
        let keys = ["dmPolicy", "allowFrom"];
        let is_own = keys.iter().any(|key| self.fields.contains_key(*key));
        let is_for_all = self.common.is_none() && self.fields.contains_key("accounts");
        let list = self.either("allowFrom").and_then(Value::as_array);
        let mut names = list.into_iter().flatten().filter_map(Value::as_str);
        let is_said = names.any(|it| it.trim() == "*" || it.contains(REFERENCE));
        is_own && !is_for_all && !is_said && self.either("dmPolicy") == Some(&"open".into())
    }

    /// What a list of capabilities has, and nobody knows.
    fn capabilities(&self, found: &mut Vec<(KeyPath, String)>) {
        let list = self.fields.get("capabilities").and_then(Value::as_array);
        for (at, name) in list.into_iter().flatten().enumerate() {
            let known = telegram::CAPABILITY;
            if let Some(name) = text(Some(name)).filter(|name| *name != known) {
                let meant = nearest::question(name, [known]);
                let meant = meant.map_or_else(String::new, |question| format!("; {question}"));
                let text = format!(
                    "{name:?} is no capability: a list has {known:?}, or buttons are off{meant}"
                );
                found.push((self.path.child("capabilities").child(&at.to_string()), text));
            }
        }
    }

    /// Its groups in which nobody may talk, though they are on. Of one with topics it is
    /// not said: each may have a list of its own.
    fn unanswered_groups(&self) -> Vec<KeyPath> {
        let is_filled = |it: Option<&Value>| {
            let list = it.and_then(Value::as_array);
            list.is_some_and(|list| !list.is_empty())
        };
        let is_for_all = self.common.is_none() && self.fields.contains_key("accounts");
        let names_somebody = ["groupAllowFrom", "allowFrom"].map(|key| is_filled(self.either(key)));
        if is_for_all || names_somebody.contains(&true) {
            return Vec::new();
        }
        let policy = self.either("groupPolicy");
        let mut groups = places(&self.path.child("groups"), self.fields.get("groups"));
        groups.retain(|(_, beside, group)| {
            let all = beside.get("*").and_then(Value::as_object);
            let first = |key: &str| group.get(key).or_else(|| all.and_then(|all| all.get(key)));
            let policy = first("groupPolicy").or(policy).and_then(Value::as_str);
            first("enabled") != Some(&Value::Bool(false))
                && policy.is_none_or(|it| it == "allowlist")
                && !is_filled(first("allowFrom"))
                && first("topics").is_none()
        });
        groups.into_iter().map(|(path, ..)| path).collect()
    }

    /// Its groups and their topics, each with those beside it.
    fn places(&self) -> Vec<Place<'a>> {
        let mut all = places(&self.path.child("groups"), self.fields.get("groups"));
        let topics = all
            .iter()
            .flat_map(|(path, _, group)| places(&path.child("topics"), group.get("topics")));
        let topics: Vec<_> = topics.collect();
        all.extend(topics);
        all
    }

    fn faults(&self, found: &mut Vec<Problem>) {
        for (key, problem) in [
            ("proxy", telegram::proxy_problem as fn(&str) -> _),
            ("apiRoot", telegram::root_problem),
        ] {
            if let Some(problem) = self.text(key).and_then(problem) {
                found.push(Problem::other(self.path.child(key), problem));
            }
        }
    }

    /// A place that is shut by a name which is no id stays open where all others are.
    fn restrictions(&self, found: &mut Vec<Problem>) {
        for (path, beside, place) in self.places() {
            let is_shut = place.get("enabled") == Some(&Value::Bool(false))
                || place.get("groupPolicy").is_some_and(|it| it != "open")
                || place.get("allowFrom").is_some();
            let names_nothing = telegram::place_problem(path.last(), path.parent().last());
            if let Some(problem) = names_nothing.filter(|_| is_shut && beside.contains_key("*")) {
                found.push(Problem::other(path, problem));
            }
        }
    }
}

/// A group or topic: where it is, those beside it, and what it says.
type Place<'a> = (KeyPath, &'a Fields, &'a Fields);

fn places<'a>(path: &KeyPath, section: Option<&'a Value>) -> Vec<Place<'a>> {
    let Some(all) = section.and_then(Value::as_object) else {
        return Vec::new();
    };
    let place = |(id, place): (&String, &'a Value)| Some((path.child(id), all, place.as_object()?));
    all.iter().filter_map(place).collect()
}

/// Looks at a list of people.
fn people(list: Option<&Value>, path: &KeyPath, found: &mut Vec<(KeyPath, String)>) {
    let list = list.and_then(Value::as_array);
    for (at, person) in list.into_iter().flatten().enumerate() {
        let is_nobody = text(Some(person)).is_some_and(|it| !telegram::is_person(it));
        if is_nobody {
            let reason = telegram::NOBODY.to_owned();
            found.push((path.child(&at.to_string()), reason));
        }
    }
}

/// A text that refers to nothing.
fn text(value: Option<&Value>) -> Option<&str> {
    let text = value.and_then(Value::as_str);
    text.filter(|text| !text.contains(REFERENCE))
}

#[cfg(test)]
mod tests;
