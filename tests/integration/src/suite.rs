//! The three daemons under `openclawctl run`.

use std::ops::Deref;
use std::process::Stdio;

use nix::sys::signal::Signal;
use nix::unistd::Pid;
use openclaw_proto::gateway;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Child;

use crate::{Http, Said, Site, Talk, Terminal, processes, transcript, units, within};

/// What `openclawctl run` says when every daemon can serve.
const READY: &str = "openclaw is ready";

/// A running suite; everything of it ends when it is dropped.
#[derive(Debug)]
pub struct Suite {
    run: Child,
    site: Site,
}

impl Deref for Suite {
    type Target = Site;

    fn deref(&self) -> &Site {
        &self.site
    }
}

impl Suite {
    /// Starts it at `site` and waits until it is ready.
    pub async fn start(site: Site) -> Self {
        if site.has_units {
            Self::start_units(site).await
        } else {
            Self::start_own(site).await
        }
    }

    /// The installed one; what stands for it here is who reads its journal.
    async fn start_units(site: Site) -> Self {
        let mut run = units::journal().spawn().expect("start journalctl");
        site.log.follow(run.stdout.take().expect("a pipe"));
        units::systemctl(&["start", "openclaw.target"]);
        let suite = Self { run, site };
        suite.ctl(&["status"]).await.ok();
        suite
    }

    async fn start_own(site: Site) -> Self {
        let mut command = site.command("openclawctl");
        let mut run = command.arg("run").spawn().expect("start openclawctl run");
        site.log.follow(run.stderr.take().expect("a pipe"));
        let stdout = run.stdout.take().expect("a pipe");
        let mut lines = BufReader::new(stdout).lines();
        let suite = Self { run, site };
        let line = within("openclawctl run is ready", lines.next_line()).await;
        match line {
            Ok(Some(line)) if line.starts_with(READY) => suite,
            other => panic!("openclawctl run did not get ready: {other:?}"),
        }
    }

    /// Sends a message, which must be answered well; what was printed.
    pub async fn say(&self, text: &str) -> String {
        self.ctl(&["message", text]).await.ok()
    }

    /// Sends a message; the run in one document, however it ended.
    pub async fn ask(&self, text: &str) -> Value {
        self.ctl(&["message", "--json", "--no-stream", text])
            .await
            .document()
    }

    /// Starts `openclawctl` and does not wait for its end.
    pub fn begin(&self, arguments: &[&str]) -> Talk {
        let mut command = self.command("openclawctl");
        command.args(arguments);
        Talk::start(&format!("openclawctl {}", arguments.join(" ")), command)
    }

    /// Starts `openclawctl` at a terminal.
    pub fn at_terminal(&self, arguments: &[&str]) -> Terminal {
        let mut command = self.command("openclawctl");
        command.args(arguments);
        command.env("TERM", "xterm-256color").env_remove("NO_COLOR");
        Terminal::start(&format!("openclawctl {}", arguments.join(" ")), command)
    }

    /// The same at a terminal of so many columns, without a pager, with these variables.
    pub fn at_terminal_within(
        &self,
        columns: u16,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Terminal {
        let mut command = self.command("openclawctl");
        command.args(arguments).env("PAGER", "cat");
        command.env("TERM", "xterm-256color").env_remove("NO_COLOR");
        command.envs(variables.iter().copied());
        let what = format!("openclawctl {} at {columns}", arguments.join(" "));
        Terminal::start_within(&what, command, columns)
    }

    /// Runs `openclawctl` with something on its standard input.
    pub async fn ctl_with_input(&self, arguments: &[&str], input: &str) -> Said {
        let mut command = self.command("openclawctl");
        let mut child = command
            .args(arguments)
            .stdin(Stdio::piped())
            .spawn()
            .expect("start openclawctl");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(input.as_bytes()).await.expect("write");
        drop(stdin);
        let what = format!("openclawctl {} < …", arguments.join(" "));
        let output = within(&what, child.wait_with_output()).await;
        Said::of(what, &output.expect("wait for openclawctl"))
    }

    /// The gateway, as its clients see it.
    pub fn gateway(&self) -> gateway::Client {
        gateway::Client::new(self.runtime().join("gateway.sock"))
    }

    /// Where a TCP socket of the gateway is, such as `http`, as the beginning
    /// of a URL.
    pub async fn address(&self, name: &str) -> String {
        let status = self.ctl(&["status", "--json"]).await.document();
        let listeners = status["gateway"]["listeners"].as_array();
        let mut listeners = listeners.into_iter().flatten();
        let listener = listeners.find(|listener| listener["name"] == name);
        let address = listener.and_then(|listener| listener["address"].as_str());
        let address = address.unwrap_or_else(|| panic!("no socket {name} in {status}"));
        format!("http://{address}")
    }

    /// What clients over TCP need.
    pub async fn token(&self) -> String {
        self.ctl(&["token"]).await.ok().trim().to_owned()
    }

    /// The gateway over HTTP, with its token.
    pub async fn http(&self) -> Http {
        Http::new(&self.address("http").await, &self.token().await)
    }

    /// The process of a daemon, such as `openclaw-gateway`.
    pub fn daemon(&self, program: &str) -> Pid {
        if self.site.has_units {
            return units::process(program);
        }
        let found = processes::of_folder(&self.site.path(""));
        let named = |pid: &Pid| {
            let is_daemon = !processes::is_turn(*pid) && !processes::is_servers(*pid);
            is_daemon && processes::program(*pid).as_deref() == Some(program)
        };
        let found: Vec<Pid> = found.into_iter().filter(named).collect();
        match found.as_slice() {
            [pid] => *pid,
            other => panic!("one {program} is expected, there are {other:?}"),
        }
    }

    /// The process of the one turn there is.
    pub fn turn(&self) -> Pid {
        let found = processes::of_folder(&self.site.path(""));
        let mut turns = found.into_iter().filter(|pid| processes::is_turn(*pid));
        turns.next().expect("a turn is running")
    }

    /// The entries of the main session's transcript, without the header.
    pub fn entries(&self) -> Vec<Value> {
        transcript::entries(&self.site, "agent:main:main")
    }

    /// The messages of the main session's transcript.
    pub fn messages(&self) -> Vec<Value> {
        transcript::messages(&self.site, "agent:main:main")
    }

    /// Sends `openclawctl run` a signal.
    pub fn signal_run(&self, signal: Signal) {
        let pid = self.run.id().expect("it was not waited for");
        processes::send(Pid::from_raw(pid.cast_signed()), signal);
    }

    /// Tells `openclawctl run` to end.
    pub fn terminate(&self) {
        self.signal_run(Signal::SIGTERM);
    }

    /// Starts it again, in the same place, after it has ended; what has not yet is killed.
    pub async fn restart(self) -> Self {
        let Self { mut run, site } = self;
        // It fails where it was waited for.
        let _ = run.start_kill();
        let _ = within("the end of what was killed", run.wait()).await;
        Self::start(site).await
    }

    /// Waits for the end of `openclawctl run`; its exit code.
    pub async fn ended(&mut self) -> Option<i32> {
        let status = within("the end of openclawctl run", self.run.wait()).await;
        status.expect("wait for openclawctl run").code()
    }
}
