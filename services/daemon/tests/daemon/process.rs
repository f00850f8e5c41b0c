//! The daemon as its service manager and its log see it.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixListener;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::child;
use crate::journal::Journal;

/// Passes file descriptor $1 as the first socket and becomes the rest.
const PASSING: &str =
    "exec 3<&$1; shift; export LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=control; exec \"$@\"";
/// The same where $1, a socket, is the journal's.
const JOURNALLED: &str = "set -e; mount -t tmpfs none /run; mkdir -p /run/systemd/journal; \
     : > /run/systemd/journal/socket; mount --bind \"$1\" /run/systemd/journal/socket; \
     shift; exec \"$@\"";

/// Where a daemon logs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Json,
    Journal,
}

/// A record, however it was written.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) level: String,
    pub(crate) message: String,
    pub(crate) stack_trace: Option<String>,
    /// What else is known, by names in small letters.
    pub(crate) context: Value,
    /// When it was logged; the journal knows that by itself.
    pub(crate) timestamp: Option<String>,
}

/// A running daemon.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    journal: Option<Journal>,
    stderr: File,
    /// Bytes of standard error that were looked at.
    seen: u64,
    _folder: TempDir,
}

impl Process {
    /// Starts a daemon with `logging.level`; none where there is no namespace
    /// to put a journal of the test's own into.
    pub(crate) fn start(mode: Mode, level: &str) -> Option<Self> {
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        let configuration = json!({"logging": {"level": level}}).to_string();
        fs::write(folder.path().join("openclaw.json"), configuration).unwrap();
        let listener = UnixListener::bind(folder.path().join("control")).unwrap();
        fcntl(&listener, FcntlArg::F_SETFD(FdFlag::empty())).unwrap();
        let stderr = File::create_new(folder.path().join("stderr")).unwrap();
        let (mut command, journal) = match mode {
            Mode::Json => (Command::new("env"), None),
            Mode::Journal => journalled(&folder, &stderr)?,
        };
        command
            .args(["bash", "-c", PASSING, "bash"])
            .arg(listener.as_raw_fd().to_string())
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "child::daemon", "--ignored", "--nocapture"])
            .env(child::VARIABLE, "1")
            .env("OPENCLAW_STATE_DIR", folder.path())
            .env("OPENCLAW_RUNTIME_DIR", folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr);
        let mut child = command.spawn().unwrap();
        let mut process = Self {
            orders: child.stdin.take(),
            answers: BufReader::new(child.stdout.take().unwrap()),
            child,
            journal,
            stderr: File::open(folder.path().join("stderr")).unwrap(),
            seen: 0,
            _folder: folder,
        };
        assert!(process.hears("ready"), "{}", process.unread());
        process.records();
        Some(process)
    }

    /// Has it do something, and waits until that is done; false when it ended
    /// over it.
    pub(crate) fn order(&mut self, order: &Value) -> bool {
        let orders = self.orders.as_mut().unwrap();
        writeln!(orders, "{order}").unwrap();
        self.hears("done")
    }

    /// The records since the last call.
    pub(crate) fn records(&mut self) -> Vec<Record> {
        match &self.journal {
            Some(journal) => journal.records().into_iter().map(of_journal).collect(),
            None => self.unread().lines().map(of_json).collect(),
        }
    }

    /// Waits for its end.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        self.orders = None;
        self.child.wait().unwrap()
    }

    fn hears(&mut self, word: &str) -> bool {
        let mut line = String::new();
        loop {
            line.clear();
            match self.answers.read_line(&mut line).unwrap() {
                0 => return false,
                _ if line.trim() == word => return true,
                _ => {}
            }
        }
    }

    fn unread(&mut self) -> String {
        let mut text = String::new();
        self.stderr.seek(SeekFrom::Start(self.seen)).unwrap();
        self.stderr.read_to_string(&mut text).unwrap();
        self.seen += text.len() as u64;
        text
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn journalled(folder: &TempDir, stderr: &File) -> Option<(Command, Option<Journal>)> {
    let own = if nix::unistd::geteuid().is_root() {
        "-m"
    } else {
        "-rm"
    };
    let may = Command::new("unshare")
        .args([own, "mount", "-t", "tmpfs", "none", "/run"])
        .stderr(Stdio::null())
        .status();
    if !may.is_ok_and(|status| status.success()) {
        test_skip::skipped("the journal's records: unshare and mount are not allowed here");
        return None;
    }
    let path = folder.path().join("journal");
    let journal = Journal::at(&path);
    let found = stderr.metadata().unwrap();
    let stream = format!("{}:{}", found.dev(), found.ino());
    let mut command = Command::new("unshare");
    command
        .args([own, "bash", "-c", JOURNALLED, "bash"])
        .arg(path)
        .env("JOURNAL_STREAM", stream);
    Some((command, Some(journal)))
}

/// A line has to be a whole record, with its four fields.
fn of_json(line: &str) -> Record {
    let record: Value =
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    let text = |name: &str| record[name].as_str().map(str::to_owned);
    Record {
        level: text("level").unwrap_or_else(|| panic!("no level: {line}")),
        message: text("message").unwrap_or_else(|| panic!("no message: {line}")),
        stack_trace: text("stackTrace"),
        context: record["context"].clone(),
        timestamp: text("timestamp"),
    }
}

fn of_journal(mut fields: crate::journal::Fields) -> Record {
    let mut take = |name: &str| fields.remove(name);
    let level = match take("PRIORITY").as_deref() {
        Some("3") => "error",
        Some("4") => "warn",
        Some("5") => "info",
        Some("6") => "debug",
        other => panic!("not a priority: {other:?}"),
    };
    assert_eq!(take("SYSLOG_IDENTIFIER").as_deref(), Some("openclaw-test"));
    let (message, stack_trace) = (take("MESSAGE"), take("STACK_TRACE"));
    let context = fields.into_iter();
    let context = context.map(|(name, value)| (name.to_lowercase(), Value::from(value)));
    Record {
        level: level.to_owned(),
        message: message.unwrap(),
        stack_trace,
        context: Value::Object(context.collect()),
        timestamp: None,
    }
}
