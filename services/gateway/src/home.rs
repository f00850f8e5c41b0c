//! The home session of seed 000: the default agent's main session, which all
//! direct chats and the CLI share, and the document of it.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use openclaw_daemon::failure;
use openclaw_proto::event::Kind;
use openclaw_sessions::home::{self, Exchange, HomeSession, Said};
use openclaw_sessions::{Error, SessionKey, now_ms};
use tokio::sync::{Mutex as AsyncMutex, watch};

use crate::door::stream;
use crate::gateway::Gateway;
use crate::reply_text::ReplyText;
use crate::run::Run;

/// Exchanges whose run is remembered, for the clients that wait for them.
const REMEMBERED: usize = 64;
/// How long a client waits for the document after the reply. It is written
/// within milliseconds, after those before it.
const DEADLINE: Duration = Duration::from_secs(10);

/// Why an exchange is not in the document.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum Unrecorded {
    #[error("the exchange could not be written")]
    Failed(#[source] Arc<Error>),
    #[error("the exchange was not written within {DEADLINE:?}")]
    Late,
}

type Recorded = Result<Exchange, Arc<Error>>;

/// The document's writer.
#[derive(Debug)]
pub(crate) struct Home {
    state: PathBuf,
    /// One exchange after the other.
    turn: AsyncMutex<()>,
    recent: Mutex<VecDeque<(String, Recorded)>>,
    /// How many were written.
    news: watch::Sender<u64>,
}

impl Home {
    pub(crate) fn new(state: PathBuf) -> Self {
        Self {
            state,
            turn: AsyncMutex::default(),
            recent: Mutex::default(),
            news: watch::Sender::new(0),
        }
    }

    /// The document, when there was an exchange.
    pub(crate) async fn read(&self) -> Result<Option<HomeSession>, Error> {
        let state = self.state.clone();
        let read = tokio::task::spawn_blocking(move || home::read(&state));
        // A read that was not made is one of nothing.
        read.await.unwrap_or(Ok(None))
    }

    /// The exchange of a run that has ended, once it is written.
    pub(crate) async fn exchange(&self, run_id: &str) -> Result<Exchange, Unrecorded> {
        let mut news = self.news.subscribe();
        let found = async {
            loop {
                if let Some(recorded) = self.find(run_id) {
                    return recorded.map_err(Unrecorded::Failed);
                }
                // The sender lives in `self`.
                let _ = news.changed().await;
            }
        };
        let found = tokio::time::timeout(DEADLINE, found).await;
        found.unwrap_or(Err(Unrecorded::Late))
    }

    async fn record(&self, run_id: String, said: Said) {
        let _turn = self.turn.lock().await;
        let state = self.state.clone();
        let written = tokio::task::spawn_blocking(move || home::record(&state, said)).await;
        let Ok(written) = written else { return };
        let written = written.map_err(Arc::new);
        if let Err(error) = &written {
            failure::report("write the home session", error.as_ref());
        }
        let mut recent = self.lock();
        recent.push_back((run_id, written));
        while recent.len() > REMEMBERED {
            recent.pop_front();
        }
        drop(recent);
        self.news.send_modify(|count| *count += 1);
    }

    fn find(&self, run_id: &str) -> Option<Recorded> {
        let recent = self.lock();
        let mut recent = recent.iter();
        recent.find_map(|(id, recorded)| (id == run_id).then(|| recorded.clone()))
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(String, Recorded)>> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds a run that has ended to the document, if it is of the home session.
/// Nobody but those who ask for the document waits for it.
pub(crate) fn note(gateway: &Arc<Gateway>, run: &Arc<Run>, user_text: String, sent_ms: i64) {
    if !is_home(gateway, &run.key) {
        return;
    }
    let (of, run) = (Arc::clone(gateway), Arc::clone(run));
    gateway.spawn(async move {
        let said = Said {
            user_text,
            bot_text: reply(&run).await,
            channel: run.channel.clone(),
            sent_ms,
            replied_ms: now_ms(),
        };
        of.home.record(run.id.clone(), said).await;
    });
}

fn is_home(gateway: &Gateway, key: &SessionKey) -> bool {
    let agent = &gateway.front.settings().default_agent;
    key.agent().as_str() == agent && *key == SessionKey::main(key.agent())
}

/// The whole reply of a run that has ended; nothing when it has none.
async fn reply(run: &Arc<Run>) -> String {
    let mut events = stream::live(Arc::clone(run), 1);
    let mut text = ReplyText::default();
    while let Some(Ok(event)) = events.next().await {
        text.take(&event.kind);
        if let Kind::Done(_) = event.kind {
            return text.whole();
        }
    }
    String::new()
}
