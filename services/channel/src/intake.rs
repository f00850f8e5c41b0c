//! The way in: from the spool to the gateway. Updates of one chat are handed in in
//! their order, chats beside each other; what comes in a burst goes as one message,
//! and a stop waits for nothing.

mod burst;
mod hand;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::link::Link;
use crate::provider::{Incoming, Provider};
use crate::spool::{Entry, Merged, Spool};

use burst::Chat;

/// Chats that hand in at the same time; each may hold one file that is passed on.
const CHATS_AT_ONCE: usize = 16;
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
    merged: Merged,
    permits: Semaphore,
    chats: Mutex<HashMap<String, Arc<Chat>>>,
    idle: Notify,
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
        merged,
        permits: Semaphore::new(CHATS_AT_ONCE),
        chats: Mutex::default(),
        idle: Notify::new(),
    });
    let mut tasks = JoinSet::new();
    for group in intake.regrouped(intake.spool.recovered()) {
        intake.dispatch(group, &mut tasks);
    }
    loop {
        tokio::select! {
            entry = intake.spool.next() => {
                if let Some(item) = intake.read(entry) {
                    intake.dispatch(vec![item], &mut tasks);
                }
            }
            Some(_) = tasks.join_next() => {}
        }
    }
}

impl<P: Provider> Intake<P> {
    /// What `entry` means; `None` when nothing of it is handed in.
    fn read(&self, entry: Entry) -> Option<Item> {
        let key = entry.update.key;
        // It came again, and was part of a message then.
        if entry.is_fresh && self.merged.group(&key).is_some() {
            self.done(&[key]);
            return None;
        }
        match self.provider.read(&entry.update.raw) {
            Ok(Some(incoming)) => Some(Item {
                key,
                incoming,
                is_fresh: entry.is_fresh,
            }),
            Ok(None) => {
                self.done(&[key]);
                None
            }
            Err(why) => {
                tracing::warn!(key, "skipped an update that cannot be read: {why}");
                self.done(&[key]);
                None
            }
        }
    }

    /// What waited when the daemon was started, in the groups it was in.
    fn regrouped(&self, entries: Vec<Entry>) -> Vec<Vec<Item>> {
        let items: Vec<Item> = entries.into_iter().filter_map(|it| self.read(it)).collect();
        let mut groups: Vec<Vec<Item>> = Vec::new();
        let mut of_first: HashMap<String, usize> = HashMap::new();
        for item in items {
            let Some(keys) = self.merged.group(&item.key) else {
                groups.push(vec![item]);
                continue;
            };
            let index = *of_first.entry(keys[0].clone()).or_insert_with(|| {
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
                self.done(&left);
            }
            is_whole
        });
        groups
    }

    fn dispatch(self: &Arc<Self>, group: Vec<Item>, tasks: &mut JoinSet<()>) {
        let Some(first) = group.first() else { return };
        let place = &first.incoming.place;
        let name = format!(
            "{}\n{}",
            place.id,
            place.thread.as_deref().unwrap_or_default()
        );
        let mut chats = self.chats.lock().unwrap_or_else(PoisonError::into_inner);
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
            let mut chats = self.chats.lock().unwrap_or_else(PoisonError::into_inner);
            if chat.is_idle() {
                chats.remove(&name);
                return;
            }
        }
    }

    fn done(&self, keys: &[String]) {
        if let Err(error) = self.spool.done(keys) {
            // They are handed in again then, and the gateway knows them.
            let operation = "remove updates that were handed in";
            openclaw_daemon::failure::report(operation, &error);
        }
    }
}
