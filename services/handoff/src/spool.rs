//! What a turn said, in a file that outlives every daemon.
//!
//! One line of JSON for each event, after a line that says whose it is. The
//! turn's own process writes it and holds a lock on it (flock(2)) as long as
//! it lives; the daemon reads it, and closes one whose process is gone.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::fcntl::{Flock, FlockArg};
use openclaw_proto::event::{Event, Kind, Resources};
use serde::{Deserialize, Serialize};

use crate::report::Report;
use crate::torn;

/// Text and tool output of one turn, in bytes, that is kept and passed on. An
/// agent that prints more than this is not talking to anybody.
const SIZE_LIMIT: u64 = 32 * 1024 * 1024;
/// Bytes that are read at once.
const PIECE: usize = 8 << 10;
/// The file name's ending.
const ENDING: &str = "events";
/// The line that says that the process has its turn. What comes before it may
/// be forgotten: nothing was asked of the agent yet.
const BEGUN: &[u8] = br#"{"begun":true}"#;
/// More events than a turn has. What says that it is a later one was not written by a turn.
const EVENTS: u64 = 1 << 53;

/// Where a run's spool is in `folder`.
pub fn path(folder: &Path, run_id: &str) -> PathBuf {
    folder.join(format!("{run_id}.{ENDING}"))
}

/// Where the reason is written before a turn is ended.
pub fn reason(folder: &Path, run_id: &str) -> PathBuf {
    folder.join(format!("{run_id}.reason"))
}

/// Where decisions about the calls of a run are written for its process.
pub fn decisions(folder: &Path, run_id: &str) -> PathBuf {
    folder.join(format!("{run_id}.decisions"))
}

/// Removes what the daemon wrote for a run's process, which is gone.
pub fn remove_notes(folder: &Path, run_id: &str) {
    let _ = std::fs::remove_file(reason(folder, run_id));
    let _ = std::fs::remove_file(decisions(folder, run_id));
}

/// The runs that have a spool in `folder`.
pub fn runs(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let names = entries
        .flatten()
        .map(|entry| PathBuf::from(entry.file_name()));
    Ok(names
        .filter(|name| name.extension().is_some_and(|ending| ending == ENDING))
        .filter_map(|name| Some(name.file_stem()?.to_str()?.to_owned()))
        .collect())
}

/// The first line of a spool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    /// The run.
    pub run_id: String,
    /// Whose turn it is.
    pub agent_id: String,
    /// The turn's process.
    pub pid: i32,
    /// The service unit it runs in; empty without a service manager.
    pub unit: String,
    /// The most memory it may take, in bytes.
    pub memory_max: u64,
    /// The names of limits that are its session's.
    pub own_limits: Vec<String>,
}

/// A line about a key.
#[derive(Debug, Serialize, Deserialize)]
struct Noted {
    report: Report,
}

/// Why an event was not taken.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// The turn said more than is kept.
    #[error("the agent wrote more than can be kept")]
    Full,
    /// The disk is full, for one.
    #[error("cannot write {path}: {source}")]
    Write {
        /// Where it is.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// The writing end. The file is locked while this lives, and goes with it when no turn was begun.
#[derive(Debug)]
pub struct Spool {
    path: PathBuf,
    run_id: String,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    file: Flock<File>,
    seq: u64,
    size: u64,
    begun: bool,
    ended: bool,
    /// Whether the last line may have been cut off, by a full disk or a crash.
    torn: bool,
}

impl Inner {
    /// Appends lines, of which what was cut off before takes none along.
    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        if std::mem::replace(&mut self.torn, true) {
            let mark = torn::mark(&self.file)?;
            self.file.write_all(mark)?;
        }
        self.file.write_all(lines)?;
        self.torn = false;
        Ok(())
    }
}

impl Spool {
    /// Makes the spool of a run.
    ///
    /// # Errors
    /// It is there already, or cannot be written.
    pub fn create(path: &Path, header: &Header) -> io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        let mut file = lock(file)?;
        let mut line = serde_json::to_vec(header)?;
        line.push(b'\n');
        file.write_all(&line)?;
        Ok(Self::new(path, header.run_id.clone(), file, 0, false))
    }

    /// Takes over the spool of a process that is gone, to close it. `None`: it is not gone.
    pub fn take_over(path: &Path, run_id: &str, seq: u64) -> io::Result<Option<Self>> {
        let file = OpenOptions::new().read(true).append(true).open(path)?;
        match lock(file) {
            Ok(file) => Ok(Some(Self::new(path, run_id.to_owned(), file, seq, true))),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn new(path: &Path, run_id: String, file: Flock<File>, seq: u64, begun: bool) -> Self {
        Self {
            path: path.to_owned(),
            run_id,
            inner: Mutex::new(Inner {
                file,
                seq,
                size: 0,
                begun,
                ended: false,
                torn: begun,
            }),
        }
    }

    /// Notes that the process has its turn: from now on the turn may have had
    /// effects, and whoever finds the spool does not start it again.
    pub fn begin(&self) -> Result<(), Refused> {
        let mut inner = self.lock();
        let line = [BEGUN, b"\n"].concat();
        inner.append(&line).map_err(|error| self.cannot(error))?;
        inner.begun = true;
        Ok(())
    }

    /// Appends an event. Nothing is appended after the terminal one.
    pub fn push(&self, kind: Kind) -> Result<(), Refused> {
        self.push_all(vec![kind])
    }

    /// Appends what was learned of a key; it is not an event.
    pub fn report(&self, report: &Report) -> Result<(), Refused> {
        let mut inner = self.lock();
        let noted = Noted {
            report: report.clone(),
        };
        let mut line = serde_json::to_vec(&noted).map_err(|error| self.cannot(error.into()))?;
        line.push(b'\n');
        inner.size += line.len() as u64;
        if inner.size > SIZE_LIMIT {
            return Err(Refused::Full);
        }
        inner.append(&line).map_err(|error| self.cannot(error))
    }

    /// Appends the terminal event after what was used, in one piece. That is not read where the
    /// run has ended already.
    pub fn end(&self, used: impl FnOnce() -> Resources, terminal: Kind) -> Result<(), Refused> {
        if self.lock().ended {
            return Ok(());
        }
        self.push_all(vec![Kind::Resources(used()), terminal])
    }

    fn push_all(&self, kinds: Vec<Kind>) -> Result<(), Refused> {
        let mut inner = self.lock();
        if inner.ended {
            return Ok(());
        }
        let ends = kinds.iter().any(Kind::is_terminal);
        let mut seq = inner.seq;
        let mut lines = Vec::new();
        for kind in kinds {
            seq += 1;
            let event = Event {
                run_id: self.run_id.clone(),
                seq,
                at_ms: jiff::Timestamp::now().as_millisecond(),
                kind,
            };
            serde_json::to_writer(&mut lines, &event).map_err(|error| self.cannot(error.into()))?;
            lines.push(b'\n');
        }
        inner.size += lines.len() as u64;
        if inner.size > SIZE_LIMIT && !ends {
            return Err(Refused::Full);
        }
        inner.append(&lines).map_err(|error| self.cannot(error))?;
        inner.seq = seq;
        inner.ended = ends;
        Ok(())
    }

    fn cannot(&self, source: io::Error) -> Refused {
        Refused::Write {
            path: self.path.clone(),
            source,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        // Still locked: nobody makes another one of this name before it is gone.
        if !self.lock().begun {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn lock(file: File) -> io::Result<Flock<File>> {
    Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, errno)| errno.into())
}

/// Whether a process still writes the spool at `path`.
pub fn is_written(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| {
        Flock::lock(file, FlockArg::LockSharedNonblock)
            .is_err_and(|(_, errno)| errno == nix::errno::Errno::EWOULDBLOCK)
    })
}

/// Whether there is a spool at `path` whose process had its turn.
pub fn has_begun(path: &Path) -> bool {
    Reader::open(path).is_ok_and(|mut reader| reader.news().is_ok() && reader.has_begun())
}

/// Waits until no process writes the spool at `path`. Blocks.
pub fn wait_unwritten(path: &Path) -> io::Result<()> {
    let waited = Flock::lock(File::open(path)?, FlockArg::LockShared);
    waited.map(drop).map_err(|(_, errno)| errno.into())
}

/// The reading end, which remembers where it is.
#[derive(Debug)]
pub struct Reader {
    file: File,
    rest: Vec<u8>,
    header: Option<Header>,
    reports: Vec<Report>,
    begun: bool,
    /// The number of the last event.
    seq: u64,
}

impl Reader {
    /// Opens the spool at `path`.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            file: File::open(path)?,
            rest: Vec::new(),
            header: None,
            reports: Vec::new(),
            begun: false,
            seq: 0,
        })
    }

    /// What was learned of keys since the last time.
    pub fn reports(&mut self) -> Vec<Report> {
        std::mem::take(&mut self.reports)
    }

    /// Whether the process had its turn, as far as it was read.
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    /// Whose spool it is, once its first line was read.
    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// The events that are there since the last time. A line that is not an event
    /// is left out: it was torn by a crash of the machine. So is an event that
    /// does not come after the one before it.
    pub fn news(&mut self) -> io::Result<Vec<Event>> {
        // Not asked for its size: what came is mostly a line or two.
        self.rest.reserve(PIECE);
        let mut unread = (&mut self.file).take(u64::MAX);
        unread.read_to_end(&mut self.rest)?;
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else {
            return Ok(Vec::new());
        };
        let rest = self.rest.split_off(end + 1);
        let lines = std::mem::replace(&mut self.rest, rest);
        let mut events = Vec::new();
        for line in lines
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            if self.header.is_none() {
                self.header = serde_json::from_slice(line).ok();
            } else if line == BEGUN {
                self.begun = true;
            } else if let Ok(event) = serde_json::from_slice::<Event>(line) {
                if (self.seq + 1..EVENTS).contains(&event.seq) {
                    self.seq = event.seq;
                    events.push(event);
                }
            } else if let Ok(Noted { report }) = serde_json::from_slice(line) {
                self.reports.push(report);
            }
        }
        Ok(events)
    }

    /// Cuts off what is left of a line that was never finished.
    pub fn repair(&mut self, path: &Path) -> io::Result<()> {
        if self.rest.is_empty() {
            return Ok(());
        }
        let end = self.file.stream_position()?;
        let torn = std::mem::take(&mut self.rest).len() as u64;
        OpenOptions::new()
            .write(true)
            .open(path)?
            .set_len(end.saturating_sub(torn))
    }
}

#[cfg(fuzzing)]
pub mod fuzz;

#[cfg(test)]
mod tests {
    use openclaw_proto::event::Done;

    use super::*;

    fn header() -> Header {
        Header {
            run_id: "r".to_owned(),
            agent_id: "main".to_owned(),
            pid: 1,
            unit: String::new(),
            memory_max: 0,
            own_limits: Vec::new(),
        }
    }

    fn delta(text: &str) -> Kind {
        Kind::TextDelta {
            text: text.to_owned(),
        }
    }

    #[test]
    fn reader_gets_what_was_written_whenever_it_looks() {
        let folder = tempfile::tempdir().unwrap();
        let path = path(folder.path(), "r");
        let spool = Spool::create(&path, &header()).unwrap();
        spool.begin().unwrap();
        let mut reader = Reader::open(&path).unwrap();
        spool.push(delta("a\nb")).unwrap();
        let events = reader.news().unwrap();
        assert_eq!(events[0].kind, delta("a\nb"));
        assert_eq!(reader.header(), Some(&header()));
        assert!(reader.news().unwrap().is_empty());
        spool
            .end(Resources::default, Kind::Done(Done::default()))
            .unwrap();
        spool.push(delta("after the end")).unwrap();
        let seqs: Vec<u64> = reader.news().unwrap().iter().map(|e| e.seq).collect();
        assert_eq!(seqs, [2, 3]);
        assert!(is_written(&path));
        assert!(Spool::take_over(&path, "r", 3).unwrap().is_none());
        drop(spool);
        assert!(!is_written(&path));
        assert_eq!(runs(folder.path()).unwrap(), ["r"]);
    }

    #[test]
    fn torn_line_is_cut_off_before_the_spool_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let path = path(folder.path(), "r");
        let spool = Spool::create(&path, &header()).unwrap();
        spool.begin().unwrap();
        spool.push(delta("a")).unwrap();
        drop(spool);
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"runId\":\"r\",\"se").unwrap();
        let mut reader = Reader::open(&path).unwrap();
        assert_eq!(reader.news().unwrap().len(), 1);
        reader.repair(&path).unwrap();
        let spool = Spool::take_over(&path, "r", 1).unwrap().unwrap();
        spool.push(Kind::Done(Done::default())).unwrap();
        let mut reader = Reader::open(&path).unwrap();
        let events = reader.news().unwrap();
        assert_eq!(events.iter().map(|e| e.seq).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn torn_line_takes_no_event_along() {
        let folder = tempfile::tempdir().unwrap();
        let path = path(folder.path(), "r");
        let spool = Spool::create(&path, &header()).unwrap();
        spool.begin().unwrap();
        spool.push(delta("a")).unwrap();
        // As a write leaves it that failed in the middle.
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"runId\":\"r\",\"se").unwrap();
        spool.lock().torn = true;
        spool.push(delta("b")).unwrap();
        spool.push(Kind::Done(Done::default())).unwrap();
        let events = Reader::open(&path).unwrap().news().unwrap();
        assert_eq!(events.iter().map(|e| e.seq).collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    fn reader_never_goes_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = path(folder.path(), "r");
        let mut lines = serde_json::to_string(&header()).unwrap() + "\n";
        for seq in [2, 2, 1, u64::MAX, 3] {
            let event = Event {
                run_id: "r".to_owned(),
                seq,
                at_ms: 0,
                kind: delta("a"),
            };
            lines += &(serde_json::to_string(&event).unwrap() + "\n");
        }
        std::fs::write(&path, lines).unwrap();
        let events = Reader::open(&path).unwrap().news().unwrap();
        let seqs: Vec<u64> = events.iter().map(|event| event.seq).collect();
        assert_eq!(seqs, [2, 3]);
    }

    #[test]
    fn spool_without_a_turn_goes_with_its_process() {
        let folder = tempfile::tempdir().unwrap();
        let path = path(folder.path(), "r");
        let spool = Spool::create(&path, &header()).unwrap();
        assert!(path.exists() && !has_begun(&path));
        drop(spool);
        assert!(!path.exists());
        let spool = Spool::create(&path, &header()).unwrap();
        spool.begin().unwrap();
        drop(spool);
        assert!(has_begun(&path));
        assert!(Reader::open(&path).unwrap().news().unwrap().is_empty());
    }

    #[test]
    fn endless_output_is_refused_and_the_end_still_fits() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::create(&path(folder.path(), "r"), &header()).unwrap();
        let piece = "x".repeat(1 << 20);
        let taken = (0..64)
            .take_while(|_| spool.push(delta(&piece)).is_ok())
            .count();
        assert!((1..64).contains(&taken), "{taken}");
        spool.push(Kind::Done(Done::default())).unwrap();
    }
}
