//! Tells a job's result where it goes beside the session it was made in.

use openclaw_daemon::failure;
use openclaw_sessions::SessionKey;
use openclaw_settings::Settings;

use super::Needs;
use crate::reply_text::SILENT;
use crate::{injected, keys};
use openclaw_jobs::{Delivered, Delivery, Job};

/// The one channel that is always there: the sessions themselves.
const SESSIONS: &str = "webchat";

/// The channel that was spoken over last, which is [`SESSIONS`] as long as
/// other channels are clients of their own.
const LAST: &str = "last";

/// Announces what a run of `job` in the session `made_in` answered, if the job
/// asks for it.
pub(super) async fn announce(
    needs: &Needs,
    job: &Job,
    made_in: &SessionKey,
    text: &str,
) -> Delivered {
    let Some(delivery) = job.delivery.as_ref().filter(|it| it.announces()) else {
        return Delivered::NotRequested;
    };
    match text.trim() {
        "" => Delivered::Suppressed("empty"),
        silent if SILENT.contains(&silent) => Delivered::Suppressed("silent"),
        text => tell(needs, job, delivery, Some(made_in), text).await,
    }
}

/// Tells that `job` fails, or does so no more.
pub(super) async fn alert(needs: &Needs, job: &Job, text: &str) -> Delivered {
    tell(needs, job, &job.alert_route(), None, text).await
}

async fn tell(
    needs: &Needs,
    job: &Job,
    delivery: &Delivery,
    made_in: Option<&SessionKey>,
    text: &str,
) -> Delivered {
    let key = match target(&needs.configuration.settings(), delivery, job) {
        Ok(key) => key,
        Err(problem) => return Delivered::Failed(problem),
    };
    if made_in == Some(&key) {
        // It is said there already.
        return Delivered::Yes;
    }
    let text = format!("[{}]\n\n{text}", job.name);
    match injected::say(&needs.storage, &needs.bus, &key, &text).await {
        Ok(_) => Delivered::Yes,
        Err(fault) => Delivered::Failed(failure::chain(&fault)),
    }
}

/// The session to tell, or why there is none.
fn target(settings: &Settings, delivery: &Delivery, job: &Job) -> Result<SessionKey, String> {
    let channel = delivery.channel.as_deref().unwrap_or(LAST);
    if channel != LAST && channel != SESSIONS {
        return Err(format!(
            "channel {channel} is not configured; configured: {SESSIONS}"
        ));
    }
    let agent = job.agent_id().unwrap_or_default();
    keys::named(settings, delivery.to.as_deref().unwrap_or_default(), agent)
        .map_err(|refusal| refusal.to_string())
}
