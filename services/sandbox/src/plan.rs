//! What one turn may do, as the runner writes it down.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::identity::Identity;

/// System directories an agent may read and execute from, where they exist.
///
/// `/home`, `/root`, `/run`, `/var`, `/srv`, `/mnt` and the rest of `/sys` and `/dev` are left out
/// on purpose. Of `/sys` only the processor list is there, because runtimes size their thread
/// pools by it.
const SYSTEM_READ_ONLY: [&str; 10] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
    "/etc",
    "/opt",
    "/nix/store",
    "/proc",
    "/sys/devices/system/cpu",
];

/// Files in `/etc` that distributions link into `/run` or elsewhere, without which names do not
/// resolve. Landlock follows the link and judges the target, so the target needs its own grant.
const LINKED_ELSEWHERE: [&str; 3] = ["/etc/resolv.conf", "/etc/hosts", "/etc/localtime"];

/// Devices that every program expects and that hold nothing of the machine.
const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// The user an agent runs as when the runner itself is root.
pub(crate) const AGENT_USER: &str = "openclaw-agent";

/// How much of the confinement applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Everything of [`Level::Workspace`], in namespaces of the turn's own: a root in which only
    /// the grants exist, its own processes, and no network but what the plan gives.
    Strict,
    /// As [`Level::Strict`] without path rules, for kernels that have no Landlock: the root of the
    /// turn's own alone confines files.
    Namespaces,
    /// The granted paths, no privileges, the system-call filter. Needs no namespaces.
    Workspace,
    /// No privileges, and a filter under which nothing is executed but the program itself, no file
    /// is opened for writing or changed, and no socket made. Needs neither namespaces nor Landlock.
    Text,
    /// Only supervision, limits, closed descriptors and the rebuilt environment. The program runs
    /// with all rights of its caller.
    Off,
}

impl Level {
    /// Those that confine, the strictest first.
    pub const CONFINED: [Self; 4] = [Self::Strict, Self::Namespaces, Self::Workspace, Self::Text];

    /// Those that confine less, the strictest first.
    pub fn below(self) -> impl Iterator<Item = Self> {
        let mut levels = Self::CONFINED.into_iter();
        levels.find(|level| *level == self);
        levels
    }

    /// As it is shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Namespaces => "namespaces",
            Self::Workspace => "workspace",
            Self::Text => "text",
            Self::Off => "off",
        }
    }

    /// Whether the turn has namespaces of its own.
    pub fn has_namespaces(self) -> bool {
        matches!(self, Self::Strict | Self::Namespaces)
    }

    /// Whether Landlock rules over paths.
    pub fn has_path_rules(self) -> bool {
        matches!(self, Self::Strict | Self::Workspace)
    }
}

/// Which sockets a confined program may make.
///
/// Unix sockets cannot be made at any setting; `socketpair` of the stream kinds stays. At
/// [`Level::Text`] it is [`Network::ModelOnly`] whatever is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// None at all. The model is reached over an inherited descriptor.
    ModelOnly,
    /// IPv4 and IPv6 on a loopback. In namespaces that is the turn's own, and the helper listens
    /// on these ports of it for the caller (see [`Launcher::command_with_doors`]). At
    /// [`Level::Workspace`] it is the machine's, and only TCP connections to these ports can be
    /// made, from Landlock version 4 on, and with [`Plan::connections`] only to 127.0.0.1; the
    /// caller listens itself.
    ///
    /// [`Launcher::command_with_doors`]: crate::Launcher::command_with_doors
    Loopback(Vec<u16>),
    /// IPv4, IPv6 and routing netlink (which address look-ups need).
    Full,
}

/// Who judges connections to the ports of [`Network::Loopback`] at [`Level::Workspace`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Connections {
    /// Landlock, which knows ports and not addresses.
    #[default]
    Port,
    /// The supervisor, which knows both. Where it cannot the turn does not begin: the check
    /// `door_addresses` of a [`Report`](crate::probe::Report) says whether it can.
    Address,
    /// The supervisor, of programs that hide their memory too: these are told that it is hidden.
    AddressOfHidden,
}

/// Resource limits of every process of the turn; `None` leaves what is inherited.
///
/// A limit already lower at the caller stays lower. Core dumps are always off: they would put the
/// conversation on disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Bytes of address space of each process (`RLIMIT_AS`). Runtimes that reserve large ranges
    /// (bun, a JVM, sanitizers) need `None`.
    pub address_space: Option<u64>,
    /// Processes and threads the turn may add to what runs now (`RLIMIT_NPROC`, see `limits.rs`).
    pub processes: Option<u64>,
    /// Open descriptors of each process (`RLIMIT_NOFILE`).
    pub open_files: Option<u64>,
    /// Bytes of the largest file a process may write (`RLIMIT_FSIZE`).
    pub file_size: Option<u64>,
    /// Processor seconds of each process (`RLIMIT_CPU`); SIGXCPU there, SIGKILL a second later.
    pub cpu_seconds: Option<u64>,
}

impl Default for Limits {
    /// Room for a compiler or a test suite, not for taking the machine down.
    fn default() -> Self {
        Self {
            address_space: Some(8 << 30),
            processes: Some(256),
            open_files: Some(4096),
            file_size: Some(2 << 30),
            cpu_seconds: Some(3600),
        }
    }
}

/// One turn's confinement. Nothing is checked before [`Plan::validate`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Names the run in the process list.
    pub run_id: String,
    /// Names the agent in the process list.
    pub agent: String,
    /// Working directory, beneath one of the grants. At [`Level::Text`] it is `/`.
    pub cwd: PathBuf,
    /// Paths with everything beneath them that may be read, written and executed.
    pub read_write: Vec<PathBuf>,
    /// Paths with everything beneath them that may be read and executed. The program itself has
    /// to be beneath a grant.
    pub read_only: Vec<PathBuf>,
    /// Device files that may be read and written.
    pub devices: Vec<PathBuf>,
    /// Where any agent writes, this one or another. A granted path that leads through a link in
    /// one of these is refused: an agent could have put it there.
    #[serde(default)]
    pub contested: Vec<PathBuf>,
    /// Names of the environment variables that reach the program.
    pub environment: Vec<String>,
    /// Resource limits.
    pub limits: Limits,
    /// Socket policy.
    pub network: Network,
    /// How exact it is without a network of the turn's own.
    #[serde(default)]
    pub connections: Connections,
    /// End the turn when the *thread* that spawned the supervisor ends. Wanted where no service
    /// unit owns the turn. Spawn from a thread that lives as long as the turn: a thread of an
    /// async runtime's blocking pool does not.
    pub parent_death_signal: bool,
    /// How much applies.
    pub level: Level,
    /// User to become when started as root; `nobody` where it does not exist.
    pub agent_user: String,
    /// That user's and group's id, where whoever starts the turn has looked them up already: to do
    /// so again takes a tenth of the helper's time. Never 0.
    #[serde(default)]
    pub agent_ids: Option<(u32, u32)>,
    /// Directories replaced by an empty read-only one, apart from the grants in them, when started
    /// as root: the home that is closed to the agent's user, and `/tmp`. Ignored otherwise, in
    /// namespaces, where nothing but the grants exists, and at [`Level::Text`].
    pub hide: Vec<PathBuf>,
    /// The directory that is `/tmp` in namespaces, one of `read_write`; without it `/tmp` is a
    /// small one in memory. Ignored otherwise.
    pub tmp: Option<PathBuf>,
}

impl Plan {
    /// A plan with the system readable, nothing writable, no network, default limits.
    pub fn new(run_id: &str, agent: &str, cwd: &Path) -> Self {
        Self {
            run_id: run_id.to_owned(),
            agent: agent.to_owned(),
            cwd: cwd.to_owned(),
            read_write: Vec::new(),
            read_only: Self::system_read_only(),
            devices: Self::standard_devices(),
            contested: Vec::new(),
            environment: Vec::new(),
            limits: Limits::default(),
            network: Network::ModelOnly,
            connections: Connections::Port,
            parent_death_signal: true,
            level: Level::Strict,
            agent_user: AGENT_USER.to_owned(),
            agent_ids: None,
            hide: Vec::new(),
            tmp: None,
        }
    }

    /// Has the program become `identity` when it is started as root.
    pub fn run_as(&mut self, identity: &Identity) {
        self.agent_user.clone_from(&identity.name);
        self.agent_ids = Some((identity.uid.as_raw(), identity.gid.as_raw()));
    }

    /// The parts of the system every program needs to run, as far as they exist here.
    pub fn system_read_only() -> Vec<PathBuf> {
        let mut paths = existing(&SYSTEM_READ_ONLY);
        for linked in LINKED_ELSEWHERE {
            if let Some(target) = link_target_grant(Path::new(linked), &paths) {
                paths.push(target);
            }
        }
        paths
    }

    /// The devices every program expects, as far as they exist here.
    fn standard_devices() -> Vec<PathBuf> {
        existing(&DEVICES)
    }
}

fn existing(paths: &[&str]) -> Vec<PathBuf> {
    let all = paths.iter().map(PathBuf::from);
    all.filter(|path| path.exists()).collect()
}

/// The grant that makes a linked file readable: its directory, because resolvers replace the file
/// by renaming and a grant on the file would die with the old one; the file itself where the
/// directory is a top-level one and would open too much.
fn link_target_grant(linked: &Path, granted: &[PathBuf]) -> Option<PathBuf> {
    /// `/`, `run`, `systemd`: a directory at least two below the root.
    const NARROW: usize = 3;
    let target = linked.canonicalize().ok()?;
    if granted.iter().any(|grant| target.starts_with(grant)) {
        return None;
    }
    let directory = target.parent()?;
    let narrow = directory.components().count() >= NARROW;
    Some(if narrow {
        directory.to_path_buf()
    } else {
        target
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plan_survives_its_json() {
        let plan = Plan::new("run", "main", Path::new("/"));
        let text = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
    }

    #[test]
    fn unknown_field_is_refused() {
        let mut json = serde_json::to_value(Plan::new("run", "main", Path::new("/"))).unwrap();
        json["read_wirte"] = serde_json::json!(["/home"]);
        assert!(serde_json::from_value::<Plan>(json).is_err());
    }

    #[test]
    fn resolver_file_outside_the_system_grants_its_directory() {
        let dir = tempfile::tempdir().unwrap();
        let directory = dir.path().canonicalize().unwrap().join("resolve");
        std::fs::create_dir(&directory).unwrap();
        std::fs::write(directory.join("stub.conf"), "nameserver ::1\n").unwrap();
        let link = dir.path().join("resolv.conf");
        std::os::unix::fs::symlink(directory.join("stub.conf"), &link).unwrap();
        assert_eq!(link_target_grant(&link, &[]), Some(directory.clone()));
        assert_eq!(link_target_grant(&link, &[directory]), None);
    }
}
