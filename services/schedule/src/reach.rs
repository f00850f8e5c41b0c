//! How far a job reaches that an agent made: it runs in the session that it was made in, or by
//! itself, and tells those who hear that one. Another session, and anybody else, it reaches where
//! it was made in a session of the owner's own, and what it knows is not kept from them.
//!
//! So whoever talks to an agent elsewhere, a guest or the people of a group, has neither words said
//! in the owner's conversation nor that one's answers told, whether or not somebody is asked.

use std::sync::Arc;

use openclaw_daemon::failure;
use openclaw_jobs::{Alerts, Destination, Invalid, Job, Payload};
use openclaw_proto::outbox::Place;
use openclaw_runs::keys;
use openclaw_sessions::SessionKey;
use openclaw_settings::Settings;

use crate::audience::{self, ISOLATED};
use crate::needs::Needs;
use crate::people::People;

/// What the owner does about a job that may not reach so far.
const WAY_OUT: &str = "the user makes such a job (openclawctl cron add)";

/// How far a job of an agent reaches.
pub(crate) struct Reach<'a> {
    settings: Arc<Settings>,
    job: &'a Job,
    /// The session that it was made in,
    made_in: SessionKey,
    /// and whether that is the owner's own.
    is_owners: bool,
    people: People,
}

/// Everywhere where a job tells something of its own: what it comes to, and that it fails.
pub(crate) fn told(job: &Job) -> impl Iterator<Item = Destination> {
    let alerts = job.alert_route(&Alerts::default());
    let routes = job.delivery.iter().chain([&alerts]);
    let all: Vec<Destination> = routes.flat_map(|it| it.destinations()).collect();
    all.into_iter()
}

/// Where a destination on a channel is.
pub(crate) fn place(destination: &Destination) -> Option<Place> {
    let Destination::Channel {
        channel,
        account,
        to,
        thread,
    } = destination
    else {
        return None;
    };
    Some(Place {
        channel: channel.clone(),
        account: account.clone(),
        to: to.clone(),
        chat: None,
        thread: thread.clone(),
    })
}

/// Where on a channel the answers of the session `key` go: to those who hear it, or to the
/// owner. It may have been said to somebody else before its chats had sessions of their own.
pub(crate) async fn place_of(needs: &Needs, key: &SessionKey) -> Option<Place> {
    let entry = needs.sessions.entry(key).await.ok()?;
    let place = entry.get(Place::FIELD).and_then(Place::of_session)?;
    let settings = needs.configuration.settings();
    if audience::is_heard_in(&settings, key, &place) {
        return Some(place);
    }
    let people = People::of(needs).await.ok()?;
    is_of_owner(&people, &place).then_some(place)
}

fn is_of_owner(people: &People, place: &Place) -> bool {
    let to = openclaw_inbound::bare(&place.to, &place.channel);
    to.is_some_and(|to| people.is_owner(&place.channel, &to))
}

/// Refuses a job of an agent that reaches further than it may; the owner's own reach
/// wherever they say.
pub(crate) async fn checked(needs: &Needs, job: &Job) -> Result<(), Invalid> {
    match Reach::of(needs, job).await {
        Ok(Some(reach)) => reach.checked(),
        Ok(None) => Ok(()),
        Err(why) => Err(Invalid::field("madeBy", &why)),
    }
}

impl<'a> Reach<'a> {
    /// How far `job` reaches; None: no agent made it.
    pub(crate) async fn of(needs: &Needs, job: &'a Job) -> Result<Option<Self>, String> {
        let Some(maker) = job.maker() else {
            return Ok(None);
        };
        let settings = needs.configuration.settings();
        let made_in = keys::named(&settings, &maker.session_key, &maker.agent_id);
        let made_in = made_in.map_err(|refusal| failure::chain(&refusal))?;
        let people = People::of(needs).await;
        let people = people.map_err(|fault| failure::chain(&fault))?;
        Ok(Some(Self {
            is_owners: people.own(&made_in),
            settings,
            job,
            made_in,
            people,
        }))
    }

    fn checked(&self) -> Result<(), Invalid> {
        self.runs()?;
        for destination in told(self.job) {
            let told = self.tells(&destination);
            told.map_err(|why| Invalid::field("delivery", &why))?;
        }
        Ok(())
    }

    /// Refuses a run in somebody else's session.
    fn runs(&self) -> Result<(), Invalid> {
        if self.job.session_target == ISOLATED || self.is_owners {
            return Ok(());
        }
        match audience::target(&self.settings, self.job) {
            Ok(key) if key != self.made_in => {
                let problem = format!(
                    "an agent's job runs in the session that it was made in, {}, which is not the \
                     owner's own, and not in {key}: say current or isolated; {WAY_OUT}",
                    self.made_in
                );
                Err(Invalid::field("sessionTarget", &problem))
            }
            // A session that cannot be named is refused for that.
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Refuses to tell something at `destination`.
    pub(crate) fn tells(&self, destination: &Destination) -> Result<(), String> {
        if let Some(place) = place(destination) {
            return self.tells_at(&place);
        }
        let Destination::Session(named) = destination else {
            // Agents say none; the owner may have.
            return Ok(());
        };
        let key = audience::told_in(&self.settings, self.job, named.as_deref());
        let key = key.map_err(|refusal| failure::chain(&refusal))?;
        let is_own = audience::is_same_audience(&key, &self.made_in);
        let may_know = self
            .knows_nothing_of(|run| self.people.own(&key) || audience::is_same_audience(&key, run));
        self.admitted(is_own, may_know, key.as_str())
    }

    /// Refuses to tell something at `place`.
    fn tells_at(&self, place: &Place) -> Result<(), String> {
        let heard_in = |key: &SessionKey| audience::is_heard_in(&self.settings, key, place);
        let may_know =
            self.knows_nothing_of(|run| is_of_owner(&self.people, place) || heard_in(run));
        let name = format!("{}:{}", place.channel, place.to);
        self.admitted(heard_in(&self.made_in), may_know, &name)
    }

    /// Whether nothing of a conversation is in what it says that `hears` does not say is
    /// heard there anyway.
    fn knows_nothing_of(&self, hears: impl Fn(&SessionKey) -> bool) -> bool {
        let asks = matches!(self.job.payload, Payload::AgentTurn { .. });
        let run = audience::target(&self.settings, self.job);
        !asks || self.job.session_target == ISOLATED || run.is_ok_and(|run| hears(&run))
    }

    fn admitted(&self, is_own: bool, may_know: bool, name: &str) -> Result<(), String> {
        if is_own && may_know {
            return Ok(());
        }
        if !is_own && !self.is_owners {
            return Err(format!(
                "an agent's job tells those who hear the session that it was made in, {}, which is \
                 not the owner's own, and not {name}: leave it out; {WAY_OUT}",
                self.made_in
            ));
        }
        if may_know {
            return Ok(());
        }
        Err(format!(
            "{name} may not hear what the session knows in which this job runs: say sessionTarget \
             isolated; or {WAY_OUT}"
        ))
    }
}
