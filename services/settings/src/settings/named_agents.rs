//! Keys that name an agent: it has to be one that there is.

use std::collections::BTreeMap;

use openclaw_config::nearest;

use crate::keys::Fragment;
use crate::keys::channels::{Account, Group};
use crate::settings::AgentSettings;

/// A key and the agent that it names.
type Named<'a> = (String, &'a str);

/// The first key of `fragment` that names none of `agents`, with what is wrong with it.
/// Whatever it is said for would be answered by nobody.
pub(super) fn unknown(
    fragment: &Fragment,
    agents: &BTreeMap<String, AgentSettings>,
) -> Option<(String, String)> {
    let all = bindings(fragment)
        .chain(topics(fragment))
        .chain(mappings(fragment))
        .chain(allowed(fragment))
        .chain(heartbeats(fragment));
    let is_unknown = |(_, agent): &Named<'_>| {
        // As ids are read wherever one is named; empty is the default agent.
        let id = agent.trim().to_ascii_lowercase();
        !id.is_empty() && !agents.contains_key(&id)
    };
    let (key, agent) = all.into_iter().find(is_unknown)?;
    let known = agents.keys().map(String::as_str);
    let meant = nearest::question(agent, known.clone());
    let meant = meant.map_or_else(String::new, |question| format!("; {question}"));
    let known: Vec<&str> = known.collect();
    let problem = format!(
        "names the agent {agent:?}, which agents.list does not have; there are {}{meant}",
        known.join(", ")
    );
    Some((key, problem))
}

fn bindings(fragment: &Fragment) -> impl Iterator<Item = Named<'_>> {
    let bindings = fragment.bindings.iter().enumerate();
    bindings.map(|(at, binding)| (format!("bindings[{at}].agentId"), binding.agent_id.as_str()))
}

fn topics(fragment: &Fragment) -> impl Iterator<Item = Named<'_>> {
    let channel = fragment.channels.telegram.as_ref();
    channel.into_iter().flat_map(|channel| {
        let all = groups("channels.telegram".to_owned(), &channel.account);
        let own = channel.accounts.iter().flat_map(|(name, account)| {
            groups(format!("channels.telegram.accounts.{name}"), account)
        });
        all.chain(own)
    })
}

fn groups(place: String, account: &Account) -> impl Iterator<Item = Named<'_>> {
    account.groups.iter().flat_map(move |(id, group)| {
        let place = format!("{place}.groups.{id}.topics");
        of_group(place, group)
    })
}

fn of_group(place: String, group: &Group) -> impl Iterator<Item = Named<'_>> {
    group.topics.iter().filter_map(move |(id, topic)| {
        let agent = topic.agent_id.as_deref()?;
        Some((format!("{place}.{id}.agentId"), agent))
    })
}

fn mappings(fragment: &Fragment) -> impl Iterator<Item = Named<'_>> {
    let mappings = fragment.hooks.mappings.iter().enumerate();
    mappings.filter_map(|(at, mapping)| {
        let agent = mapping.agent_id.as_deref()?;
        Some((format!("hooks.mappings[{at}].agentId"), agent))
    })
}

fn allowed(fragment: &Fragment) -> impl Iterator<Item = Named<'_>> {
    let allowed = fragment.hooks.allowed_agent_ids.iter().flatten();
    let allowed = allowed.enumerate().filter(|(_, agent)| *agent != "*");
    allowed.map(|(at, agent)| (format!("hooks.allowedAgentIds[{at}]"), agent.as_str()))
}

fn heartbeats(fragment: &Fragment) -> impl Iterator<Item = Named<'_>> {
    let defaults = &fragment.agents.defaults.heartbeat;
    let defaults = defaults.iter().map(|it| ("agents.defaults".to_owned(), it));
    let listed = fragment.agents.list.iter().enumerate();
    let listed = listed.filter_map(|(at, it)| {
        let heartbeat = it.agent.heartbeat.as_ref()?;
        Some((format!("agents.list[{at}]"), heartbeat))
    });
    defaults.chain(listed).filter_map(|(place, heartbeat)| {
        let agent = heartbeat.agent_id.as_deref()?;
        Some((format!("{place}.heartbeat.agentId"), agent))
    })
}

#[cfg(test)]
mod tests {
    use openclaw_config::environment::Environment;
    use openclaw_config::paths::Paths;
    use serde_json::{Value, json};

    use crate::settings::Settings;

    fn problem(document: Value) -> Option<String> {
        let paths = Paths::resolve(&[("HOME", "/h")].into_iter().collect()).unwrap();
        let assembled = Settings::assemble(paths, document, &Environment::default());
        assembled.err().map(|error| error.to_string())
    }

    fn naming(agent: &str) -> [(&'static str, Value); 8] {
        let topics = json!({"-100": {"topics": {"4": {"agentId": agent}}}});
        let list = |heartbeat: Value| json!([{"id": "work", "heartbeat": heartbeat}]);
        let with_work = |mut document: Value| {
            let list = document["agents"]["list"].take();
            if list.is_null() {
                document["agents"]["list"] = json!([{"id": "work"}]);
            } else {
                document["agents"]["list"] = list;
            }
            document
        };
        [
            (
                "bindings[0].agentId",
                json!({"bindings": [{"agentId": agent, "match": {"channel": "telegram"}}]}),
            ),
            (
                "channels.telegram.groups.-100.topics.4.agentId",
                json!({"channels": {"telegram": {"groups": topics}}}),
            ),
            (
                "channels.telegram.accounts.home.groups.-100.topics.4.agentId",
                json!({"channels": {"telegram": {"accounts": {"home": {"groups": topics}}}}}),
            ),
            (
                "hooks.mappings[0].agentId",
                json!({"hooks": {"mappings": [{"agentId": agent}]}}),
            ),
            (
                "hooks.allowedAgentIds[1]",
                json!({"hooks": {"allowedAgentIds": ["main", agent]}}),
            ),
            (
                "agents.defaults.heartbeat.agentId",
                json!({"agents": {"defaults": {"heartbeat": {"agentId": agent}}}}),
            ),
            (
                "agents.list[0].heartbeat.agentId",
                json!({"agents": {"list": list(json!({"agentId": agent}))}}),
            ),
            (
                "hooks.allowedAgentIds[0]",
                json!({"hooks": {"allowedAgentIds": [agent, "*"]}}),
            ),
        ]
        .map(|(key, document)| (key, with_work(document)))
    }

    #[test]
    fn agent_that_is_named_is_one_that_there_is() {
        for (key, document) in naming("nobody") {
            let problem = problem(document).unwrap_or_default();
            assert!(problem.contains(key), "{key}: {problem}");
            let words = "names the agent \"nobody\", which agents.list does not have; \
                         there are main, work";
            assert!(problem.contains(words), "{key}: {problem}");
        }
        let (_, near) = naming("works").into_iter().next().unwrap();
        assert!(problem(near).unwrap().contains("did you mean \"work\"?"));
        for agent in ["work", "main", " Work ", ""] {
            for (key, document) in naming(agent) {
                assert_eq!(problem(document), None, "{key}: {agent:?}");
            }
        }
    }
}
