//! The file beside a turn's spool through which decisions come: the daemon
//! writes it, the turn's process reads it, with one watch for all that waits.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use inotify::{EventStream, Inotify, WatchMask};
use openclaw_proto::approval::Decision;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use tokio::time::{Interval, interval};
use tokio_util::task::AbortOnDropHandle;

use crate::torn;

/// Bytes of events that are read at once.
const BUFFER: usize = 1024;

/// Between two looks at the file where there is no news of it.
const PAUSE: Duration = Duration::from_millis(100);

/// Bytes of all decisions of a turn: those about as many questions as it may ask.
const SIZE_LIMIT: u64 = 1 << 20;

/// Characters of who decided; a client chooses its name itself.
const BY_LIMIT: usize = 200;

/// Bytes of a decision's key.
const KEY_LIMIT: usize = 64;

/// A line of the file with decisions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// The question.
    pub id: String,
    /// The answer.
    pub decision: Decision,
    /// The person who decided, for people.
    pub by: String,
    /// Names the decision, unless it is empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub key: String,
}

/// Why a decision was not taken.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// Nothing was asked in that turn.
    #[error("nothing waits to be allowed in that turn")]
    NotAsked,
    /// Somebody was faster.
    #[error("that was decided already")]
    Decided,
    /// The file is full.
    #[error("more than {SIZE_LIMIT} bytes were decided in that turn; end it")]
    TooMuch,
    /// The file cannot be written.
    #[error("write {path}")]
    Write {
        /// Which one.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// Adds a decision to the file, for the turn's process to read. One that is there under its
/// key is the same, told once more by whoever did not hear that it was taken.
pub fn decide(path: &Path, decided: &Decided) -> Result<(), Refused> {
    let cannot = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => Refused::NotAsked,
        _ => Refused::Write {
            path: path.to_owned(),
            source,
        },
    };
    let mut options = OpenOptions::new();
    let mut file = options.read(true).append(true).open(path).map_err(cannot)?;
    if file.metadata().map_err(cannot)?.len() >= SIZE_LIMIT {
        return Err(Refused::TooMuch);
    }
    let mut text = Vec::new();
    (&mut file)
        .take(SIZE_LIMIT)
        .read_to_end(&mut text)
        .map_err(cannot)?;
    let decided = Decided {
        by: decided.by.chars().take(BY_LIMIT).collect(),
        key: Some(&decided.key)
            .filter(|key| key.len() <= KEY_LIMIT)
            .cloned()
            .unwrap_or_default(),
        ..decided.clone()
    };
    if let Some(line) = lines(&text).find(|line| line.id == decided.id) {
        let is_this = !decided.key.is_empty() && line == decided;
        return is_this.then_some(()).ok_or(Refused::Decided);
    }
    let mut line = torn::mark(&file).map_err(cannot)?.to_vec();
    serde_json::to_writer(&mut line, &decided).map_err(|error| cannot(error.into()))?;
    line.push(b'\n');
    file.write_all(&line).map_err(cannot)
}

/// The whole lines of `text`.
fn lines(text: &[u8]) -> impl Iterator<Item = Decided> {
    let whole = text
        .split_inclusive(|byte| *byte == b'\n')
        .filter(|line| line.ends_with(b"\n"));
    whole.filter_map(|line| serde_json::from_slice(line).ok())
}

/// The questions of one turn that wait for a decision.
#[derive(Debug)]
pub struct Decisions {
    path: PathBuf,
    waiting: Arc<Mutex<Waiting>>,
    /// Made with the first question.
    watch: Mutex<Option<AbortOnDropHandle<()>>>,
}

type Waiting = HashMap<String, oneshot::Sender<Decided>>;

impl Decisions {
    /// The decisions that arrive at `path`.
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            waiting: Arc::default(),
            watch: Mutex::default(),
        }
    }

    /// The path at which they arrive.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Waits for the one about `id` from now on. Dropping the receiver ends
    /// that, but for [`Decisions::forget`].
    pub fn expect(&self, id: &str) -> io::Result<oneshot::Receiver<Decided>> {
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        // One that ended could not read the file; the next one may.
        if watch.as_ref().is_none_or(AbortOnDropHandle::is_finished) {
            *watch = Some(self.watch()?);
        }
        let (sender, receiver) = oneshot::channel();
        lock(&self.waiting).insert(id.to_owned(), sender);
        Ok(receiver)
    }

    /// Nobody waits for the one about `id` any more.
    pub fn forget(&self, id: &str) {
        lock(&self.waiting).remove(id);
    }

    /// Makes the file and follows it.
    fn watch(&self) -> io::Result<AbortOnDropHandle<()>> {
        let mut options = OpenOptions::new();
        let options = options.append(true).create(true).mode(0o600);
        options.open(&self.path)?;
        let news = News::of(&self.path);
        let file = File::open(&self.path)?;
        let waiting = Arc::clone(&self.waiting);
        Ok(AbortOnDropHandle::new(tokio::spawn(async move {
            if let Err(error) = follow(file, news, &waiting).await {
                openclaw_daemon::failure::report("follow the decisions", &error);
                // Whoever waits is told so by that.
                lock(&waiting).clear();
            }
        })))
    }
}

/// That the file may have grown.
enum News {
    /// The kernel says so.
    Told(Box<EventStream<[u8; BUFFER]>>),
    /// It is looked at again and again: the kernel counts watchers for each user, and others of
    /// this one have them all.
    Looked(Interval),
}

impl News {
    fn of(path: &Path) -> Self {
        let told = || {
            let inotify = Inotify::init()?;
            inotify.watches().add(path, WatchMask::MODIFY)?;
            inotify.into_event_stream([0; BUFFER]).map(Box::new)
        };
        told().map_or_else(|_| Self::Looked(interval(PAUSE)), Self::Told)
    }

    async fn next(&mut self) -> io::Result<()> {
        match self {
            Self::Told(events) => match events.next().await {
                Some(event) => event.map(drop),
                None => Err(io::ErrorKind::UnexpectedEof.into()),
            },
            Self::Looked(looks) => {
                looks.tick().await;
                Ok(())
            }
        }
    }
}

fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hands out what is added to the file.
async fn follow(mut file: File, mut news: News, waiting: &Mutex<Waiting>) -> io::Result<()> {
    let mut text = Vec::new();
    loop {
        (&mut file).take(SIZE_LIMIT).read_to_end(&mut text)?;
        let whole = text.iter().rposition(|byte| *byte == b'\n');
        let whole = whole.map_or(0, |last| last + 1);
        for decided in lines(&text[..whole]) {
            let sender = lock(waiting).remove(&decided.id);
            // Nobody waits any more when it came too late.
            let _ = sender.map(|sender| sender.send(decided));
        }
        text.drain(..whole);
        news.next().await?;
    }
}

#[cfg(fuzzing)]
pub mod fuzz;

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(id: &str) -> Decided {
        Decided {
            id: id.to_owned(),
            decision: Decision::Deny,
            by: "x".repeat(BY_LIMIT + 1),
            key: String::new(),
        }
    }

    #[tokio::test]
    async fn decisions_reach_whoever_waits_whatever_the_order() {
        let folder = tempfile::tempdir().unwrap();
        let decisions = Decisions::new(folder.path().join("r.decisions"));
        let first = decisions.expect("1").unwrap();
        let second = decisions.expect("2").unwrap();
        decisions.forget("3");
        for id in ["2", "3", "1"] {
            decide(decisions.path(), &decided(id)).unwrap();
        }
        assert_eq!(first.await.unwrap().id, "1");
        assert_eq!(second.await.unwrap().by.len(), BY_LIMIT);
        let again = decide(decisions.path(), &decided("3"));
        assert!(matches!(again, Err(Refused::Decided)));
    }

    #[test]
    fn decisions_told_once_more_under_their_key_are_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.decisions");
        std::fs::write(&path, "").unwrap();
        let of_key = |key: &str| Decided {
            key: key.to_owned(),
            ..decided("1")
        };
        decide(&path, &of_key("a")).unwrap();
        let before = std::fs::read(&path).unwrap();
        decide(&path, &of_key("a")).unwrap();
        let allowed = Decided {
            decision: Decision::AllowOnce,
            ..of_key("a")
        };
        for other in [of_key("b"), of_key(""), allowed] {
            let other = decide(&path, &other);
            assert!(matches!(other, Err(Refused::Decided)));
        }
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }

    #[tokio::test]
    async fn decisions_after_a_torn_line_count_and_that_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let allowed = Decided {
            decision: Decision::AllowAlways,
            ..decided("x")
        };
        let whole = serde_json::to_vec(&allowed).unwrap();
        for torn in [&b"{\"id\":\"x\",\"deci"[..], b"\xff\xfe\n\xff", &whole] {
            let decisions = Decisions::new(folder.path().join("r.decisions"));
            std::fs::write(decisions.path(), torn).unwrap();
            let expected = decisions.expect("x").unwrap();
            // What waits has read the torn line by now, or will.
            tokio::task::yield_now().await;
            decide(decisions.path(), &decided("x")).unwrap();
            assert_eq!(expected.await.unwrap().decision, Decision::Deny);
            let again = decide(decisions.path(), &allowed);
            assert!(matches!(again, Err(Refused::Decided)));
        }
    }

    #[tokio::test]
    async fn many_questions_need_one_watch() {
        let instances = || {
            let open = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
            let links = open.filter_map(|entry| std::fs::read_link(entry.path()).ok());
            links
                .filter(|link| link.to_string_lossy().contains("inotify"))
                .count()
        };
        let folder = tempfile::tempdir().unwrap();
        let decisions = Decisions::new(folder.path().join("r.decisions"));
        let before = instances();
        let waiting: Vec<_> = (0..300)
            .map(|number| decisions.expect(&number.to_string()).unwrap())
            .collect();
        // Other tests of this program have some too.
        assert!(instances() < before + 100, "{before} {}", instances());
        drop(waiting);
    }

    #[test]
    fn decisions_without_a_question_there_is_no_answer_and_a_full_file_takes_none() {
        let missing = Path::new("/nonexistent/r.decisions");
        assert!(matches!(
            decide(missing, &decided("x")),
            Err(Refused::NotAsked)
        ));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.decisions");
        std::fs::File::create(&path)
            .unwrap()
            .set_len(SIZE_LIMIT)
            .unwrap();
        assert!(matches!(
            decide(&path, &decided("x")),
            Err(Refused::TooMuch)
        ));
    }
}
