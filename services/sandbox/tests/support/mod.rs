//! A place to run the real helper in: a workspace, something outside it, and both kinds of caller.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test binary uses its own part"
)]

use std::fs::{self, Permissions};
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use openclaw_sandbox::probe::Report;
use openclaw_sandbox::{Launcher, Level, Network, Plan, identity};
use tempfile::TempDir;

/// The ordinary user that stands for one when the tests run as root.
const ORDINARY: u32 = 65534;

/// Who starts the helper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    Root,
    Ordinary,
}

/// Both, when the tests run as root.
pub fn callers() -> Vec<Caller> {
    if test_skip::is_root("the sandbox of a runner that is root") {
        vec![Caller::Root, Caller::Ordinary]
    } else {
        vec![Caller::Ordinary]
    }
}

pub struct Site {
    dir: TempDir,
    launcher: Launcher,
    pub caller: Caller,
    pub plan: Plan,
}

impl Site {
    /// A workspace the agent owns, and beside it files that only the confinement protects.
    pub fn new(caller: Caller) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let site = |name: &str| dir.path().join(name);
        fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(site("workspace")).unwrap();
        fs::create_dir(site("outside")).unwrap();
        fs::write(site("outside/file"), "outside\n").unwrap();
        fs::set_permissions(site("outside"), Permissions::from_mode(0o777)).unwrap();
        fs::set_permissions(site("outside/file"), Permissions::from_mode(0o666)).unwrap();
        // The build directory may be closed to the ordinary user. Not with fs::copy: a test that
        // forks meanwhile would hold the file open for writing, and it could not be executed.
        let copied = Command::new("cp")
            .arg(env!("CARGO_BIN_EXE_openclaw-sandbox"))
            .arg(site("helper"))
            .status();
        assert!(copied.unwrap().success());
        if identity::is_root() {
            let owner = match caller {
                Caller::Root => identity::agent("openclaw-agent").unwrap().uid.as_raw(),
                Caller::Ordinary => ORDINARY,
            };
            chown(site("workspace"), Some(owner), Some(owner)).unwrap();
        }
        let mut plan = Plan::new("run-1", "main", &site("workspace"));
        plan.level = Level::Workspace;
        plan.read_write.push(site("workspace"));
        plan.environment.push("PATH".to_owned());
        Self {
            launcher: Launcher {
                helper: site("helper"),
            },
            dir,
            caller,
            plan,
        }
    }

    pub fn off(mut self) -> Self {
        self.plan.level = Level::Off;
        self
    }

    pub fn strict(mut self) -> Self {
        self.plan.level = Level::Strict;
        self
    }

    pub fn namespaces(mut self) -> Self {
        self.plan.level = Level::Namespaces;
        self
    }

    pub fn text(mut self) -> Self {
        self.plan.level = Level::Text;
        self
    }

    pub fn full_network(mut self) -> Self {
        self.plan.network = Network::Full;
        self
    }

    /// The Landlock version of this kernel.
    pub fn landlock_abi(&self) -> i32 {
        let output = self.launcher.probe_command().output().unwrap();
        let report: Report = serde_json::from_slice(&output.stdout).unwrap();
        report.landlock_abi
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn helper(&self) -> &Path {
        &self.launcher.helper
    }

    pub fn json(&self) -> String {
        serde_json::to_string(&self.plan).unwrap()
    }

    pub fn command(&self, program: &str, args: &[&str]) -> Command {
        self.command_with(program, args, &[("PATH", "/usr/bin:/bin")])
    }

    pub fn command_with(&self, program: &str, args: &[&str], env: &[(&str, &str)]) -> Command {
        let args: Vec<_> = args.iter().map(Into::into).collect();
        let env: Vec<_> = env
            .iter()
            .map(|(n, v)| ((*n).into(), (*v).into()))
            .collect();
        let command = self
            .launcher
            .command(&self.plan, Path::new(program), &args, &env);
        self.called(command.unwrap())
    }

    /// Sets who runs it, and pipes.
    pub fn called(&self, mut command: Command) -> Command {
        if identity::is_root() && self.caller == Caller::Ordinary {
            command.uid(ORDINARY).gid(ORDINARY);
        }
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run(&self, program: &str, args: &[&str]) -> Output {
        self.command(program, args).output().unwrap()
    }

    pub fn sh(&self, script: &str) -> Output {
        self.run("/bin/sh", &["-c", script])
    }

    pub fn perl(&self, script: &str) -> Output {
        self.run("/usr/bin/perl", &["-e", script])
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What was written, for a message.
pub fn told(output: &Output) -> String {
    format!(
        "{:?} {}{}",
        output.status,
        text(&output.stdout),
        text(&output.stderr)
    )
}

#[track_caller]
pub fn assert_success(output: &Output) {
    assert!(output.status.success(), "{}", told(output));
}

/// The program ran, and said itself that this was refused.
#[track_caller]
pub fn assert_refused(output: &Output, reason: &str) {
    let told = told(output);
    assert!(!output.status.success(), "{told}");
    assert!(
        !told.contains("sandbox_error"),
        "not confined at all: {told}"
    );
    assert!(told.contains(reason), "{told}");
}

/// A stream read in the background, line by line.
pub struct Stream(mpsc::Receiver<Option<String>>);

impl Stream {
    pub fn of(mut source: impl Read + Send + 'static) -> Self {
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let mut line = Vec::new();
            let mut byte = [0];
            while source.read(&mut byte).is_ok_and(|count| count > 0) {
                if byte == *b"\n" {
                    let _ = sender.send(Some(text(&std::mem::take(&mut line))));
                } else {
                    line.extend(byte);
                }
            }
            let _ = sender.send(None);
        });
        Self(receiver)
    }

    #[track_caller]
    pub fn line(&self) -> String {
        let next = self.0.recv_timeout(Duration::from_secs(10));
        next.expect("a line in time").expect("a line, not the end")
    }

    /// Reads to the end of the stream; how long that took, if it came within the time.
    pub fn end_within(&self, limit: Duration) -> Option<Duration> {
        let start = Instant::now();
        loop {
            let left = limit.checked_sub(start.elapsed())?;
            if self.0.recv_timeout(left).ok()?.is_none() {
                return Some(start.elapsed());
            }
        }
    }
}

/// A started helper with its output, killed if the test fails.
pub struct Running {
    pub child: Child,
    pub output: Stream,
}

impl Running {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let output = Stream::of(child.stdout.take().unwrap());
        Self { child, output }
    }

    pub fn signal(&self, signal: nix::sys::signal::Signal) {
        let pid = nix::unistd::Pid::from_raw(self.child.id().cast_signed());
        nix::sys::signal::kill(pid, signal).unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn exists(pid: &str) -> bool {
    Path::new("/proc").join(pid).exists()
}
