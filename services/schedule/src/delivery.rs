//! Tells a job's result where it goes beside the session it was made in.

use openclaw_conversations::sessions::Wanted;
use openclaw_daemon::failure;
use openclaw_sessions::SessionKey;
use openclaw_settings::Settings;
use uuid::Uuid;

use crate::Needs;
use crate::perform::Run;
use openclaw_jobs::{Delivered, Delivery, Job};
use openclaw_runs::reply_text::SILENT;
use openclaw_runs::{injected, keys};

/// The one channel that is always there: the sessions themselves.
const SESSIONS: &str = "webchat";

/// The channel that was spoken over last, which is [`SESSIONS`] as long as
/// other channels are clients of their own.
const LAST: &str = "last";

/// Messages that are looked at to see whether a result was told before the
/// gateway was started again.
const LOOKED_AT: usize = 200;

/// Announces what `run` answered in the session `made_in`, if its job asks for
/// it.
pub(crate) async fn announce(
    needs: &Needs,
    run: &Run,
    made_in: &SessionKey,
    text: &str,
) -> Delivered {
    let job = &run.job;
    let Some(delivery) = job.delivery.as_ref().filter(|it| it.announces()) else {
        return Delivered::NotRequested;
    };
    let text = match text.trim() {
        "" => return Delivered::Suppressed("empty"),
        silent if SILENT.contains(&silent) => return Delivered::Suppressed("silent"),
        text => text,
    };
    let key = match target(&needs.configuration.settings(), delivery, job) {
        Ok(key) => key,
        Err(problem) => return Delivered::Failed(problem),
    };
    // It may be said there already.
    if *made_in == key || (run.is_resumed && was_told(needs, &key, &run.id).await) {
        return Delivered::Yes;
    }
    tell(needs, job, &key, (&run.id, text)).await
}

/// Tells that `job` fails, or does so no more.
pub(crate) async fn alert(needs: &Needs, job: &Job, text: &str) -> Delivered {
    let settings = needs.configuration.settings();
    match target(&settings, &job.alert_route(), job) {
        Ok(key) => tell(needs, job, &key, (&Uuid::new_v4().to_string(), text)).await,
        Err(problem) => Delivered::Failed(problem),
    }
}

async fn tell(needs: &Needs, job: &Job, key: &SessionKey, (id, text): (&str, &str)) -> Delivered {
    let text = format!("[{}]\n\n{text}", job.name);
    match injected::say_as(&needs.storage, &needs.bus, key, (id, &text)).await {
        Ok(()) => Delivered::Yes,
        Err(fault) => Delivered::Failed(failure::chain(&fault)),
    }
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
