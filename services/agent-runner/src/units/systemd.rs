//! Transient units (org.freedesktop.systemd1(5)), over the message bus. The
//! manager's own socket would be one hop shorter, but is for systemd's own
//! programs, and its messages carry names that are none on a bus.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::errno::Errno;
use nix::unistd::geteuid;
use openclaw_config::Environment;
use serde::Serialize;
use tokio::sync::Mutex;
use zbus::zvariant::{DynamicType, Fd, Type, Value};
use zbus::{Connection, Message, connection};

use super::{Error, Part, Request, STANDBY, UnitRef};

/// The documentation of the units that this daemon makes.
const MANUAL: &str = "man:openclaw-agent-runner(8)";
/// The slice of all units of turns.
const SLICE: &str = "openclaw-turns.slice";
/// Stopping the suite stops the timers of its jobs.
pub(super) const TARGET: &str = "openclaw.target";
/// The target that a stop of the suite starts and a restart does not
/// (`systemd/user/openclaw-stop.service`).
const STOPPED: &str = "openclaw-stopped.target";
/// The turn's own deadline comes first and says what happened; this one is for
/// a process that hangs.
const RUNTIME_SLACK: Duration = Duration::from_secs(60);
/// The longest time a unit gets to end its processes before they are killed.
const STOP_DEADLINE: Duration = Duration::from_secs(10);
/// The drop-in that the installer adds where unprivileged user namespaces work sets it.
const NAMESPACES: &str = "OPENCLAW_TURN_NAMESPACES";

/// The manager says that a unit of the name is there.
const EXISTS: &str = "org.freedesktop.systemd1.UnitExists";
/// And that none is.
const NO_UNIT: &str = "org.freedesktop.systemd1.NoSuchUnit";
/// Between two attempts to take its name.
const EXISTS_PAUSE: Duration = Duration::from_millis(10);
const EXISTS_ATTEMPTS: u32 = 1500;

pub(super) const NAME: &str = "org.freedesktop.systemd1";
const PATH: &str = "/org/freedesktop/systemd1";
const MANAGER: &str = "org.freedesktop.systemd1.Manager";

/// The bus of the manager that started this daemon.
#[derive(Debug)]
pub(super) struct Bus {
    socket: PathBuf,
    /// Whether the manager is the machine's own and not a user's.
    is_system: bool,
}

/// The manager that started this daemon.
#[derive(Debug)]
pub(crate) struct Systemd {
    bus: Bus,
    line: Mutex<Option<Connection>>,
    /// Locked while the manager is asked to report changes.
    pub(super) listening: Mutex<()>,
    /// Cleared when a unit with namespaces does not start here.
    namespaces: AtomicBool,
}

/// ExecStart=: program, arguments, whether a failure is ignored.
#[derive(Debug, Type, Value)]
struct Execution {
    path: String,
    arguments: Vec<String>,
    ignore: bool,
}

/// TemporaryFileSystem=: where, and the mount options.
#[derive(Debug, Type, Value)]
struct Mount {
    path: String,
    options: String,
}

/// BindPaths=: source, destination, whether it may be missing, options.
#[derive(Debug, Type, Value)]
struct Bind {
    source: String,
    destination: String,
    optional: bool,
    options: u64,
}

pub(super) type Properties<'a> = Vec<(&'static str, Value<'a>)>;

/// The bus of the manager that started this very process, if one did ($SYSTEMD_EXEC_PID,
/// systemd.exec(5)) that takes orders from it: the machine's own takes them from root alone.
pub(super) fn bus(environment: &Environment) -> Option<Bus> {
    let started = environment.get("SYSTEMD_EXEC_PID")?;
    if started.parse() != Ok(std::process::id()) {
        return None;
    }
    let bus = match environment.get("XDG_RUNTIME_DIR") {
        Some(folder) => Bus {
            socket: Path::new(folder).join("bus"),
            is_system: false,
        },
        None if geteuid().is_root() => Bus {
            socket: PathBuf::from("/run/dbus/system_bus_socket"),
            is_system: true,
        },
        None => return None,
    };
    bus.socket.exists().then_some(bus)
}

/// The unit of a run.
pub(super) fn unit(part: Part, run_id: &str) -> String {
    match part {
        Part::Turn => format!("openclaw-turn-{run_id}.service"),
        // It begins with the word.
        Part::Servers => format!("openclaw-{run_id}.service"),
    }
}

impl Systemd {
    pub(super) fn new(bus: Bus, environment: &Environment) -> Self {
        let namespaces = bus.is_system || environment.get(NAMESPACES) == Some("yes");
        Self {
            bus,
            line: Mutex::default(),
            listening: Mutex::default(),
            namespaces: AtomicBool::new(namespaces),
        }
    }

    /// The command that restarts this daemon.
    pub(super) fn restart(&self) -> &'static str {
        if self.bus.is_system {
            "sudo systemctl restart openclaw-agent-runner.service"
        } else {
            "systemctl --user restart openclaw-agent-runner.service"
        }
    }

    /// Starts the unit of a run, and holds it.
    pub(super) async fn start(
        self: &Arc<Self>,
        request: Request<'_>,
        program: String,
        environment: Vec<(String, String)>,
    ) -> Result<UnitRef, Error> {
        let unit = unit(request.part, request.run_id);
        let failed = |source| Error::Unit {
            unit: unit.clone(),
            source: Box::new(source),
        };
        let mut properties = limits(&request);
        properties.extend(process(&request, program, environment)?);
        if request.confined {
            properties.extend(hardening());
        }
        if request.confined && self.namespaces.load(Ordering::Relaxed) {
            properties.extend(namespaces(&request));
            properties.extend(if self.bus.is_system {
                without_buses()
            } else {
                without_privileges()
            });
        }
        let stdin: OwnedFd = request.stdin;
        properties.push(("StandardInputFileDescriptor", Fd::from(stdin).into()));
        // From here on, for whoever waits for this may lose interest.
        let hold = UnitRef::new(Arc::clone(self), unit.clone());
        self.start_transient(&unit, properties)
            .await
            .map_err(failed)?;
        Ok(hold)
    }

    /// Starts a unit that the manager makes. One that had its name and has ended, a process that
    /// stood ready and did not fit, or a timer that was stopped, takes a moment to be forgotten.
    pub(super) async fn start_transient(
        &self,
        unit: &str,
        properties: Properties<'_>,
    ) -> zbus::Result<()> {
        let none: Vec<(&str, Properties<'_>)> = Vec::new();
        let call = (unit, "fail", documented(properties), none);
        for _ in 0..EXISTS_ATTEMPTS {
            match self.ask("StartTransientUnit", &call).await {
                Err(zbus::Error::MethodError(name, ..)) if name.as_str() == EXISTS => {
                    tokio::time::sleep(EXISTS_PAUSE).await;
                }
                other => return other.map(|_| ()),
            }
        }
        Err(zbus::Error::Failure(format!(
            "a unit of this name does not end within {:?}",
            EXISTS_PAUSE * EXISTS_ATTEMPTS
        )))
    }

    /// Whether the manager is a user's.
    pub(super) fn is_users(&self) -> bool {
        !self.bus.is_system
    }

    /// The manager's answer to a call about a unit.
    pub(super) async fn ask<B>(&self, method: &str, body: &B) -> zbus::Result<Message>
    where
        B: Serialize + DynamicType,
    {
        let line = self.line().await?;
        line.call_method(Some(NAME), PATH, Some(MANAGER), method, body)
            .await
    }

    /// Says that units with namespaces do not start here.
    pub(super) fn without_namespaces(&self) {
        self.namespaces.store(false, Ordering::Relaxed);
    }

    pub(super) async fn line(&self) -> zbus::Result<Connection> {
        let mut line = self.line.lock().await;
        if let Some(line) = &*line
            && !line.is_closed()
        {
            return Ok(line.clone());
        }
        let stream = tokio::net::UnixStream::connect(&self.bus.socket)
            .await
            .map_err(|error| zbus::Error::InputOutput(error.into()))?;
        let fresh = connection::Builder::unix_stream(stream).build().await?;
        *line = Some(fresh.clone());
        Ok(fresh)
    }
}

/// Every unit says where it is described, those that are made here as well.
fn documented(mut properties: Properties<'_>) -> Properties<'_> {
    properties.push(("Documentation", vec![MANUAL.to_owned()].into()));
    properties
}

/// Whether the manager said that there is no such unit.
pub(super) fn is_no_unit(error: &zbus::Error) -> bool {
    matches!(error, zbus::Error::MethodError(name, ..) if name.as_str() == NO_UNIT)
}

fn microseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

fn limits(request: &Request<'_>) -> Properties<'static> {
    let agent = request.agent;
    let limits = &agent.limits;
    let mut properties: Properties<'static> = vec![
        ("Slice", SLICE.into()),
        ("MemoryMax", limits.memory_max.into()),
        // Swapping an agent out makes the whole machine crawl.
        ("MemorySwapMax", 0_u64.into()),
        ("TasksMax", limits.tasks_max.into()),
        (
            "CPUQuotaPerSecUSec",
            limits.cpu_quota.saturating_mul(10_000).into(),
        ),
        ("TimeoutStopUSec", microseconds(STOP_DEADLINE).into()),
        ("KillMode", "control-group".into()),
        ("OOMPolicy", "kill".into()),
        // Neither a key nor the conversation belongs into a core file.
        ("LimitCORE", 0_u64.into()),
        ("LimitCORESoft", 0_u64.into()),
    ];
    // Servers last as long as this daemon or a turn, which has its time, wants them.
    if request.part == Part::Turn {
        // It counts from the start of one that stood ready.
        let most = agent.timeout + STANDBY.max(agent.cli_warm) + RUNTIME_SLACK;
        properties.push(("RuntimeMaxUSec", microseconds(most).into()));
    }
    properties
}

fn process(
    request: &Request<'_>,
    program: String,
    environment: Vec<(String, String)>,
) -> Result<Properties<'static>, Error> {
    let variables: Vec<String> = environment
        .into_iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let execution = Execution {
        arguments: vec![program.clone(), request.part.argument().to_owned()],
        path: program,
        ignore: false,
    };
    Ok(vec![
        (
            "Description",
            match request.part {
                Part::Turn => format!("OpenClaw turn {}", request.run_id).into(),
                Part::Servers => "OpenClaw servers of tools".to_owned().into(),
            },
        ),
        ("Type", "exec".into()),
        // It is forgotten as soon as it has ended, however it did, and nobody wants to know why any
        // more: neither this daemon, which holds it for that, nor a daemon that is gone.
        ("CollectMode", "inactive-or-failed".into()),
        ("AddRef", true.into()),
        ("ExecStart", vec![execution].into()),
        // Not PartOf=: with that, a restart of the suite stops its turns, and
        // starts their processes once more. This is what a stop alone starts.
        ("Conflicts", vec![STOPPED.to_owned()].into()),
        ("Before", vec![STOPPED.to_owned()].into()),
        ("Environment", variables.into()),
        ("SyslogIdentifier", request.part.name().into()),
        ("UMask", 0o077_u32.into()),
    ])
}

/// What no agent needs, in whatever it runs: systemd-analyze(1) names these sets. Those
/// of the runner's own unit, which its turns have where they are no units.
const REFUSED_CALLS: [&str; 8] = [
    "@clock",
    "@cpu-emulation",
    "@debug",
    "@module",
    "@obsolete",
    "@raw-io",
    "@reboot",
    "@swap",
];
/// What agents and their programs talk over: sockets of this machine, the internet, and
/// libc's way to the list of interfaces.
const FAMILIES: [&str; 4] = ["AF_INET", "AF_INET6", "AF_NETLINK", "AF_UNIX"];

/// Confinement by seccomp and prctl, which works in every manager.
fn hardening() -> Properties<'static> {
    let words = |words: &[&str]| -> Vec<String> { words.iter().map(ToString::to_string).collect() };
    vec![
        ("NoNewPrivileges", true.into()),
        ("LockPersonality", true.into()),
        ("RestrictRealtime", true.into()),
        ("RestrictSUIDSGID", true.into()),
        ("KeyringMode", "private".into()),
        ("RestrictAddressFamilies", (true, words(&FAMILIES)).into()),
        ("SystemCallFilter", (false, words(&REFUSED_CALLS)).into()),
        // A program that tries one of them says so instead of vanishing.
        ("SystemCallErrorNumber", (Errno::EPERM as i32).into()),
    ]
}

/// What a unit of a user's gives up in a user namespace of its own. The helper has all
/// capabilities again in the one that it makes, over nothing but what it makes there.
fn without_privileges() -> Properties<'static> {
    vec![
        // On systemd 252 the mounts of a user's unit have no effect without it.
        ("PrivateUsers", true.into()),
        ("PrivateMounts", true.into()),
        ("CapabilityBoundingSet", 0_u64.into()),
        ("ProtectClock", true.into()),
        // With write access to them a program could leave the unit's limits.
        ("ProtectControlGroups", true.into()),
        ("ProtectHostname", true.into()),
        ("ProtectKernelModules", true.into()),
    ]
}

/// The bus and the private socket of the machine's manager, in whose units a turn's process is
/// root; a user namespace would keep it from giving that up for its agent.
fn without_buses() -> Properties<'static> {
    let buses = ["-/run/dbus", "-/run/systemd/private"].map(str::to_owned);
    vec![("InaccessiblePaths", buses.to_vec().into())]
}

/// Folders that are empty for a turn: the user bus and systemd's private socket
/// are in one, the other daemons' sockets in the other or below it.
fn empty(runtime: &Path) -> Vec<Mount> {
    let users = Path::new("/run/user");
    let others = Some(runtime).filter(|runtime| !runtime.starts_with(users));
    [Some(users), others]
        .into_iter()
        .flatten()
        .map(|folder| Mount {
            path: folder.display().to_string(),
            options: "ro".to_owned(),
        })
        .collect()
}

/// What ProtectSystem=strict leaves writable. The manager reads its whole mount
/// table for each of them, and the one of root is closed to everyone else.
fn homes() -> Vec<String> {
    let mut homes = vec!["-/home".to_owned()];
    if geteuid().is_root() {
        homes.push("-/root".to_owned());
    }
    homes
}

/// The unit's view of files, and its writable paths.
fn namespaces(request: &Request<'_>) -> Properties<'static> {
    let paths = &request.settings.paths;
    // What host tools ask: the daemon that remembers, and the one that has the jobs.
    let sockets = [paths.memory_socket(), paths.gateway_socket()];
    let sockets = sockets.map(|socket| {
        let path = socket.display().to_string();
        Bind {
            source: path.clone(),
            destination: path,
            optional: true,
            options: 0,
        }
    });
    // One that is not there (any more) keeps no turn from its start.
    let granted = std::iter::once(paths.turns()).chain(request.writable.iter().cloned());
    let writable: Vec<String> = granted.map(|path| format!("-{}", path.display())).collect();
    vec![
        ("ProtectSystem", "strict".into()),
        // Not ProtectHome=read-only: it is for /run/user too, where it comes
        // before the file system below, which is then not mounted at all.
        ("ReadOnlyPaths", homes().into()),
        ("ReadWritePaths", writable.into()),
        ("TemporaryFileSystem", empty(&paths.runtime).into()),
        // A socket that is mounted read-only is no less open, and dearer.
        ("BindPaths", Vec::from(sockets).into()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documented_are_units_that_are_made_and_units_that_are_installed() {
        let made = documented(vec![("Description", "x".into())]);
        assert_eq!(made[0].0, "Description");
        let said = (&made[1].0, &made[1].1);
        assert_eq!(said, (&"Documentation", &vec![MANUAL.to_owned()].into()));
        let calls = include_str!("systemd.rs")
            .matches("\"StartTransientUnit\"")
            .count();
        assert_eq!(calls, 1, "one call makes units");
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../systemd/user");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let unit = std::fs::read_to_string(&path).unwrap();
                assert!(unit.contains("\nDocumentation="), "{}", path.display());
            }
        }
    }
}
