//! A state directory of the test's own, and the program in it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

/// The longest anything here may take on a busy machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// A state directory; everything is gone with it.
pub(crate) struct Scene {
    folder: TempDir,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("ctl").tempdir().unwrap();
        std::fs::create_dir(folder.path().join("bin")).unwrap();
        Self { folder }
    }

    pub(crate) fn state(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn runtime(&self) -> PathBuf {
        self.state().join("run")
    }

    pub(crate) fn socket(&self, daemon: &str) -> PathBuf {
        self.runtime().join(format!("{daemon}.sock"))
    }

    /// Where the suite's programs are looked for.
    pub(crate) fn programs(&self) -> PathBuf {
        self.state().join("bin")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.through(&[], arguments)
    }

    /// The same, started by `front`, which becomes it.
    #[expect(clippy::disallowed_methods, reason = "the program under test")]
    pub(crate) fn through(&self, front: &[&str], arguments: &[&str]) -> Command {
        let words = [front, &[env!("CARGO_BIN_EXE_openclawctl")], arguments].concat();
        let mut command = Command::new(words[0]);
        command
            .args(&words[1..])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.state())
            .env("OPENCLAW_STATE_DIR", self.state())
            .env("OPENCLAW_RUNTIME_DIR", self.runtime())
            .env("OPENCLAW_LIBEXEC", self.programs())
            // Any port that is free: many tests run at once.
            .env("OPENCLAW_GATEWAY_PORT", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs it to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Starts it.
    pub(crate) fn start(&self, arguments: &[&str]) -> Running {
        Running::new(self.command(arguments).spawn().unwrap())
    }
}

/// A program that runs; killed with this.
pub(crate) struct Running {
    child: Child,
    pub(crate) stdout: Lines,
    pub(crate) stderr: Lines,
}

impl Running {
    pub(crate) fn new(mut child: Child) -> Self {
        let stdout: ChildStdout = child.stdout.take().unwrap();
        let stderr: ChildStderr = child.stderr.take().unwrap();
        Self {
            child,
            stdout: Lines::of(stdout),
            stderr: Lines::of(stderr),
        }
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).unwrap())
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.pid(), signal).unwrap();
    }

    /// Waits until it has ended.
    pub(crate) fn wait(mut self) -> ExitStatus {
        // Its end closes both pipes, which have deadlines.
        self.stdout.rest();
        self.child.wait().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The lines of a pipe, with a deadline.
pub(crate) struct Lines(mpsc::Receiver<String>);

impl Lines {
    fn of(pipe: impl std::io::Read + Send + 'static) -> Self {
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let mut pipe = BufReader::new(pipe);
            loop {
                let mut line = String::new();
                match pipe.by_ref().read_line(&mut line) {
                    Ok(1..) if sender.send(line.clone()).is_ok() => {}
                    _ => return,
                }
            }
        });
        Self(receiver)
    }

    /// The next line that contains `text`.
    pub(crate) fn until(&self, text: &str) -> String {
        let mut seen = String::new();
        loop {
            match self.0.recv_timeout(DEADLINE) {
                Ok(line) if line.contains(text) => return line,
                Ok(line) => seen.push_str(&line),
                Err(error) => panic!("no line with {text:?} ({error}) after:\n{seen}"),
            }
        }
    }

    /// Everything up to the end.
    pub(crate) fn rest(&self) -> String {
        let mut text = String::new();
        loop {
            match self.0.recv_timeout(DEADLINE) {
                Ok(line) => text.push_str(&line),
                Err(mpsc::RecvTimeoutError::Disconnected) => return text,
                Err(error) => panic!("the pipe stays open ({error}) after:\n{text}"),
            }
        }
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
