//! What waits in one chat, and how a burst of messages becomes one.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use openclaw_proto::channel::What;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::Item;

/// How long a message waits for the next one of its burst.
const QUIET: Duration = Duration::from_millis(300);
/// The longest that a message waits for others.
const LONGEST: Duration = Duration::from_secs(2);
/// The most messages that become one.
const MEMBERS: usize = 20;
/// The most files of what becomes one (`doors/src/channels/hand_in.rs`).
const FILES: usize = 20;
/// What the name of a burst begins with that is an album.
const ALBUM: &str = "album ";

/// What waits in one chat.
#[derive(Debug, Default)]
pub(super) struct Chat {
    queue: Mutex<VecDeque<Vec<Item>>>,
    news: Notify,
    is_hurried: AtomicBool,
    is_busy: AtomicBool,
    hurried: Notify,
}

impl Chat {
    pub(super) fn put(&self, group: Vec<Item>) {
        self.queue().push_back(group);
        self.news.notify_one();
    }

    /// Waits no longer for more of a burst, nor for files.
    pub(super) fn hurry(&self) {
        self.is_hurried.store(true, Ordering::Relaxed);
        self.news.notify_one();
        self.hurried.notify_waiters();
    }

    pub(super) async fn until_hurried(&self) {
        let hurried = self.hurried.notified();
        if !self.is_hurried.load(Ordering::Relaxed) {
            hurried.await;
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.queue().is_empty() && !self.is_busy.load(Ordering::Relaxed)
    }

    pub(super) fn handed_in(&self) {
        self.is_busy.store(false, Ordering::Relaxed);
    }

    /// The next message; nothing when none waits.
    pub(super) async fn next(&self) -> Option<Vec<Item>> {
        let mut group = {
            let mut queue = self.queue();
            let Some(group) = queue.pop_front() else {
                self.is_hurried.store(false, Ordering::Relaxed);
                return None;
            };
            self.is_busy.store(true, Ordering::Relaxed);
            group
        };
        let latest = Instant::now() + LONGEST;
        while goes_on(&group) && group.len() < MEMBERS {
            if self.add_next(&mut group) {
                continue;
            }
            if !self.queue().is_empty() || self.is_hurried.load(Ordering::Relaxed) {
                break;
            }
            let until = latest.min(Instant::now() + QUIET);
            if timeout_at(until, self.news.notified()).await.is_err() {
                break;
            }
        }
        Some(group)
    }

    /// Adds the next that waits, if it is of the same burst.
    fn add_next(&self, group: &mut Vec<Item>) -> bool {
        let mut queue = self.queue();
        let next = queue.front().and_then(|next| next.first());
        let is_same = next.is_some_and(|next| {
            let files = group.iter().map(|item| item.incoming.files.len());
            goes_on(std::slice::from_ref(next))
                && next.incoming.burst == group[0].incoming.burst
                && files.sum::<usize>() + next.incoming.files.len() <= FILES
        });
        if is_same && let Some(next) = queue.pop_front() {
            group.extend(next);
            return true;
        }
        false
    }

    fn queue(&self) -> std::sync::MutexGuard<'_, VecDeque<Vec<Item>>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether others may become one message with it.
fn goes_on(group: &[Item]) -> bool {
    group
        .iter()
        .all(|item| item.is_fresh && item.incoming.burst.is_some())
}

/// `text` without the line in brackets that `whole` begins with too: whence an album was
/// forwarded is said once.
fn without_header<'a>(text: &'a str, whole: &str) -> &'a str {
    let (header, rest) = text.split_once('\n').unwrap_or((text, ""));
    if header.starts_with('[') && whole.lines().next() == Some(header) {
        rest
    } else {
        text
    }
}

/// The items as one: the first one with what the others say and have.
pub(super) fn one(group: Vec<Item>) -> Option<Item> {
    let mut items = group.into_iter();
    let mut first = items.next()?;
    for item in items {
        let (What::Message(whole), What::Message(more)) =
            (&mut first.incoming.what, item.incoming.what)
        else {
            continue;
        };
        let is_album = item.incoming.burst.is_some_and(|it| it.starts_with(ALBUM));
        let text = if is_album {
            without_header(&more.text, &whole.text)
        } else {
            &more.text
        };
        if whole.texts.is_empty() {
            whole.texts.push(whole.text.clone());
        }
        whole.texts.push(text.to_owned());
        if !whole.text.is_empty() && !text.is_empty() {
            whole.text.push('\n');
        }
        whole.text.push_str(text);
        whole.provider_ids.extend(more.provider_ids);
        whole.is_to_bot |= more.is_to_bot;
        whole.reply_to = whole.reply_to.take().or(more.reply_to);
        first.incoming.files.extend(item.incoming.files);
    }
    Some(first)
}

#[cfg(test)]
mod tests {
    use openclaw_proto::channel::{Message, Person, Place};
    use openclaw_proto::gateway::ChatKind;

    use super::*;
    use crate::provider::Incoming;

    fn item(burst: &str, text: &str) -> Item {
        let place = Place {
            chat: ChatKind::Direct,
            id: "7".into(),
            former_id: String::new(),
            thread: None,
            title: String::new(),
        };
        Item {
            key: "1".into(),
            incoming: Incoming {
                place,
                sender: Person::default(),
                sent_ms: 0,
                what: What::Message(Message {
                    text: text.into(),
                    ..Message::default()
                }),
                files: Vec::new(),
                is_urgent: false,
                burst: Some(burst.into()),
                reference: String::new(),
            },
            is_fresh: true,
        }
    }

    #[test]
    fn burst_one_says_what_each_of_several_says() {
        let texts = |texts: &[&str]| {
            let items = texts.iter().map(|text| item("album 1", text)).collect();
            match one(items).unwrap().incoming.what {
                What::Message(message) => (message.text, message.texts),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(texts(&["one"]), ("one".to_owned(), Vec::new()));
        let each = ["", "two", "", "four"];
        let expected = ("two\nfour".to_owned(), each.map(str::to_owned).to_vec());
        assert_eq!(texts(&each), expected);
    }

    #[test]
    fn burst_one_album_says_once_whence_it_was_forwarded() {
        let text = |burst: &str, texts: &[&str]| {
            let items = texts.iter().map(|text| item(burst, text)).collect();
            match one(items).unwrap().incoming.what {
                What::Message(message) => message.text,
                other => panic!("{other:?}"),
            }
        };
        let header = "[Forwarded from Ada]";
        let second = format!("{header}\n> two");
        let album = text("album 1", &[header, &second, header]);
        assert_eq!(album, second);
        let apart = text("from 3", &[&second, &second]);
        assert_eq!(apart, format!("{second}\n{second}"));
        assert_eq!(text("album 1", &["one", "two"]), "one\ntwo");
    }
}
