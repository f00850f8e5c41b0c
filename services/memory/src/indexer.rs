//! Keeps an agent's index true to its files.

use std::collections::HashMap;
use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};

use openclaw_daemon::failure;
use openclaw_proto::memory::Progress;
use tokio::sync::{mpsc, oneshot};

use crate::error::Error;
use crate::store::{ScanResult, Store, Todo};
use crate::watch::{self, Event, Events, Phase, Watcher};
use crate::worker::Worker;

mod pending;

use pending::{Key, Pending};

/// Everything is looked at now and then: links lead to files whose folders are
/// not watched, and some network file systems tell of nothing.
const LOOK: Duration = Duration::from_secs(300);
/// The same, when nothing is watched.
const LOOK_UNWATCHED: Duration = Duration::from_secs(2);
/// At least so long between two looks at everything, whatever happens to
/// folders; well below the 2 s in which a change is to be seen.
const BETWEEN_LOOKS: Duration = Duration::from_millis(300);
/// Reading takes at most one part in so many of the time: a long transcript is
/// read again after every append to it.
const READING_SHARE: u32 = 20;
/// A file that was read within the tick of a write is read again.
const YOUNG: Duration = Duration::from_millis(50);
/// What a search makes of memory is given back when none came for so long.
const IDLE: Duration = Duration::from_secs(10);

/// What an indexer is asked for.
#[derive(Debug)]
pub(crate) enum Command {
    /// Look at everything, and say when all is taken in.
    Look {
        /// Forget everything first.
        force: bool,
        /// How many files could not be read; the error that stopped it.
        done: oneshot::Sender<Result<(), Error>>,
    },
}

/// Keeps one agent's index.
#[derive(Debug)]
pub(crate) struct Indexer {
    store: Arc<Store>,
    worker: Worker,
    watcher: Option<Arc<Watcher>>,
    commands: mpsc::Receiver<Command>,
    pending: Pending,
    todo: Vec<Todo>,
    waiting: Vec<oneshot::Sender<Result<(), Error>>>,
    next_look: Instant,
    last_look: Option<Instant>,
    release: Option<Instant>,
    /// How long taking in a log took last.
    costs: HashMap<Key, Duration>,
}

impl Indexer {
    /// The indexer of `store`.
    pub(crate) fn new(
        store: Arc<Store>,
        worker: Worker,
        commands: mpsc::Receiver<Command>,
    ) -> Self {
        let now = Instant::now();
        Self {
            store,
            worker,
            watcher: None,
            commands,
            pending: Pending::default(),
            todo: Vec::new(),
            waiting: Vec::new(),
            next_look: now,
            last_look: None,
            release: None,
            costs: HashMap::new(),
        }
    }

    /// Keeps it until nobody can ask for anything any more.
    pub(crate) async fn keep(mut self) {
        let (watcher, mut events) = self.watch().unzip();
        self.watcher = watcher;
        loop {
            let due = self.due();
            tokio::select! {
                biased;
                happened = next(events.as_mut()) => {
                    if happened.is_err() {
                        events = None;
                    }
                    self.note(happened);
                }
                command = self.commands.recv() => match command {
                    Some(command) => self.obey(command).await,
                    None => return,
                },
                () = self.store.used.notified() => self.release = Some(Instant::now() + IDLE),
                () = until(due) => self.act().await,
                () = if_any(!self.todo.is_empty()) => self.step().await,
            }
        }
    }

    fn watch(&self) -> Option<(Arc<Watcher>, Events)> {
        if !self.store.watch {
            return None;
        }
        match Watcher::new() {
            Ok(watched) => Some(watched),
            Err(error) => {
                let problem = failure::chain(&error);
                tracing::warn!("{problem}; files are looked at every {LOOK_UNWATCHED:?}");
                None
            }
        }
    }

    fn note(&mut self, events: Result<Vec<Event>, watch::Error>) {
        let events = events.unwrap_or_else(|error| {
            tracing::warn!(
                "changes of files are no longer told: {}",
                failure::chain(&error)
            );
            self.watcher = None;
            vec![Event::Lost]
        });
        let now = Instant::now();
        for event in events {
            match event {
                Event::File { place, path, phase } => {
                    let Some(there) = self.store.places.all.get(place) else {
                        continue;
                    };
                    if there.wants(&path) {
                        let key = (place, path);
                        let pause = there.is_log().then(|| self.pause(&key));
                        self.pending.note(key, phase, pause, now);
                    }
                }
                Event::Folder { .. } | Event::Lost => self.next_look = self.soon(now),
            }
        }
        self.show();
    }

    /// How long appends to a log are collected.
    fn pause(&self, key: &Key) -> Duration {
        self.costs
            .get(key)
            .map_or(Duration::ZERO, |cost| *cost * READING_SHARE)
    }

    /// Looking at everything is put off while folders come and go.
    fn soon(&self, now: Instant) -> Instant {
        let last = self.last_look.map_or(now, |last| last + BETWEEN_LOOKS);
        self.next_look.min(last.max(now + BETWEEN_LOOKS))
    }

    async fn obey(&mut self, command: Command) {
        let Command::Look { force, done } = command;
        if force {
            let clear = |store: &Store| Ok(store.engine()?.clear()?);
            if let Err(error) = self.worker.run(&self.store, clear).await {
                self.store.index().close();
                let _ = done.send(Err(error));
                return;
            }
        }
        self.waiting.push(done);
        self.look().await;
    }

    fn due(&self) -> Option<Instant> {
        [Some(self.next_look), self.pending.next(), self.release]
            .into_iter()
            .flatten()
            .min()
    }

    async fn act(&mut self) {
        let now = Instant::now();
        if self.release.is_some_and(|release| release <= now) {
            self.release = None;
            if let Some(engine) = self.store.index().opened() {
                engine.release();
            }
        }
        if self.next_look <= now {
            self.look().await;
        } else {
            let due = self.pending.take_due(now);
            let files = due.into_iter().map(|(place, path)| Todo {
                place,
                path,
                stamp: Default::default(),
            });
            self.todo.extend(files);
        }
    }

    /// Looks at everything; what has changed is taken in after it.
    async fn look(&mut self) {
        let begin = Instant::now();
        self.last_look = Some(begin);
        let (store, watcher) = (Arc::clone(&self.store), self.watcher.clone());
        let open = self.pending.open();
        let looked = self.worker.beside(move || {
            let is_open = |place, path: &str| open.contains(&(place, path.to_owned()));
            store.scan(watcher.as_deref(), &is_open)
        });
        let looked = looked.await.and_then(|found| found);
        let is_watched = self.watcher.is_some() && !looked.as_ref().is_ok_and(|l| l.unwatched);
        self.store
            .update_health(|health| health.watching = is_watched);
        let every = if is_watched { LOOK } else { LOOK_UNWATCHED };
        self.next_look = Instant::now() + every.max(begin.elapsed() * READING_SHARE);
        match looked {
            Ok(found) => self.found(found),
            Err(error) => self.fail(error),
        }
        self.show();
    }

    fn found(&mut self, found: ScanResult) {
        self.pending.clear_settled();
        let now = Instant::now();
        for file in found.open {
            self.pending
                .note((file.place, file.path), Phase::Writing, None, now);
        }
        self.store.progress.send_replace(Progress {
            files_total: found.total as u64,
            files_done: (found.total - found.todo.len().min(found.total)) as u64,
            chunks: self.chunks(),
            failed: 0,
            done: false,
        });
        self.todo = found.todo;
        self.finish_if_done();
    }

    /// Takes in a batch.
    async fn step(&mut self) {
        let begin = Instant::now();
        let mut todo = std::mem::take(&mut self.todo);
        let before = todo.len();
        let alone = todo.first().map(|file| (file.place, file.path.clone()));
        let store = Arc::clone(&self.store);
        let taken = self.worker.beside(move || {
            let step = store.take_in(&mut todo);
            (step, todo)
        });
        let step = match taken.await {
            Ok((Ok(step), left)) => {
                self.todo = left;
                step
            }
            Ok((Err(error), _)) => return self.fail(error),
            Err(error) => return self.fail(error),
        };
        let now = Instant::now();
        for file in step.young {
            self.pending.again((file.place, file.path), YOUNG, now);
        }
        let (done, chunks) = (before - self.todo.len(), self.chunks());
        self.store.progress.send_modify(|progress| {
            progress.files_done = (progress.files_done + done as u64).min(progress.files_total);
            progress.failed += step.failed as u64;
            progress.chunks = chunks;
        });
        if let (Some(key), 1) = (alone, before) {
            self.costs.insert(key, begin.elapsed());
        }
        self.finish_if_done();
        self.store.looked.send_replace(true);
        self.show();
    }

    fn finish_if_done(&mut self) {
        if !self.todo.is_empty() {
            return;
        }
        self.store.progress.send_modify(|progress| {
            progress.files_done = progress.files_total;
            progress.done = true;
        });
        self.store.looked.send_replace(true);
        for done in self.waiting.drain(..) {
            let _ = done.send(Ok(()));
        }
        self.release = Some(Instant::now() + IDLE);
        self.store.indexed.notify_one();
    }

    /// The index is opened again for the next look, which makes a broken one
    /// anew.
    fn fail(&mut self, error: Error) {
        self.store.complain(format!(
            "the index of agent {} is not up to date: {}",
            self.store.agent,
            failure::chain(&error)
        ));
        self.store.index().close();
        self.store.looked.send_replace(true);
        self.todo.clear();
        self.next_look = Instant::now() + LOOK_UNWATCHED;
        let mut error = Some(error);
        for done in self.waiting.drain(..) {
            let _ = done.send(Err(error.take().unwrap_or(Error::Ending)));
        }
    }

    fn chunks(&self) -> u64 {
        let engine = self.store.index().opened();
        engine.map_or(0, |engine| engine.count().1 as u64)
    }

    fn show(&self) {
        let pending = self.pending.len() + self.todo.len();
        self.store.update_health(|health| health.pending = pending);
        self.worker.tell_progress();
    }
}

async fn next(events: Option<&mut Events>) -> Result<Vec<Event>, watch::Error> {
    match events {
        Some(events) => events.next().await,
        None => pending().await,
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due.into()).await,
        None => pending().await,
    }
}

async fn if_any(any: bool) {
    if !any {
        pending().await
    }
}
