//! In which session a job is run, and who hears what it comes to: where others than the
//! user hear it, its run knows nothing that is the user's alone.

use std::fmt::Display;

use openclaw_conversations::Refusal;
use openclaw_inbound::bare;
use openclaw_jobs::{Destination, Invalid, Job, Payload};
use openclaw_proto::gateway::{ChatKind, Route};
use openclaw_proto::origin::is_shared;
use openclaw_proto::outbox::Place;
use openclaw_runs::keys;
use openclaw_sessions::SessionKey;
use openclaw_sessions::store::THINKING_LEVELS;
use openclaw_settings::{SessionScope, Settings};

/// What a session's key calls a chat of many.
const OF_MANY: [&str; 3] = ["group", "channel", "room"];

/// What stands in a key before a thread of a chat.
const THREADS: [&str; 2] = ["topic", "thread"];

/// The session of all chats, where they share one.
const GLOBAL: &str = "global";

/// Where runs do not know of one another.
pub(crate) const ISOLATED: &str = "isolated";

/// Whether somebody's id on a channel is that of a group: those have ids of their own kind.
pub(crate) fn is_of_many(to: &str) -> bool {
    to.trim_start().starts_with(['-', '@'])
}

/// The session in which a job tells something: the one that is named, else the one that
/// its agent made it in, else the main one.
pub(crate) fn told_in(
    settings: &Settings,
    job: &Job,
    named: Option<&str>,
) -> Result<SessionKey, Refusal> {
    let made_in = job.maker().map(|it| it.session_key.as_str());
    let name = named.filter(|it| !it.trim().is_empty()).or(made_in);
    keys::named(
        settings,
        name.unwrap_or_default(),
        job.agent_id().unwrap_or_default(),
    )
}

/// Whether what is told at `destination` is heard by others than one person.
fn is_heard_by_many(settings: &Settings, destination: &Destination, job: &Job) -> bool {
    match destination {
        Destination::Channel { to, .. } => is_of_many(to),
        Destination::Session(named) => {
            told_in(settings, job, named.as_deref()).is_ok_and(|key| is_shared(key.as_str()))
        }
        Destination::Webhook(_) => false,
    }
}

/// Everywhere where others than one person hear what the job comes to.
fn told_to_many<'a>(
    settings: &'a Settings,
    job: &'a Job,
) -> impl Iterator<Item = Destination> + 'a {
    let told = job.delivery.iter().flat_map(|it| it.destinations());
    told.filter(move |destination| is_heard_by_many(settings, destination, job))
}

/// The session a job is run in.
pub(crate) fn target(settings: &Settings, job: &Job) -> Result<SessionKey, Refusal> {
    let agent = job.agent_id().unwrap_or_default();
    match job.session_target.as_str() {
        "main" => keys::named(settings, "", agent),
        ISOLATED => {
            // A group reads what a job came to that it had made, also where that is told nobody.
            let is_made_by_many = job.maker().is_some_and(|it| is_shared(&it.session_key));
            let is_for_many = is_made_by_many || told_to_many(settings, job).next().is_some();
            isolated(settings, job.id(), (agent, is_for_many))
        }
        "current" => keys::named(settings, job.session_key().unwrap_or_default(), agent),
        other => keys::named(
            settings,
            other.strip_prefix("session:").unwrap_or(other),
            agent,
        ),
    }
}

/// Refuses a job of an agent, a session, a model or an amount of thinking that there is
/// not: no run of it would come to anything.
pub(crate) fn known(settings: &Settings, job: &Job) -> Result<(), Invalid> {
    let invalid =
        |path: &'static str, problem: &dyn Display| Err(Invalid::field(path, &problem.to_string()));
    let agent = job.agent_id().unwrap_or_default();
    let main = match keys::named(settings, "", agent) {
        Ok(main) => main,
        Err(refusal) => return invalid("agentId", &refusal),
    };
    let own = job.session_key().unwrap_or_default();
    if let Err(refusal) = keys::named(settings, own, agent) {
        return invalid("sessionKey", &refusal);
    }
    if let Err(refusal) = target(settings, job) {
        return invalid("sessionTarget", &refusal);
    }
    let (model, thinking) = job.payload.model_and_thinking();
    let checked = model.map(|model| settings.check_model(main.agent().as_str(), model));
    if let Some(Err(unknown)) = checked {
        return invalid("payload/model", &unknown);
    }
    if thinking.is_some_and(|level| !THINKING_LEVELS.contains(&level)) {
        let levels = format!("must be one of {}", THINKING_LEVELS.join(", "));
        return invalid("payload/thinking", &levels);
    }
    Ok(())
}

/// Refuses a job whose answers would tell a group what another conversation knows: it
/// goes on in a session that is not that group's.
pub(crate) fn kept_apart(settings: &Settings, job: &Job) -> Result<(), Invalid> {
    let asks = matches!(job.payload, Payload::AgentTurn { .. });
    if !asks || job.session_target == ISOLATED {
        return Ok(());
    }
    // A session that cannot be named is refused by its run.
    let Ok(key) = target(settings, job) else {
        return Ok(());
    };
    let is_foreign = |it: &Destination| !is_audience_of(settings, &key, it, job);
    if told_to_many(settings, job).any(|it| is_foreign(&it)) {
        let problem = format!(
            "must be isolated, because others hear what this job comes to (delivery), and {key} \
             knows what they may not"
        );
        return Err(Invalid::field("sessionTarget", &problem));
    }
    Ok(())
}

/// Whether those who hear what is told at `destination` are those who hear the session
/// `key` itself.
fn is_audience_of(
    settings: &Settings,
    key: &SessionKey,
    destination: &Destination,
    job: &Job,
) -> bool {
    match destination {
        Destination::Session(named) => told_in(settings, job, named.as_deref())
            .is_ok_and(|named| named == *key || is_same_chat(chat(&named), chat(key))),
        Destination::Channel { channel, to, .. } => is_same_chat(chat(key), Some((channel, to))),
        Destination::Webhook(_) => false,
    }
}

/// Whether the same people hear both sessions: threads of one chat.
pub(crate) fn is_same_audience(one: &SessionKey, other: &SessionKey) -> bool {
    without_thread(one.as_str()) == without_thread(other.as_str())
        || is_same_chat(chat(one), chat(other))
}

/// A key without the thread of the chat that it names.
pub(crate) fn without_thread(key: &str) -> &str {
    let begins = |word: &&str| key.find(&format!(":{word}:"));
    let found = THREADS.iter().filter_map(begins).min();
    found.map_or(key, |at| &key[..at])
}

/// Whether what is said at `place` is heard by those who hear the session `key`: by
/// its chat, or by somebody whose private chat leads there.
pub(crate) fn is_heard_in(settings: &Settings, key: &SessionKey, place: &Place) -> bool {
    let Some(to) = bare(&place.to, &place.channel) else {
        return false;
    };
    if is_of_many(&to) {
        let is_for_all = settings.session.scope == SessionScope::Global && key.as_str() == GLOBAL;
        return is_for_all || is_chat_of(key, &place.channel, &to);
    }
    let named = settings.channels.meant(&place.channel, &place.account);
    let Some((account, _)) = named else {
        return false;
    };
    let account = settings.channels.ledger_name(&place.channel, account);
    let route = Route {
        account: account.to_owned(),
        chat: ChatKind::Direct,
        id: to,
        thread: None,
        sender: None,
        present_id: None,
        message: None,
        sender_name: None,
        title: None,
    };
    let routed = keys::routed(settings, &place.channel, route, key.agent().as_str());
    routed.is_ok_and(|routed| is_same_audience(&routed, key))
}

/// Whether a conversation in `key` is heard by whoever is told something as `to` on
/// `channel`.
pub(crate) fn is_chat_of(key: &SessionKey, channel: &str, to: &str) -> bool {
    is_same_chat(chat(key), Some((channel, to)))
}

fn is_same_chat(one: Option<(&str, &str)>, other: Option<(&str, &str)>) -> bool {
    one.is_some() && one == other.map(|(channel, to)| (channel, to.trim()))
}

/// The channel and the id of the chat of many that a session's key names. All topics of
/// a chat are heard by the same people.
fn chat(key: &SessionKey) -> Option<(&str, &str)> {
    let text = key.as_str();
    let own = text.strip_prefix("agent:")?.split_once(':')?.1;
    let (channel, mut rest) = own.split_once(':')?;
    while !rest.is_empty() {
        let (part, after) = rest.split_once(':').unwrap_or((rest, ""));
        if OF_MANY.contains(&part) {
            let id = after.split_once(':').map_or(after, |(id, more)| {
                let is_thread = THREADS.iter().any(|word| more.starts_with(word));
                if is_thread { id } else { after }
            });
            return Some((channel, id)).filter(|(_, id)| !id.is_empty());
        }
        rest = after;
    }
    None
}

/// The session of runs that do not know of one another. Where what they say goes to
/// many, its name has the form of a group's: by that all daemons know that nothing of
/// the user alone is for it ([`openclaw_proto::origin::is_shared`]).
pub(crate) fn isolated(
    settings: &Settings,
    name: &str,
    (agent, is_told_to_many): (&str, bool),
) -> Result<SessionKey, Refusal> {
    let many = if is_told_to_many { ":group" } else { "" };
    keys::named(settings, &format!("cron:{name}{many}"), agent)
}

#[cfg(test)]
mod tests {
    use openclaw_config::{Environment, Paths};
    use serde_json::{Value, json};

    use super::*;

    fn settings() -> Settings {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let places: Environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
        let paths = Paths::resolve(&places).unwrap();
        Settings::assemble(paths, json!({}), &Environment::default()).unwrap()
    }

    fn job(target: &str, payload: Value, delivery: Value) -> Job {
        let fields = json!({
            "name": "n", "schedule": {"kind": "every", "everyMs": 60_000}, "sessionTarget": target,
            "sessionKey": "agent:main:telegram:group:-5:topic:3", "wakeMode": "now",
            "payload": payload, "delivery": delivery,
        });
        Job::new("j".to_owned(), fields, 0).unwrap()
    }

    #[test]
    fn job_is_kept_apart_from_groups_that_may_not_know_its_session() {
        let settings = settings();
        let asks = json!({"kind": "agentTurn", "message": "m"});
        let group = json!({"mode": "announce", "channel": "telegram", "to": "-5"});
        let topic = json!({"mode": "announce", "to": "telegram:-5:topic:9"});
        let other = json!({"mode": "announce", "to": "telegram:-6"});
        let named = json!({"mode": "announce", "channel": "telegram", "to": "@news"});
        let session = json!({"mode": "announce", "to": "agent:main:telegram:group:-5"});
        let alone = json!({"mode": "announce", "to": "telegram:5"});
        for (target, delivery, is_refused) in [
            ("main", &group, true),
            ("main", &named, true),
            ("main", &session, true),
            ("main", &alone, false),
            ("main", &json!({"mode": "announce"}), false),
            ("main", &json!({"mode": "none", "to": "telegram:-5"}), false),
            (
                "main",
                &json!({"mode": "webhook", "to": "https://e.org/h"}),
                false,
            ),
            ("isolated", &group, false),
            ("current", &group, false),
            ("current", &topic, false),
            ("current", &session, false),
            ("current", &other, true),
            ("current", &named, true),
            ("session:work", &group, true),
            ("session:agent:main:telegram:group:-6", &group, true),
            ("session:agent:main:telegram:group:-6", &other, false),
            ("session:agent:main:cron:x:group", &group, true),
        ] {
            let job = job(target, asks.clone(), delivery.clone());
            let kept = kept_apart(&settings, &job);
            assert_eq!(kept.is_err(), is_refused, "{target} {delivery}: {kept:?}");
        }
        // Nothing of a conversation is in what these say.
        for payload in [
            json!({"kind": "command", "argv": ["date"]}),
            json!({"kind": "reminder", "text": "tea"}),
        ] {
            kept_apart(&settings, &job("main", payload, group.clone())).unwrap();
        }
    }

    #[test]
    fn job_is_known_where_its_agent_session_and_model_are() {
        let settings = settings();
        let fields = json!({
            "name": "n", "schedule": {"kind": "every", "everyMs": 60_000}, "wakeMode": "now",
            "sessionTarget": "isolated", "payload": {"kind": "agentTurn", "message": "m"},
        });
        let with = |name: &str, value: &str| {
            let mut fields = fields.clone();
            match name.strip_prefix("payload/") {
                Some(name) => fields["payload"][name] = json!(value),
                None => fields[name] = json!(value),
            }
            let job = Job::new("j".to_owned(), fields, 0).unwrap();
            known(&settings, &job).map_err(|invalid| invalid.to_string())
        };
        for (name, value) in [
            ("agentId", "nobody"),
            ("sessionKey", "agent:zz:main"),
            ("sessionTarget", "session:agent:other:main"),
            ("sessionTarget", "session:my session/with \u{fc}"),
            ("payload/model", "nosuch/model"),
            ("payload/thinking", "banana"),
        ] {
            let refused = with(name, value).unwrap_err();
            assert!(
                refused.starts_with(&format!("at /{name}: ")),
                "{value}: {refused}"
            );
        }
        for (name, value) in [
            ("agentId", "main"),
            ("sessionKey", "agent:main:work"),
            ("sessionTarget", "session:work"),
            ("payload/model", "anthropic/claude-x"),
            ("payload/thinking", "high"),
        ] {
            assert_eq!(with(name, value), Ok(()), "{name} {value}");
        }
    }

    #[test]
    fn chat_is_named_by_the_keys_of_groups_alone() {
        for (key, expected) in [
            ("agent:main:telegram:group:-7", Some(("telegram", "-7"))),
            (
                "agent:main:telegram:group:-7:topic:3",
                Some(("telegram", "-7")),
            ),
            (
                "agent:main:slack:channel:c1:thread:1",
                Some(("slack", "c1")),
            ),
            ("agent:main:signal:default:group:g", Some(("signal", "g"))),
            (
                "agent:main:matrix:room:!a:b.org",
                Some(("matrix", "!a:b.org")),
            ),
            ("agent:main:cron:j:group", None),
            ("agent:main:main", None),
            ("agent:main:telegram:direct:7", None),
        ] {
            let key = keys::named(&settings(), key, "").unwrap();
            assert_eq!(chat(&key), expected, "{key}");
        }
    }
}
