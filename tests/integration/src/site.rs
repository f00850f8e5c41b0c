//! A home, a state directory and a runtime directory of a test's own.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use nix::unistd::Pid;
use tempfile::TempDir;
use tokio::process::Command;

use crate::log::Log;
use crate::{Said, processes, program, seen, units, within};

/// Where programs are looked for: the system's, without the user's own.
pub const PATH: &str = "/usr/bin:/bin";

/// What the units give the daemons, beneath the home.
const ENVIRONMENT: &str = ".config/openclaw/env";

/// The folders, the environment and the log of a test. Dropping it kills every
/// process that was started in it; when the test failed, the log is shown.
#[derive(Debug)]
pub struct Site {
    folder: TempDir,
    home: PathBuf,
    state: PathBuf,
    runtime: PathBuf,
    /// Whether the suite is that of the user's service manager.
    pub(crate) has_units: bool,
    variables: BTreeMap<String, String>,
    /// What the daemons write.
    pub log: Log,
}

impl Site {
    /// Empty folders.
    pub fn new(more: &BTreeMap<String, String>) -> Self {
        processes::adopt_orphans();
        // Not in $TMPDIR: the path of a Unix socket has at most 107 bytes.
        let folder = tempfile::Builder::new()
            .prefix("claw-")
            .tempdir_in("/tmp")
            .expect("make a folder in /tmp");
        if units::are_tested() {
            Self::of_units(folder, more)
        } else {
            Self::own(folder, more)
        }
    }

    /// Where the suite of the user's service manager is. A state folder that is
    /// there is somebody's.
    fn of_units(folder: TempDir, more: &BTreeMap<String, String>) -> Self {
        let (home, runtime) = (units::folder("HOME"), units::folder("XDG_RUNTIME_DIR"));
        let state = home.join(".openclaw");
        assert!(!state.exists(), "{} is there already", state.display());
        make_folder(&state);
        let environment = home.join(ENVIRONMENT);
        make_folder(environment.parent().expect("a file is in a folder"));
        let lines = more.iter().map(|(name, value)| format!("{name}={value}\n"));
        write_private(&environment, &lines.collect::<String>());
        let place = |path: &Path| path.display().to_string();
        let variables = [
            ("HOME", place(&home)),
            ("XDG_RUNTIME_DIR", place(&runtime)),
            ("PATH", PATH.to_owned()),
        ];
        Self {
            runtime: runtime.join("openclaw"),
            folder,
            home,
            state,
            has_units: true,
            variables: variables
                .map(|(name, value)| (name.to_owned(), value))
                .into(),
            log: Log::default(),
        }
    }

    fn own(folder: TempDir, more: &BTreeMap<String, String>) -> Self {
        let place = |name: &str| folder.path().join(name).display().to_string();
        let mut variables: BTreeMap<String, String> = [
            ("HOME", place("home")),
            ("OPENCLAW_STATE_DIR", place("state")),
            ("OPENCLAW_RUNTIME_DIR", place("run")),
            ("PATH", PATH.to_owned()),
            // Any port that is free: many tests run at once.
            ("OPENCLAW_GATEWAY_PORT", "0".to_owned()),
            // What a killed program leaves behind goes with the folder.
            ("TMPDIR", place("tmp")),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        variables.extend(more.clone());
        let path = |name: &str| folder.path().join(name);
        let site = Self {
            home: path("home"),
            state: path("state"),
            runtime: path("run"),
            folder,
            has_units: false,
            variables,
            log: Log::default(),
        };
        for path in [site.home(), site.state(), site.runtime(), site.path("tmp")] {
            make_folder(&path);
        }
        site
    }

    /// The process of `program`, which may just be being started again.
    pub async fn seen_program(&self, program: &str) -> Pid {
        seen(program, || {
            let mut found = processes::of_folder(self.folder.path()).into_iter();
            found.find(|pid| processes::program(*pid).as_deref() == Some(program))
        })
        .await
    }

    /// A place in the site's folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// HOME of the daemons.
    pub fn home(&self) -> PathBuf {
        self.home.clone()
    }

    /// The state directory.
    pub fn state(&self) -> PathBuf {
        self.state.clone()
    }

    /// The directory of the sockets.
    pub fn runtime(&self) -> PathBuf {
        self.runtime.clone()
    }

    /// The main agent's workspace.
    pub fn workspace(&self) -> PathBuf {
        self.state().join("workspace")
    }

    /// The configuration file.
    pub fn configuration(&self) -> PathBuf {
        self.state().join("openclaw.json")
    }

    /// Writes the configuration file, for its owner alone.
    pub fn configure(&self, text: &str) {
        write_private(&self.configuration(), text);
    }

    /// Writes a file of the main agent's workspace.
    pub fn note(&self, name: &str, text: &str) {
        let path = self.workspace().join(name);
        make_folder(path.parent().expect("a file is in a folder"));
        fs::write(&path, text).unwrap_or_else(|error| panic!("write {}: {error}", path.display()));
    }

    /// Text of a file in the main agent's workspace.
    pub fn written(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.workspace().join(name)).ok()
    }

    /// The suite's program `name` with the site's environment and nothing of
    /// the test's own. It dies with the returned child.
    pub fn command(&self, name: &str) -> Command {
        let mut command = Command::new(program::path(name));
        command
            .env_clear()
            .envs(&self.variables)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    /// Runs `openclawctl` to its end.
    pub async fn ctl(&self, arguments: &[&str]) -> Said {
        self.run("openclawctl", arguments).await
    }

    /// Runs the suite's program `name` to its end.
    pub async fn run(&self, name: &str, arguments: &[&str]) -> Said {
        let mut command = self.command(name);
        let output = command.args(arguments).output();
        let what = format!("{name} {}", arguments.join(" "));
        let output = within(&what, output).await.expect("start a program");
        Said::of(what, &output)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if self.has_units {
            units::stop();
            // Left behind it would be told at the next start.
            let _ = fs::remove_dir_all(&self.state);
            let _ = fs::remove_file(self.home.join(ENVIRONMENT));
        }
        processes::end_all(self.folder.path());
        if std::thread::panicking() {
            eprintln!("--- what the daemons wrote");
            for line in self.log.lines() {
                eprintln!("{line}");
            }
        }
    }
}

/// Makes a folder, and those above it, for this user alone.
fn make_folder(path: &Path) {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .unwrap_or_else(|error| panic!("make {}: {error}", path.display()));
}

/// Writes a file that only this user can read.
pub fn write_private(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let written = fs::write(path, text)
        .and_then(|()| fs::set_permissions(path, fs::Permissions::from_mode(0o600)));
    written.unwrap_or_else(|error| panic!("write {}: {error}", path.display()));
}
