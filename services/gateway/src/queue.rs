//! Messages that come while a session is busy.

use std::sync::Arc;
use std::time::{Duration, Instant};

use openclaw_sessions::SessionKey;

use crate::gateway::Gateway;
use crate::run::Run;

/// How long collecting waits for another message, as in OpenClaw: people who
/// write in pieces write the next one within it.
const DEBOUNCE: Duration = Duration::from_millis(500);

/// The longest that collecting waits altogether, however many come.
const PATIENCE: Duration = Duration::from_secs(5);

/// Messages that may wait in one session for clients of the WebSocket
/// protocol, as in OpenClaw.
pub(crate) const CAP: usize = 20;

/// What a message does that finds its session busy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    /// Goes into the turn that runs. The backends take nothing in between, so
    /// it is answered next, as OpenClaw does when it cannot steer.
    #[default]
    Steer,
    /// Is answered next, by itself.
    Followup,
    /// Is answered next, together with all others that wait like this.
    Collect,
    /// Ends the turns that run and wait.
    Interrupt,
}

impl Mode {
    /// The mode's name on the wire.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Steer => "steer",
            Self::Followup => "followup",
            Self::Collect => "collect",
            Self::Interrupt => "interrupt",
        }
    }

    /// The mode named `name`.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        [Self::Steer, Self::Followup, Self::Collect, Self::Interrupt]
            .into_iter()
            .find(|mode| mode.as_str() == name)
    }
}

/// A message that may be answered together with others.
#[derive(Debug)]
pub(crate) struct Collectable {
    text: String,
    arrived: Instant,
    /// Whether the session was busy when it came.
    behind: bool,
}

impl Collectable {
    pub(crate) fn new(text: &str, behind: bool) -> Self {
        Self {
            text: text.to_owned(),
            arrived: Instant::now(),
            behind,
        }
    }
}

/// What the turn of `run` is asked when more than its own `text` was collected
/// while it waited. The other runs end without an answer of their own.
pub(crate) async fn collect(gateway: &Gateway, run: &Run, text: &str) -> Option<String> {
    run.collectable.get().filter(|own| own.behind)?;
    wait_for_more(gateway, run).await;
    let others = waiting(gateway, &run.key, &run.id);
    if others.is_empty() {
        return None;
    }
    let mut texts = vec![text];
    for other in &others {
        texts.extend(other.collectable.get().map(|it| it.text.as_str()));
        other.absorb();
    }
    run.note_collected(others.iter().map(|other| other.id.clone()));
    Some(together(&texts))
}

/// Waits until nothing has come for a while.
async fn wait_for_more(gateway: &Gateway, run: &Run) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let newest = waiting(gateway, &run.key, &run.id)
            .iter()
            .filter_map(|other| other.collectable.get().map(|it| it.arrived))
            .chain(run.collectable.get().map(|it| it.arrived))
            .max();
        let quiet_at = newest.map_or(deadline, |at| (at + DEBOUNCE).min(deadline));
        if quiet_at <= Instant::now() {
            return;
        }
        tokio::time::sleep_until(quiet_at.into()).await;
    }
}

/// The other runs of the session that wait to be collected, in the order in
/// which they came.
fn waiting(gateway: &Gateway, key: &SessionKey, but: &str) -> Vec<Arc<Run>> {
    let mut runs = gateway.runs.live();
    runs.retain(|run| run.key == *key && run.id != but && run.may_be_collected());
    runs.sort_by_key(|run| run.collectable.get().map(|it| it.arrived));
    runs
}

fn together(texts: &[&str]) -> String {
    let mut all = "[Queued messages while agent was busy]".to_owned();
    for (at, text) in texts.iter().enumerate() {
        all.push_str(&format!("\n\n---\nQueued #{}\n{text}", at + 1));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_have_names() {
        for name in ["steer", "followup", "collect", "interrupt"] {
            assert_eq!(Mode::parse(name).map(Mode::as_str), Some(name));
        }
        assert_eq!(Mode::parse("queue"), None);
    }

    #[test]
    fn collected_messages_are_numbered() {
        assert_eq!(
            together(&["a", "b"]),
            "[Queued messages while agent was busy]\n\n---\nQueued #1\na\n\n---\nQueued #2\nb"
        );
    }
}
