//! Tells a job's result where it goes beside the session it was made in.

use std::time::Duration;

use openclaw_conversations::outbox::{self, NewDelivery};
use openclaw_conversations::sessions::Wanted;
use openclaw_daemon::failure;
use openclaw_inbound::WithFiles;
use openclaw_jobs::{Alerts, Delivered, Delivery, Destination, Invalid, Job, Payload};
use openclaw_proto::call::RefusalCode;
use openclaw_proto::outbox::{Extras, Kind, Place, State};
use openclaw_runs::{injected, keys, reply_text};
use openclaw_sessions::{SessionKey, now_ms, silence};
use openclaw_settings::recipient::{Nobody, Recipient};
use serde_json::Value;
use tokio::time::sleep;
use uuid::Uuid;

use crate::audience;
use crate::known;
use crate::needs::Needs;
use crate::perform::{Outcome, Run};
use crate::reach::{self, Reach};
use crate::rows::delivery_name;

/// Messages that are looked at to see whether a result was told before the
/// gateway was started again.
const LOOKED_AT: usize = 200;

/// How long is waited before a webhook is told once more.
const RETRIES: [Duration; 3] = [
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(30),
];

/// How long a channel has to say that it delivered a result, before the run is over
/// without that. Longer than a provider takes that answers at all.
const PATIENCE: Duration = Duration::from_secs(20);

/// Refuses a job with `fields` that would tell something in a session that is made up
/// of the name of a channel.
pub(crate) async fn reachable(needs: &Needs, fields: &Value) -> Result<(), Invalid> {
    for (field, to) in openclaw_jobs::sessions(fields) {
        if let Some((channel, _)) = to.split_once(':')
            && !is_session(needs, &to).await
        {
            let problem = Nobody::Channel(channel.to_owned()).to_string();
            return Err(Invalid::field(field, &problem));
        }
    }
    Ok(())
}

/// Refuses a job with `fields` that would tell a URL which may not be told. Where the
/// agent-runner does not say so, the run will.
pub(crate) async fn allowed(needs: &Needs, fields: &Value) -> Result<(), Invalid> {
    for (field, url) in openclaw_jobs::webhooks(fields) {
        match needs.runner.judge_webhook(&url).await {
            Err(error) if error.is_refused(RefusalCode::InvalidArgument) => {
                return Err(Invalid::field(field, &error.to_string()));
            }
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

/// Whether the name is one of a session: one in full, one that is there, or one
/// that is not a channel's.
async fn is_session(needs: &Needs, to: &str) -> bool {
    let settings = needs.configuration.settings();
    if to.starts_with("agent:") || !to.contains(':') {
        return true;
    }
    match keys::named(&settings, to, "") {
        Ok(key) => needs.sessions.entry(&key).await.is_ok(),
        Err(_) => false,
    }
}

/// Tells what came of `run` in the session `made_in`, if its job asks for it.
pub(crate) async fn announce(
    needs: &Needs,
    run: &Run,
    made_in: Option<&SessionKey>,
    outcome: &Outcome,
) -> Delivered {
    let Some(delivery) = &run.job.delivery else {
        return Delivered::NotRequested;
    };
    let destinations = delivery.destinations();
    let mut all = Delivered::NotRequested;
    for (number, destination) in destinations.iter().enumerate() {
        let told = match (destination, outcome) {
            (_, Outcome::Skipped(_)) => return all,
            (Destination::Webhook(url), _) => webhook(needs, run, (url, number), outcome).await,
            (_, Outcome::Failed(_) | Outcome::Told) => continue,
            (_, Outcome::Answered(text)) => match said(text) {
                Ok(text) => say(needs, run, made_in, (destination, number, text)).await,
                Err(reason) => Delivered::Suppressed(reason),
            },
        };
        all = both(all, told);
    }
    all
}

/// What is told of an answer; why it is not.
fn said(text: &str) -> Result<&str, &'static str> {
    match text.trim() {
        "" => Err("empty"),
        text if silence::is_for_nobody(text) => Err("silent"),
        text => Ok(text),
    }
}

/// What became of two deliveries together: one that failed is not hidden by one that did not.
fn both(one: Delivered, other: Delivered) -> Delivered {
    match (one, other) {
        (Delivered::Failed(one), Delivered::Failed(other)) => {
            Delivered::Failed(format!("{one}; {other}"))
        }
        (failed @ Delivered::Failed(_), _) | (_, failed @ Delivered::Failed(_)) => failed,
        (Delivered::NotRequested, other) => other,
        (Delivered::Waiting, _) | (_, Delivered::Waiting) => Delivered::Waiting,
        (Delivered::Yes, _) | (_, Delivered::Yes) => Delivered::Yes,
        (one, _) => one,
    }
}

/// What is said on a channel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Said<'a> {
    /// What the delivery is called, under which it is said once.
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
    /// The job that says it by the word of the agent that made it, which is not everybody's
    /// to hear.
    pub(crate) made: Option<&'a Job>,
    /// The words are the agent's, which may name files of its workspace.
    pub(crate) is_agents: bool,
}

/// Says `text` at the run's destination of that number, once for each run.
async fn say(
    needs: &Needs,
    run: &Run,
    made_in: Option<&SessionKey>,
    (destination, number, text): (&Destination, usize, &str),
) -> Delivered {
    let name = delivery_name(&run.id, number);
    let patience = patience(run);
    let named = format!("[{}]\n\n{text}", run.job.name);
    let plain = Said {
        name: &name,
        text,
        made: made(&run.job),
        // What a command printed is of whatever it read.
        is_agents: !matches!(run.job.payload, Payload::Command(_)),
    };
    // Whoever did not ask for it is told what it belongs to.
    let told = Said {
        text: if run.job.is_reminder() { text } else { &named },
        ..plain
    };
    if let Some(why) = kept_from(needs, &run.job, destination).await {
        return Delivered::Failed(why);
    }
    match destination {
        Destination::Session(to) => {
            let key = match session(needs, to.as_deref(), &run.job) {
                Ok(key) => key,
                Err(problem) => return Delivered::Failed(problem),
            };
            if made_in == Some(&key) {
                return on_channel_of(needs, &key, plain, patience).await;
            }
            if run.is_resumed && was_told(needs, &key, &run.id).await {
                return on_channel_of(needs, &key, told, patience).await;
            }
            in_session(needs, &key, (&run.id, told), patience).await
        }
        Destination::Channel { .. } | Destination::Webhook(_) => {
            let Some(place) = reach::place(destination) else {
                return Delivered::NotRequested;
            };
            let key = made_in.cloned();
            let key = match key.map_or_else(|| session(needs, None, &run.job), Ok) {
                Ok(key) => key,
                Err(problem) => return Delivered::Failed(problem),
            };
            at_place(needs, &key, place, told, patience).await
        }
    }
}

/// The job, if an agent made it.
fn made(job: &Job) -> Option<&Job> {
    job.maker().map(|_| job)
}

/// Why what a job of an agent says is not told at `destination`, if so.
async fn kept_from(needs: &Needs, job: &Job, destination: &Destination) -> Option<String> {
    match Reach::of(needs, job).await {
        Ok(Some(reach)) => reach.tells(destination).err(),
        Ok(None) => None,
        Err(why) => Some(why),
    }
}

/// Says it in a session as the message `id`, and on the channel that is on: it is told
/// when it is there.
async fn in_session(
    needs: &Needs,
    key: &SessionKey,
    (id, said): (&str, Said<'_>),
    patience: Duration,
) -> Delivered {
    let message = (id, said.name, said.text);
    match injected::say_as(&needs.storage, &needs.bus, key, message).await {
        Ok(()) => on_channel_of(needs, key, said, patience).await,
        Err(fault) => Delivered::Failed(failure::chain(&fault)),
    }
}

/// Says what is in a session already on the channel that it is on, if it is on one.
pub(crate) async fn on_channel_of(
    needs: &Needs,
    key: &SessionKey,
    said: Said<'_>,
    patience: Duration,
) -> Delivered {
    let entry = match needs.sessions.entry(key).await {
        Ok(entry) => entry,
        Err(refusal) => return Delivered::Failed(failure::chain(&refusal)),
    };
    let place = match said.made {
        Some(_) => reach::place_of(needs, key).await,
        None => entry.get(Place::FIELD).and_then(Place::of_session),
    };
    match place {
        Some(place) => at_place(needs, key, place, said, patience).await,
        None => Delivered::Yes,
    }
}

/// How long is waited for a channel: its next run does not wait behind this one.
pub(crate) fn patience(run: &Run) -> Duration {
    let until_next = run.job.next_ms().map(|next_ms| next_ms - now_ms());
    let until_next = until_next.map(|ms| u64::try_from(ms).unwrap_or(0));
    let until_next = until_next.map_or(Duration::MAX, Duration::from_millis);
    PATIENCE.min(until_next)
}

/// Puts it into the outbox under its name, where it is once, and waits for the channel
/// to say what came of it.
pub(crate) async fn at_place(
    needs: &Needs,
    key: &SessionKey,
    place: Place,
    said: Said<'_>,
    patience: Duration,
) -> Delivered {
    if let Some(maker) = said.made.and_then(Job::maker)
        && let Some(problem) = known::stranger(needs, maker, &place).await
    {
        return Delivered::Failed(problem);
    }
    let place = match checked(needs, place) {
        Ok(place) => place,
        Err(problem) => return Delivered::Failed(problem),
    };
    // Without its daemon the channel says nothing soon.
    let is_there = needs.outbox.is_taken(&place.channel, &place.account);
    let patience = if is_there { patience } else { Duration::ZERO };
    let WithFiles { text, files, paths } = with_files_of(needs, key, said).await;
    let new = NewDelivery {
        name: said.name.to_owned(),
        place,
        session_key: key.to_string(),
        agent_id: key.agent().to_string(),
        run_id: String::new(),
        kind: Kind::Announcement { text },
        extras: Extras {
            files,
            ..Extras::default()
        },
        paths,
    };
    let add = move |connection: &rusqlite::Connection| outbox::add(connection, &new, now_ms());
    if let Err(fault) = needs.outbox.change("say what a job came to", add).await {
        return Delivered::Failed(failure::chain(&fault));
    }
    match needs.outbox.outcome_of(said.name, patience).await {
        Ok((State::Failed, _, why)) => Delivered::Failed(why),
        Ok((State::Delivered, ..)) => Delivered::Yes,
        Ok((State::Pending | State::Leased, ..)) => Delivered::Waiting,
        Err(fault) => Delivered::Failed(failure::chain(&fault)),
    }
}

/// What is said and the files that it names.
async fn with_files_of(needs: &Needs, key: &SessionKey, said: Said<'_>) -> WithFiles {
    let text = said.text.to_owned();
    if !said.is_agents {
        return WithFiles {
            text,
            ..WithFiles::default()
        };
    }
    let settings = needs.configuration.settings();
    let agent = settings.agent(key.agent().as_str());
    reply_text::files_of(text, &needs.runner, agent).await
}

/// The place as the outbox knows it, of an account that there is.
fn checked(needs: &Needs, place: Place) -> Result<Place, String> {
    let channels = &needs.configuration.settings().channels;
    let recipient = Recipient {
        channel: &place.channel,
        to: &place.to,
        topic: None,
    };
    if let Some(nobody) = channels.nobody_at(&recipient, &place.account) {
        return Err(nobody.to_string());
    }
    let meant = channels.meant(&place.channel, &place.account);
    let account = meant.map_or("", |(name, _)| channels.ledger_name(&place.channel, name));
    Ok(Place {
        account: account.to_owned(),
        ..place
    })
}

/// Tells a URL what came of a run, several times if need be.
async fn webhook(
    needs: &Needs,
    run: &Run,
    (url, number): (&str, usize),
    outcome: &Outcome,
) -> Delivered {
    if let Outcome::Answered(text) = outcome
        && let Err(reason) = said(text)
    {
        return Delivered::Suppressed(reason);
    }
    let body = crate::entry::event(run, now_ms(), outcome).to_string();
    post(needs, url, &body, &format!("{} {number}", run.id)).await
}

async fn post(needs: &Needs, url: &str, body: &str, key: &str) -> Delivered {
    let mut pauses = RETRIES.iter();
    loop {
        let error = match needs.runner.post_webhook(url, body, key).await {
            Ok(()) => return Delivered::Yes,
            Err(error) => error,
        };
        let may_help = !error.is_refused(RefusalCode::InvalidArgument);
        let Some(pause) = pauses.next().filter(|_| may_help) else {
            return Delivered::Failed(error.to_string());
        };
        tracing::debug!("a webhook did not take what a job came to, trying again: {error}");
        sleep(*pause).await;
    }
}

/// Tells that `job` fails, or does so no more.
pub(crate) async fn alert(needs: &Needs, job: &Job, text: &str) -> Delivered {
    let id = Uuid::new_v4().to_string();
    let announced = format!("[{}]\n\n{text}", job.name);
    let route: Delivery = job.alert_route(&needs.alerts());
    // What the configuration says beside them is the user's own choice.
    let of_job = job.alert_route(&Alerts::default()).destinations();
    let mut all = Delivered::NotRequested;
    for (number, destination) in route.destinations().into_iter().enumerate() {
        let name = delivery_name(&id, number);
        let said = Said {
            name: &name,
            text: &announced,
            made: made(job).filter(|_| of_job.contains(&destination)),
            // With why it fails, which anybody may have worded.
            is_agents: false,
        };
        if said.made.is_some()
            && let Some(why) = kept_from(needs, job, &destination).await
        {
            all = both(all, Delivered::Failed(why));
            continue;
        }
        let told = match destination {
            Destination::Session(to) => match session(needs, to.as_deref(), job) {
                Ok(key) => in_session(needs, &key, (&id, said), PATIENCE).await,
                Err(problem) => Delivered::Failed(problem),
            },
            Destination::Channel { .. } => {
                match (reach::place(&destination), session(needs, None, job)) {
                    (Some(place), Ok(key)) => at_place(needs, &key, place, said, PATIENCE).await,
                    (_, Err(problem)) => Delivered::Failed(problem),
                    (None, Ok(_)) => Delivered::NotRequested,
                }
            }
            Destination::Webhook(url) => {
                let body = crate::entry::alert(job, text, now_ms()).to_string();
                post(needs, &url, &body, &id).await
            }
        };
        all = both(all, told);
    }
    all
}

/// Whether the result of a run was told before it was known that it was.
async fn was_told(needs: &Needs, key: &SessionKey, run_id: &str) -> bool {
    let wanted = Wanted {
        skip: 0,
        limit: LOOKED_AT,
        all: true,
    };
    let history = needs.sessions.history(key, wanted).await;
    history.is_ok_and(|history| {
        let mut entries = history.entries.iter();
        entries.any(|entry| injected::is(&entry.message, run_id))
    })
}

/// The session in which the job tells something.
pub(crate) fn session(needs: &Needs, to: Option<&str>, job: &Job) -> Result<SessionKey, String> {
    let settings = needs.configuration.settings();
    audience::told_in(&settings, job, to).map_err(|refusal| refusal.to_string())
}
