//! What the daemons' processes take: by the service manager's count, or of a
//! suite in the foreground by the kernel's.

use std::fs;

use openclaw_config::{Environment, Paths};
use openclaw_proto::address::AT_REST;
use openclaw_service_manager as manager;
use serde::Serialize;

/// Properties of systemd.service(5) that are shown.
const PROPERTIES: &str = "--property=Id,ActiveState,StatusText,MemoryCurrent,NRestarts";
/// How a page counts in /proc/PID/statm; 4 KiB on all machines that are served.
const PAGE: u64 = 4096;

/// Those of the three daemons.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Processes {
    /// Gateway.
    pub gateway: Process,
    /// Agent-runner.
    pub runner: Process,
    /// Memory daemon.
    pub memory: Process,
}

/// One daemon's.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Process {
    /// Memory that it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// How often it was started again since it was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restarts: Option<u64>,
    /// Whether it ended because nobody needs it, and whoever connects starts it.
    #[serde(skip_serializing_if = "is_false")]
    pub at_rest: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl Processes {
    /// Whether one of the daemons that the gateway asks is at rest.
    pub(crate) fn others_rest(&self) -> bool {
        self.runner.at_rest || self.memory.at_rest
    }

    /// Whether all of them ended because nobody needed them.
    pub(crate) fn all_rest(&self) -> bool {
        self.gateway.at_rest && self.runner.at_rest && self.memory.at_rest
    }

    /// The one that a program or its unit is.
    fn of(&mut self, program: &str) -> Option<&mut Process> {
        match program {
            "openclaw-gateway" => Some(&mut self.gateway),
            "openclaw-agent-runner" => Some(&mut self.runner),
            "openclaw-memory" => Some(&mut self.memory),
            _ => None,
        }
    }
}

/// Looks, where nobody is held up by it.
pub async fn ask(paths: &Paths, environment: &Environment) -> Processes {
    if let Some(pid) = openclaw_foreground::pid(paths) {
        return children(pid);
    }
    if manager::runtime(environment).is_none() {
        return Processes::default();
    }
    let environment = environment.clone();
    let asked = tokio::task::spawn_blocking(move || {
        let units =
            ["gateway", "agent-runner", "memory"].map(|it| format!("openclaw-{it}.service"));
        let mut arguments = vec!["--user", "show", PROPERTIES];
        arguments.extend(units.iter().map(String::as_str));
        manager::ask("systemctl", &arguments, &environment)
    });
    match asked.await {
        Ok(Ok(said)) => of_manager(said.output()),
        _ => Processes::default(),
    }
}

/// What `systemctl show` prints: a paragraph for each unit.
fn of_manager(text: &str) -> Processes {
    let mut all = Processes::default();
    for paragraph in text.split("\n\n") {
        let value = |name: &str| {
            let mut lines = paragraph.lines();
            lines.find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
        };
        let Some(unit) = value("Id").and_then(|id| id.strip_suffix(".service")) else {
            continue;
        };
        if let Some(process) = all.of(unit) {
            // "[not set]", and of old versions the largest number, are none.
            let memory = value("MemoryCurrent").and_then(|it| it.parse().ok());
            process.memory_bytes = memory.filter(|bytes| *bytes < u64::MAX);
            process.at_rest = value("ActiveState") == Some("inactive")
                && value("StatusText").is_some_and(|status| status.starts_with(AT_REST));
            process.restarts = value("NRestarts").and_then(|it| it.parse().ok());
        }
    }
    all
}

/// Those that `openclawctl run` started.
fn children(pid: i32) -> Processes {
    let mut all = Processes::default();
    let list = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    for child in list.unwrap_or_default().split_whitespace() {
        let line = fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
        let program = line.split(|byte| *byte == 0).next().unwrap_or_default();
        let program = String::from_utf8_lossy(program);
        let name = program.rsplit('/').next().unwrap_or_default();
        if let Some(process) = all.of(name) {
            process.memory_bytes = resident(child);
        }
    }
    all
}

fn resident(pid: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manager_is_understood() {
        let text = "MemoryCurrent=1048576\nNRestarts=2\nId=openclaw-gateway.service\n\n\
                    MemoryCurrent=[not set]\nNRestarts=0\nId=openclaw-memory.service\n\n\
                    MemoryCurrent=18446744073709551615\nId=openclaw-agent-runner.service";
        let all = of_manager(text);
        let gateway = Process {
            memory_bytes: Some(1 << 20),
            restarts: Some(2),
            at_rest: false,
        };
        assert_eq!(all.gateway, gateway);
        assert_eq!(
            (all.memory.memory_bytes, all.memory.restarts),
            (None, Some(0))
        );
        assert_eq!(all.runner, Process::default());
        assert_eq!(of_manager(""), Processes::default());
    }

    #[test]
    fn daemon_is_at_rest_when_it_said_so_and_is_gone() {
        let show = |state: &str, status: &str| {
            let text =
                format!("Id=openclaw-memory.service\nActiveState={state}\nStatusText={status}");
            of_manager(&text).memory.at_rest
        };
        assert!(show("inactive", AT_REST));
        assert!(show(
            "inactive",
            &format!("{AT_REST}; the configuration is not used")
        ));
        assert!(!show("active", AT_REST), "it is just being started");
        assert!(!show("failed", AT_REST));
        assert!(!show("inactive", "2 files, 3 passages indexed"));
        assert!(!show("inactive", ""));
    }

    #[test]
    fn memory_of_a_process_is_known() {
        let own = resident(&std::process::id().to_string()).unwrap();
        assert!(own > 1 << 20, "{own}");
    }
}
