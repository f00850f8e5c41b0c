//! What the ways in share.

use std::sync::Arc;

use openclaw_runs::Core;
use openclaw_schedule::Schedule;

use crate::answers::Answers;
use crate::channels::Channels;
use crate::front::Front;
use crate::readiness::{Readiness, Report};

/// What the ways in share.
pub struct Doors {
    pub(crate) core: Arc<Core>,
    /// The TCP side.
    pub front: Arc<Front>,
    /// The accounts of channels, and who speaks for them.
    pub channels: Arc<Channels>,
    /// The jobs.
    pub schedule: Arc<Schedule>,
    readiness: Readiness,
    /// What HTTP was answered.
    pub(crate) answers: Answers,
}

impl Doors {
    /// Ways into `core`, and to its `schedule`.
    pub fn new(core: Arc<Core>, schedule: Arc<Schedule>) -> Arc<Self> {
        Arc::new(Self {
            front: Front::new(core.configuration.clone()),
            channels: Channels::new(Arc::clone(&core)),
            schedule,
            readiness: Readiness::default(),
            answers: Answers::default(),
            core,
        })
    }

    /// What a message needs, as it is now or was a moment ago.
    pub async fn report(&self) -> Arc<Report> {
        self.readiness.report(&self.core).await
    }
}
