//! The daemon's process, with everything around it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use nix::sys::signal::Signal;
use nix::unistd::Pid;
use serde_json::Value;
use telegram_double::Double;
use tempfile::TempDir;

use crate::gateway::{Gateway, settings};

/// What no test here takes.
const DEADLINE: Duration = Duration::from_secs(60);

/// A daemon between a double and a gateway.
pub(crate) struct Site {
    pub(crate) double: Double,
    pub(crate) gateway: Gateway,
    folder: TempDir,
    child: Option<Child>,
}

#[expect(clippy::disallowed_methods, reason = "the daemon itself is tested")]
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_openclaw-telegram"));
    command.env_clear();
    command
}

#[expect(clippy::disallowed_methods, reason = "the daemon itself is tested")]
fn strace() -> Command {
    let mut command = Command::new("strace");
    command.env_clear().env("PATH", "/usr/bin:/bin").args([
        "--follow-forks",
        "--quiet=all",
        "--output=/dev/null",
    ]);
    command
}

/// Why nothing can be traced here, if it cannot.
pub(crate) fn can_trace() -> Result<(), String> {
    match strace().arg("true").output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Err(format!("strace: {error}")),
    }
}

impl Site {
    pub(crate) async fn start() -> Self {
        let double = Double::start().await.unwrap();
        let settings = settings(&double.url());
        Self::start_with(double, settings)
    }

    pub(crate) fn start_with(double: Double, settings: Value) -> Self {
        let mut site = Self::around(double, settings);
        site.start_daemon();
        site
    }

    pub(crate) async fn without_daemon() -> Self {
        let double = Double::start().await.unwrap();
        let settings = settings(&double.url());
        Self::around(double, settings)
    }

    fn around(double: Double, settings: Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let gateway = Gateway::start(folder.path(), settings);
        Self {
            double,
            gateway,
            folder,
            child: None,
        }
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("state/channels/telegram/default")
    }

    pub(crate) fn runtime(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn start_daemon(&mut self) {
        self.run(program());
    }

    /// Starts one that is killed when it makes the kernel's call `call` for the
    /// time `number`.
    pub(crate) fn start_traced(&mut self, call: &str, number: usize) {
        let mut strace = strace();
        strace
            .arg(format!("--trace={call}"))
            .arg(format!("--inject={call}:signal=KILL:when={number}"))
            .arg(env!("CARGO_BIN_EXE_openclaw-telegram"));
        self.run(strace);
    }

    /// Whether the daemon is there no more.
    pub(crate) fn has_ended(&mut self) -> bool {
        let ended = self.child.as_mut().map(|child| child.try_wait().unwrap());
        ended.flatten().is_some()
    }

    /// Whether the gateway has all that came.
    pub(crate) fn spool_is_empty(&self) -> bool {
        let entries = std::fs::read_dir(self.state().join("in")).unwrap();
        let mut names = entries.map(|entry| entry.unwrap().file_name());
        names.all(|name| name == "position")
    }

    fn run(&mut self, mut program: Command) {
        let log = std::fs::File::options()
            .append(true)
            .create(true)
            .open(self.folder.path().join("log"))
            .unwrap();
        let child = program
            .env("OPENCLAW_STATE_DIR", self.folder.path())
            .env("OPENCLAW_RUNTIME_DIR", self.folder.path())
            .env("TELEGRAM_BOT_TOKEN", self.double.token())
            .stderr(log)
            .spawn();
        self.child = Some(child.unwrap());
    }

    /// Ends the daemon by SIGKILL.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // Of one that is traced, the daemon is the child, and its tracer ends with it.
            let traced = format!("/proc/{0}/task/{0}/children", child.id());
            let traced = std::fs::read_to_string(traced).unwrap_or_default();
            for pid in traced.split_whitespace() {
                let pid = Pid::from_raw(pid.parse().unwrap());
                let _ = nix::sys::signal::kill(pid, Signal::SIGKILL);
            }
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    /// Waits for what must come.
    pub(crate) async fn within<T>(&self, what: &str, work: impl Future<Output = T>) -> T {
        match tokio::time::timeout(DEADLINE, work).await {
            Ok(done) => done,
            Err(_) => panic!("{what}\n{}\n{:?}", self.log(), self.double.calls()),
        }
    }

    pub(crate) async fn until_sent(&self, count: usize) {
        let sent = self.double.wait(|double| double.sent().len() >= count);
        self.within("the bot said too little", sent).await;
    }

    pub(crate) async fn until_health(&self, what: &str, is_so: impl Fn(&str, &str) -> bool) {
        let told = self.gateway.wait(|state| {
            state
                .health
                .as_ref()
                .is_some_and(|it| is_so(&it.state, &it.last_error))
        });
        self.within(what, told).await;
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Runs the program to its end with `input`.
pub(crate) fn run(arguments: &[&str], input: &str) -> Output {
    use std::io::Write as _;
    let mut child = program()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}
