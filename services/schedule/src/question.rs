//! What people are asked before a job that an agent wants is made.

use openclaw_jobs::{Destination, Job};
use openclaw_proto::outbox::Place;

use crate::audience::{self, ISOLATED};
use crate::{Schedule, reach};

impl Schedule {
    /// What people are asked: how often it runs, in which session, and who is told.
    pub(crate) async fn acts_later(&self, job: &Job) -> String {
        let again = match job.next_ms().and_then(|next| job.time_after(next)) {
            Some(_) => "again and again",
            None => "once",
        };
        let settings = self.needs.configuration.settings();
        let run = match (
            job.session_target.as_str(),
            audience::target(&settings, job),
        ) {
            (ISOLATED, _) => "in a session of its own".to_owned(),
            (_, Ok(key)) => format!("in the session {key}"),
            (target, Err(_)) => format!("in the session {target}"),
        };
        let listeners = match self.listeners(job).await.as_slice() {
            [] => String::new(),
            all => format!(", and tells {}", all.join(" and ")),
        };
        format!("it acts later by itself, {again}, when nobody looks, {run}{listeners}")
    }

    /// Who is told what a job comes to: people of channels, and sessions with those of theirs.
    pub(crate) async fn listeners(&self, job: &Job) -> Vec<String> {
        let settings = self.needs.configuration.settings();
        let on_channel = |place: &Place| format!("{}:{}", place.channel, place.to);
        let mut listeners = Vec::new();
        for destination in reach::told(job) {
            let listener = match (reach::place(&destination), &destination) {
                (Some(place), _) => on_channel(&place),
                (None, Destination::Session(named)) => {
                    let Ok(key) = audience::told_in(&settings, job, named.as_deref()) else {
                        continue;
                    };
                    let place = reach::place_of(&self.needs, &key).await;
                    let place = place.map(|it| format!(" ({})", on_channel(&it)));
                    format!("the session {key}{}", place.unwrap_or_default())
                }
                (None, _) => continue,
            };
            if !listeners.contains(&listener) {
                listeners.push(listener);
            }
        }
        listeners
    }
}
