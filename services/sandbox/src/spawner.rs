//! A small process that starts others for a daemon, where no service manager does it.
//!
//! Forking a daemon would copy its page tables and tie what it starts to its own life. This one
//! has a single thread and no memory to speak of, and what it starts outlives the daemon that
//! asked for it: only with the spawner itself it ends.
//!
//! A request is one message of a `SOCK_SEQPACKET` Unix socket: JSON, and the new process's
//! standard input as a descriptor. The answer is one message, JSON too.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Stdio};

use nix::sys::socket::{MsgFlags, recv, send};
use serde::{Deserialize, Serialize};

use crate::{descriptors, passing};

mod serve;

/// Bytes of one request: a command line and an environment.
const MESSAGE_LIMIT: usize = 128 * 1024;

/// The variable in which a started process finds the spawner's process id.
pub const PARENT: &str = "OPENCLAW_SPAWNER";

/// A process to start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// Absolute path of the program.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its whole environment.
    pub env: Vec<(String, String)>,
    /// Whether it says what it has to say where its standard input comes from, a socket.
    #[serde(default)]
    pub answers: bool,
}

/// The variable that says which journal standard error leads to.
const JOURNAL: &str = "JOURNAL_STREAM";

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Started(i32),
    Refused(String),
}

/// Asks the spawner at the other end of `socket` to start a process with `stdin` as its standard
/// input; standard output, unless it [answers](Order::answers), and error are the spawner's own. Returns its process id.
///
/// # Errors
/// The spawner is gone, or says why it cannot.
pub fn ask(socket: BorrowedFd<'_>, order: &Order, stdin: BorrowedFd<'_>) -> io::Result<i32> {
    let text = serde_json::to_vec(order)?;
    passing::send(socket, &text, stdin)?;
    let mut buffer = [0; 4096];
    let length = recv(socket.as_raw_fd(), &mut buffer, MsgFlags::empty())?;
    if length == 0 {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
    }
    match serde_json::from_slice(&buffer[..length])? {
        Answer::Started(pid) => Ok(pid),
        Answer::Refused(why) => Err(io::Error::other(why)),
    }
}

/// Serves on standard input, a listening socket or a connected one, until SIGTERM, until `parent`
/// ends, or until the only connection is closed. Then everything it started is ended.
pub fn run(parent: Option<i32>) -> ExitCode {
    // Each process that it starts would inherit them.
    let _ = descriptors::keep_standard(None);
    match serve::serve(parent) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            use io::Write as _;
            let _ = writeln!(io::stderr(), "openclaw-sandbox: spawner: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What came over a connection.
enum Received {
    Order(Order, OwnedFd),
    Nonsense(String),
    End,
}

fn receive(connection: BorrowedFd<'_>) -> io::Result<Received> {
    let mut buffer = vec![0; MESSAGE_LIMIT];
    let received = passing::receive(connection, &mut buffer)?;
    let (length, descriptor) = (received.length, received.descriptor);
    if length == 0 {
        return Ok(Received::End);
    }
    if received.is_cut {
        return Ok(Received::Nonsense(format!(
            "a request has at most {MESSAGE_LIMIT} bytes"
        )));
    }
    Ok(
        match (serde_json::from_slice(&buffer[..length]), descriptor) {
            (Ok(order), Some(stdin)) => Received::Order(order, stdin),
            (Ok(_), None) => Received::Nonsense("no standard input was passed".to_owned()),
            (Err(error), _) => Received::Nonsense(error.to_string()),
        },
    )
}

fn answer(connection: BorrowedFd<'_>, answer: &Answer) {
    // Who does not wait for the answer does not need it.
    if let Ok(text) = serde_json::to_vec(answer) {
        let _ = send(connection.as_raw_fd(), &text, MsgFlags::MSG_NOSIGNAL);
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is what starts turns where no service manager does"
)]
fn start(order: &Order, stdin: OwnedFd) -> Answer {
    let stdout = if order.answers {
        stdin.try_clone().map(Stdio::from)
    } else {
        Ok(Stdio::inherit())
    };
    let stdout = match stdout {
        Ok(stdout) => stdout,
        Err(error) => return Answer::Refused(error.to_string()),
    };
    let started = Command::new(&order.program)
        .args(&order.args)
        .env_clear()
        .envs(order.env.iter().map(|(name, value)| (name, value)))
        .current_dir("/")
        .stdin(Stdio::from(stdin))
        .stdout(stdout)
        // What it starts ends with this process, and with this one only.
        .env(PARENT, std::process::id().to_string())
        // Their standard error is this process's, and with it the journal (systemd.exec(5)).
        .envs(std::env::var_os(JOURNAL).map(|stream| (JOURNAL, stream)))
        .process_group(0)
        .spawn();
    match started.map(|child| i32::try_from(child.id())) {
        Ok(Ok(pid)) => Answer::Started(pid),
        Ok(Err(error)) => Answer::Refused(error.to_string()),
        Err(error) => Answer::Refused(format!("start {}: {error}", order.program)),
    }
}
