//! The way in: from the spool to the gateway. Updates of one chat are handed in in
//! their order, chats beside each other; what comes in a burst goes as one message,
//! and a stop waits for nothing.

mod burst;
mod hand;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openclaw_proto::channel::Outcome;
use tokio::sync::{Notify, Semaphore};
use tokio::task::{JoinSet, spawn_blocking, yield_now};
use tokio::time::timeout;

use crate::link::Link;
use crate::provider::{Incoming, Provider};
use crate::recent::Recent;
use crate::spool::{Entry, Merged, Spool};

use burst::Chat;

/// Chats that hand in at the same time; each may hold one file that is passed on.
const CHATS_AT_ONCE: usize = 16;
/// Chats that are attended to, most of which wait for more of a burst. Beyond that
/// those of which the gateway took nothing yet wait, and the others do not.
const CHATS_OPEN: usize = 256;
/// Chats that are known by what the gateway took of them; beyond that those are
/// forgotten that said nothing for the longest.
const CHATS_KNOWN: usize = 10_000;
/// How long a stop waits for what came before it in its chat.
const STOP_PATIENCE: Duration = Duration::from_millis(300);

/// One update, read.
#[derive(Debug, Clone)]
struct Item {
    key: String,
    incoming: Incoming,
    /// It may become one message with others that come after it.
    is_fresh: bool,
}

/// What the tasks of all chats share.
struct Intake<P> {
    provider: Arc<P>,
    link: Link,
    spool: Arc<Spool>,
    merged: Arc<Merged>,
    permits: Semaphore,
    chats: Mutex<HashMap<String, Arc<Chat>>>,
    known: Mutex<Recent<()>>,
    idle: Notify,
}

/// An update of a chat that waits for others to be handed in.
struct Held {
    chat: String,
    entry: Entry,
}

/// Hands in what is in the spool and what comes. Never returns.
pub(crate) async fn run<P: Provider>(
    provider: Arc<P>,
    link: Link,
    spool: Arc<Spool>,
    merged: Merged,
) {
    let intake = Arc::new(Intake {
        provider,
        link,
        spool,
        merged: Arc::new(merged),
        permits: Semaphore::new(CHATS_AT_ONCE),
        chats: Mutex::default(),
        known: Mutex::new(Recent::new(CHATS_KNOWN)),
        idle: Notify::new(),
    });
    let mut tasks = JoinSet::new();
    tasks.spawn(clean(Arc::clone(&intake.spool)));
    for group in intake.regrouped(intake.spool.recovered()) {
        intake.dispatch(group, &mut tasks);
    }
    let mut has_more = intake.spool.has_more();
    let mut held = VecDeque::new();
    loop {
        let is_behind = *has_more.borrow_and_update();
        while !is_behind
            && !intake.spool.has_next()
            && tasks.len() < CHATS_OPEN
            && let Some(Held { entry, .. }) = held.pop_front()
        {
            intake.take(entry, &mut tasks, None);
        }
        if held.is_empty() {
            held.shrink_to_fit();
        }
        tokio::select! {
            entry = intake.spool.next() => {
                let strangers_wait = is_behind || tasks.len() >= CHATS_OPEN;
                intake.take(entry, &mut tasks, strangers_wait.then_some(&mut held));
                // A provider is asked for more before all of a batch is read.
                yield_now().await;
            }
            Some(_) = tasks.join_next() => {}
            Ok(()) = has_more.changed() => {}
        }
    }
}

/// The chat of an update, topics being chats of their own.
fn chat_of(item: &Item) -> String {
    let place = &item.incoming.place;
    let thread = place.thread.as_deref().unwrap_or_default();
    format!("{}\n{thread}", place.id)
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the files of what was handed in; other work does not wait for the disk.
async fn clean(spool: Arc<Spool>) {
    loop {
        spool.is_to_clean().await;
        let spool = Arc::clone(&spool);
        let cleaned = spawn_blocking(move || spool.clean()).await;
        // They are handed in again then, and the gateway knows them.
        if let Ok(Err(error)) = cleaned {
            let operation = "remove updates that were handed in";
            openclaw_daemon::failure::report(operation, &error);
        }
    }
}

impl<P: Provider> Intake<P> {
    /// Gives `entry` to its chat, or to those that are `held`, when there are such.
    fn take(
        self: &Arc<Self>,
        entry: Entry,
        tasks: &mut JoinSet<()>,
        held: Option<&mut VecDeque<Held>>,
    ) {
        let kept = held.map(|held| (held, entry.clone()));
        let Some(item) = self.read(entry) else { return };
        if let Some((held, entry)) = kept
            && !self.goes_first(&item, held)
        {
            let chat = chat_of(&item);
            held.push_back(Held { chat, entry });
            return;
        }
        self.dispatch(vec![item], tasks);
    }

    /// Whether `item` waits for no stranger. What came before it in its chat does
    /// not come after it.
    fn goes_first(&self, item: &Item, held: &VecDeque<Held>) -> bool {
        if item.incoming.is_urgent {
            return true;
        }
        let chat = chat_of(item);
        let is_known = lock(&self.known).get(&item.incoming.place.id).is_some()
            || lock(&self.chats).contains_key(&chat);
        is_known && held.iter().all(|held| held.chat != chat)
    }

    /// Remembers that the gateway takes what is said in a chat, or that it does not.
    fn know(&self, chat: &str, outcome: &Outcome) {
        let mut known = lock(&self.known);
        if matches!(outcome, Outcome::Ignored(_)) {
            known.remove(chat);
        } else {
            known.put(chat, ());
        }
    }

    /// What `entry` means; `None` when nothing of it is handed in.
    fn read(&self, entry: Entry) -> Option<Item> {
        let key = entry.update.key;
        // It came again, and was part of a message then.
        if entry.is_fresh && self.merged.group(&key).is_some() {
            self.spool.done(&[key]);
            return None;
        }
        match self.provider.read(&entry.update.raw) {
            Ok(Some(incoming)) => Some(Item {
                key,
                incoming,
                is_fresh: entry.is_fresh,
            }),
            Ok(None) => {
                self.spool.done(&[key]);
                None
            }
            Err(why) => {
                tracing::warn!(key, "skipped an update that cannot be read: {why}");
                self.spool.done(&[key]);
                None
            }
        }
    }

    /// What waited when the daemon was started, in the groups it was in.
    fn regrouped(&self, entries: Vec<Entry>) -> Vec<Vec<Item>> {
        let items: Vec<Item> = entries.into_iter().filter_map(|it| self.read(it)).collect();
        let mut groups: Vec<Vec<Item>> = Vec::new();
        let mut of_first: HashMap<Arc<str>, usize> = HashMap::new();
        for item in items {
            let Some(keys) = self.merged.group(&item.key) else {
                groups.push(vec![item]);
                continue;
            };
            let index = *of_first.entry(Arc::clone(&keys[0])).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[index].push(item);
        }
        // What is left of a message was handed in with the rest of it.
        groups.retain(|group| {
            let keys = group.first().and_then(|item| self.merged.group(&item.key));
            let is_whole = keys.is_none_or(|keys| keys.len() == group.len());
            if !is_whole {
                let left: Vec<_> = group.iter().map(|item| item.key.clone()).collect();
                self.spool.done(&left);
            }
            is_whole
        });
        groups
    }

    fn dispatch(self: &Arc<Self>, group: Vec<Item>, tasks: &mut JoinSet<()>) {
        let Some(first) = group.first() else { return };
        let name = chat_of(first);
        let mut chats = lock(&self.chats);
        if group.len() == 1 && first.incoming.is_urgent {
            // One that is not there is not made: nobody would hand in what comes to it.
            let chat = chats.get(&name).cloned().unwrap_or_default();
            drop(chats);
            let intake = Arc::clone(self);
            tasks.spawn(async move { intake.urgent(chat, group).await });
            return;
        }
        let is_new = !chats.contains_key(&name);
        let chat = Arc::clone(chats.entry(name.clone()).or_default());
        chat.put(group);
        drop(chats);
        if is_new {
            let intake = Arc::clone(self);
            tasks.spawn(async move { intake.chat(name, chat).await });
        }
    }

    /// A stop: what came before it in its chat is hurried, but cannot hold it up.
    async fn urgent(&self, chat: Arc<Chat>, group: Vec<Item>) {
        chat.hurry();
        let before = async {
            while !chat.is_idle() {
                self.idle.notified().await;
            }
        };
        let _ = timeout(STOP_PATIENCE, before).await;
        self.hand_in(group, &chat).await;
    }

    /// Hands in what is in `chat` until nothing is.
    async fn chat(&self, name: String, chat: Arc<Chat>) {
        loop {
            while let Some(group) = chat.next().await {
                // Closed never.
                let permit = self.permits.acquire().await;
                self.hand_in(group, &chat).await;
                drop(permit);
                chat.handed_in();
            }
            self.idle.notify_waiters();
            let mut chats = lock(&self.chats);
            if chat.is_idle() {
                chats.remove(&name);
                if chats.is_empty() {
                    chats.shrink_to_fit();
                }
                return;
            }
        }
    }
}
