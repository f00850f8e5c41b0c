//! One agent's memory: its files and their index.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Zoned;
use openclaw_daemon::failure;
use openclaw_proto::memory::{BootstrapFile, Progress, Remembered};
use openclaw_retrieval::Engine;
use openclaw_settings::{AgentSettings, Bootstrap, Embedder, MemorySearch, Settings};
use tokio::sync::{Notify, watch};

use crate::bootstrap::{self, template};
use crate::error::Error;
use crate::index::Index;
use crate::note;
use crate::source::Places;
use crate::workspace::Workspace;

mod forget;
mod get;
mod scan;
mod take_in;
mod words;

pub(crate) use get::Reader;
pub(crate) use scan::{ScanResult, Todo};

/// One agent's memory. Its methods block.
#[derive(Debug)]
pub(crate) struct Store {
    /// The agent.
    pub(crate) agent: String,
    /// Where its files are.
    pub(crate) places: Places,
    /// How it is searched.
    pub(crate) search: MemorySearch,
    /// By which embedder.
    pub(crate) embedder: Embedder,
    /// Whether files are watched.
    pub(crate) watch: bool,
    bootstrap: Bootstrap,
    index: Arc<Index>,
    /// One note at a time, so that the lines told are right.
    notes: Mutex<()>,
    /// Reading a file and putting it into the index are one step: otherwise an
    /// older text could come last.
    taking_in: Mutex<()>,
    /// Whether it was said that a fresh workspace could not be filled; it is
    /// tried again for every conversation.
    complained: AtomicBool,
    /// How far the index is from the files.
    pub(crate) progress: watch::Sender<Progress>,
    /// Whether the files were looked at since the start: all of them, the first
    /// batch of many, or as far as a problem let.
    pub(crate) looked: watch::Sender<bool>,
    /// What was used a moment ago is kept ready for a while.
    pub(crate) used: Notify,
    /// Something was taken in that may want vectors.
    pub(crate) indexed: Notify,
    health: Mutex<Health>,
}

/// What is wrong, in words.
#[derive(Debug, Clone, Default)]
pub(crate) struct Health {
    /// Whether changes are seen at once.
    pub(crate) watching: bool,
    /// Files that are known to have changed.
    pub(crate) pending: usize,
    /// Places, files and watches that cannot be used.
    pub(crate) problems: BTreeSet<String>,
    /// Those of the look before, which were logged then.
    before: BTreeSet<String>,
}

impl Health {
    /// Begins to find out anew what is wrong.
    pub(crate) fn look_again(&mut self) {
        self.before = std::mem::take(&mut self.problems);
    }
}

impl Store {
    /// The memory of `agent`, whose index is `index`.
    pub(crate) fn new(agent: &AgentSettings, settings: &Settings, index: Arc<Index>) -> Self {
        Self {
            agent: agent.id.clone(),
            places: Places::of(agent, settings),
            search: agent.memory.clone(),
            embedder: settings.memory.embedder.clone(),
            watch: settings.memory.watch,
            bootstrap: agent.bootstrap,
            index,
            notes: Mutex::default(),
            taking_in: Mutex::default(),
            complained: AtomicBool::new(false),
            progress: watch::Sender::default(),
            looked: watch::Sender::default(),
            used: Notify::new(),
            indexed: Notify::new(),
            health: Mutex::default(),
        }
    }

    /// Whether `other` has the same files and settings.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.places == other.places
            && self.search == other.search
            && self.embedder == other.embedder
            && self.watch == other.watch
            && self.bootstrap == other.bootstrap
    }

    /// The index.
    pub(crate) fn index(&self) -> &Arc<Index> {
        &self.index
    }

    /// The index, opened.
    pub(crate) fn engine(&self) -> Result<Arc<Engine>, Error> {
        Ok(self.index.engine()?)
    }

    /// The bootstrap files as of `now`; a fresh workspace is made and filled
    /// first. What of that fails is logged, and the files that are there are
    /// given, with why the others are not; where others hear of them
    /// (`is_shared`), MEMORY.md is not.
    pub(crate) fn bootstrap(
        &self,
        now: &Zoned,
        is_shared: bool,
    ) -> Result<(Vec<BootstrapFile>, Vec<String>), Error> {
        let workspace = Workspace::open_or_create(&self.places.workspace)?;
        if self.bootstrap.templates
            && let Err(error) = template::create_missing(&workspace)
            && !self.complained.swap(true, Ordering::Relaxed)
        {
            tracing::warn!(
                "the workspace's first files are not all there, going on without: {}",
                failure::chain(&error)
            );
        }
        let (files, problems) =
            bootstrap::load(&workspace, (now.date(), is_shared), self.bootstrap);
        for problem in &problems {
            tracing::warn!("a bootstrap file is left out: {}", failure::chain(problem));
        }
        let told = problems.iter().take(LEFT_OUT);
        let told = told.map(|problem| {
            let problem = failure::chain(problem);
            format!("this reply is made without a file of the workspace: {problem}")
        });
        Ok((files, told.collect()))
    }

    /// Appends a note; the next search finds it.
    pub(crate) fn remember(&self, text: &str, now: &Zoned) -> Result<Remembered, Error> {
        let _one = lock(&self.notes);
        let remembered = note::remember(&self.places.workspace, text, now)?;
        self.take_in_named(&remembered.path);
        Ok(remembered)
    }

    /// What is wrong.
    pub(crate) fn health(&self) -> Health {
        lock(&self.health).clone()
    }

    /// Changes what is known to be wrong.
    pub(crate) fn update_health(&self, change: impl FnOnce(&mut Health)) {
        change(&mut lock(&self.health));
    }

    /// Notes a problem; it is logged when it is new.
    pub(crate) fn complain(&self, problem: String) {
        let mut health = lock(&self.health);
        let was_there = health.before.contains(&problem);
        if health.problems.insert(problem.clone()) && !was_there {
            tracing::warn!(openclaw_agent = %self.agent, "{problem}");
        }
    }
}

/// Bootstrap files that the user is told of which could not be given; the journal has all.
const LEFT_OUT: usize = 3;

/// The longest time a message to a model waits for the files to be looked at, when
/// nobody has since the start: a small workspace is whole by then.
pub(crate) const MESSAGE_WAITS: Duration = Duration::from_millis(100);

/// The longest time a question put to memory itself waits for the same, and a
/// message that no model answers: an answer that leaves out what is there is worse
/// than a late one.
pub(crate) const QUESTION_WAITS: Duration = Duration::from_secs(5);

/// The daemon is built to abort on a panic; in tests a poisoned lock shows as
/// the panic that poisoned it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
