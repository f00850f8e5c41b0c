//! Which jobs an agent sees.

use openclaw_jobs::{Job, Maker};
use openclaw_proto::origin::is_shared;
use openclaw_sessions::SessionKey;

use crate::audience::{self, ISOLATED};
use crate::people::People;
use crate::{Refused, Schedule};

impl Schedule {
    /// The jobs of its agent that the caller may know of: in a session of the owner's own all of
    /// them, elsewhere those that were made there.
    pub(crate) async fn of(&self, caller: &Maker) -> Result<Vec<Job>, Refused> {
        let settings = self.needs.configuration.settings();
        let key = self.session_of(caller, None)?;
        let all = self.jobs.all().await?;
        let is_own_run = |job: &&Job| {
            let target = audience::target(&settings, job);
            job.session_target == ISOLATED && target.is_ok_and(|it| it == key)
        };
        let run = all.iter().find(is_own_run);
        let sees_all = match run.map(Job::maker) {
            // What runs by itself sees what is seen where it was made: by the user, or there.
            Some(None) => !is_shared(key.as_str()),
            Some(Some(maker)) => self.sees_all(&self.session_of(maker, None)?).await?,
            None => self.sees_all(&key).await?,
        };
        let run = run.map(|job| job.id().to_owned());
        let mut jobs = all;
        jobs.retain(|job| {
            let Some(maker) = job.maker().filter(|it| it.agent_id == caller.agent_id) else {
                return false;
            };
            let is_made_here = || {
                let made_in = self.session_of(maker, None);
                made_in.is_ok_and(|made_in| made_in == key)
            };
            sees_all || run.as_deref() == Some(job.id()) || is_made_here()
        });
        Ok(jobs)
    }

    async fn sees_all(&self, key: &SessionKey) -> Result<bool, Refused> {
        Ok(self.people().await?.own(key))
    }

    pub(crate) async fn people(&self) -> Result<People, Refused> {
        Ok(People::of(&self.needs).await?)
    }
}
