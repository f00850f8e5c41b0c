//! Commands that run while the model goes on. They end with the turn.

mod log;
mod session;
mod terminal;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::command::{CommandLine, Variables};
use crate::call::FailureKind;
use crate::handler::HandlerError;

pub(super) use session::{Session, StartError, State};

/// Commands that run at once; a model that starts more has lost its way.
const MAX_RUNNING: usize = 16;

/// Commands that have ended and can still be asked about.
const MAX_ENDED: usize = 32;

/// A command that is to be started.
pub(super) struct Launch {
    pub(super) command: CommandLine,
    pub(super) workdir: PathBuf,
    pub(super) variables: Variables,
    /// On a terminal of its own.
    pub(super) terminal: bool,
    /// The longest it may take.
    pub(super) limit: Option<Duration>,
}

/// The commands in the background, by the name they are asked about.
#[derive(Debug, Default)]
pub(super) struct Processes(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    last: u32,
    sessions: BTreeMap<u32, Arc<Session>>,
}

impl Processes {
    /// Makes room for one more, and its number.
    pub(super) fn reserve(&self) -> Result<u32, HandlerError> {
        let mut inner = self.lock();
        let running = inner.sessions.values().filter(|it| it.is_running());
        if running.count() >= MAX_RUNNING {
            return Err(HandlerError::new(
                FailureKind::TOO_LARGE,
                format!(
                    "{MAX_RUNNING} commands run in the background, which is as many as may; end one"
                ),
            ));
        }
        let ended =
            |(number, session): (&u32, &Arc<Session>)| (!session.is_running()).then_some(*number);
        let ended: Vec<u32> = inner.sessions.iter().filter_map(ended).collect();
        let surplus = (ended.len() + 1).saturating_sub(MAX_ENDED);
        for number in &ended[..surplus] {
            inner.sessions.remove(number);
        }
        inner.last += 1;
        Ok(inner.last)
    }

    pub(super) fn add(&self, number: u32, session: Arc<Session>) {
        self.lock().sessions.insert(number, session);
    }

    /// All of them, the oldest first.
    pub(super) fn all(&self) -> Vec<Arc<Session>> {
        self.lock().sessions.values().cloned().collect()
    }

    /// The one named `id`.
    pub(super) fn find(&self, id: &str) -> Result<Arc<Session>, HandlerError> {
        let all = self.all();
        let found = all.iter().find(|session| session.id() == id);
        found.cloned().ok_or_else(|| {
            let known: Vec<&str> = all.iter().map(|session| session.id()).collect();
            let known = if known.is_empty() {
                "there is none".to_owned()
            } else {
                format!("there are {}", known.join(", "))
            };
            HandlerError::new(
                FailureKind::NOT_FOUND,
                format!("no command {id:?} runs in the background; {known}"),
            )
        })
    }

    /// Forgets one; it is ended when it runs.
    pub(super) fn remove(&self, id: &str) {
        self.lock().sessions.retain(|_, session| session.id() != id);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
