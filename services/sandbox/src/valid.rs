//! The plan, checked: what the irreversible steps consume.

use std::io;
use std::os::fd::RawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::resource::{Resource, getrlimit};
use seccompiler::BpfProgram;

use crate::connections::Doors;
use crate::identity::{self, Identity, IdentityError};
use crate::plan::{Connections, Level, Limits, Network, Plan};
use crate::real::Resolver;
use crate::{filter, sys};
use granting::{Granting, count, resolve};

mod granting;

/// Paths of one list. Each costs some system calls at every start.
const PATHS_MAX: usize = 256;
/// Variable names passed on.
const NAMES_MAX: usize = 256;
/// Below this the dynamic loader of an ordinary program does not get through.
const ADDRESS_SPACE_MIN: u64 = 64 << 20;
/// Standard streams, and room for the loader and for this program's own rule files.
const OPEN_FILES_MIN: u64 = 16;

/// Descriptors of a program that changes no file and makes no socket, however many it may have.
const DESCRIPTORS_MAX: u64 = 4096;

/// Why a plan cannot be carried out. Found before anything irreversible was done.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// Not from the root, or with `..` in it.
    #[error("{what} {path:?} is not a plain absolute path")]
    NotAbsolute {
        /// Which field.
        what: &'static str,
        /// The path as written.
        path: PathBuf,
    },
    /// Absent, or closed to this user.
    #[error("{what} {path:?}")]
    Missing {
        /// Which field.
        what: &'static str,
        /// The path as written.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// An agent could have led it anywhere.
    #[error(
        "{what} {path:?} leads through {link:?}, a link where agents write; name what it leads to \
         instead"
    )]
    Contested {
        /// Which field.
        what: &'static str,
        /// The path as written.
        path: PathBuf,
        /// The link.
        link: PathBuf,
    },
    /// Beneath no grant, so the confined program could not reach it.
    #[error("{what} {path:?} is beneath no granted path")]
    NotGranted {
        /// Which field.
        what: &'static str,
        /// The path, links resolved.
        path: PathBuf,
    },
    /// Not a directory where one is needed.
    #[error("{what} {path:?} is not a directory")]
    NotDirectory {
        /// Which field.
        what: &'static str,
        /// The path as written.
        path: PathBuf,
    },
    /// The program is no executable file.
    #[error("program {0:?} is not an executable file")]
    NotExecutable(PathBuf),
    /// A directory to hide is also granted.
    #[error("{hidden:?} is to be hidden and is granted through {granted:?}")]
    HiddenAndGranted {
        /// The directory to hide.
        hidden: PathBuf,
        /// The grant that covers it.
        granted: PathBuf,
    },
    /// A variable name that is none, or that steers the dynamic loader.
    #[error("environment variable {0:?} cannot be passed on")]
    Variable(String),
    /// More entries than a turn needs.
    #[error("{what} has {count} entries, at most {max} are taken")]
    TooMany {
        /// Which field.
        what: &'static str,
        /// Entries found.
        count: usize,
        /// Entries taken.
        max: usize,
    },
    /// A limit under which nothing could start.
    #[error("limit {what} is {value}, at least {min} is needed to start a program")]
    LimitTooLow {
        /// Which limit.
        what: &'static str,
        /// As written.
        value: u64,
        /// Least possible.
        min: u64,
    },
    /// No user to run as.
    #[error("agent user")]
    Identity(#[from] IdentityError),
    /// The kernel has no Landlock, or it is switched off.
    #[error(
        "Landlock is not enabled in this kernel (CONFIG_SECURITY_LANDLOCK, boot option lsm=landlock,…)"
    )]
    NoLandlock,
    /// How many files may be open cannot be read.
    #[error("read the limit of open files")]
    OpenFiles(#[source] Errno),
    /// The filter tables do not compile.
    #[error("system-call filter")]
    Filter(#[from] seccompiler::BackendError),
}

/// One granted path.
#[derive(Debug)]
pub(crate) struct Grant {
    /// As written: the name under which the agent knows it.
    pub(crate) path: PathBuf,
    /// With links resolved.
    pub(crate) real: PathBuf,
    pub(crate) access: Access,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    ReadWrite,
    ReadOnly,
    Device,
}

/// A checked plan for one program. Only [`Plan::validate`] makes one.
#[derive(Debug)]
pub struct ValidPlan {
    pub(crate) program: PathBuf,
    pub(crate) cwd: PathBuf,
    pub(crate) grants: Vec<Grant>,
    pub(crate) hide: Vec<PathBuf>,
    pub(crate) environment: Vec<String>,
    pub(crate) limits: Limits,
    pub(crate) parent_death_signal: bool,
    /// Absent at [`Level::Off`].
    pub(crate) confinement: Option<Confinement>,
}

/// What only a confined turn needs.
#[derive(Debug)]
pub(crate) struct Confinement {
    /// What Landlock is to say; absent where it is not asked.
    pub(crate) path_rules: Option<Tcp>,
    pub(crate) filters: Vec<BpfProgram>,
    /// Absent without namespaces.
    pub(crate) apart: Option<Apart>,
    /// Whom to become; absent when this process is not root.
    pub(crate) identity: Option<Identity>,
    /// What the supervisor judges connections by; absent where it does not.
    pub(crate) asking: Option<Asking>,
    /// At [`Level::Text`], the descriptor through which alone a program is executed.
    pub(crate) only_program: Option<RawFd>,
}

/// What only a turn whose connections the supervisor judges needs.
#[derive(Debug)]
pub(crate) struct Asking {
    /// What leaves them to it.
    pub(crate) filter: BpfProgram,
    pub(crate) doors: Doors,
}

/// What only a turn in namespaces of its own needs.
#[derive(Debug)]
pub(crate) struct Apart {
    pub(crate) own_network: bool,
    /// Ports of its loopback.
    pub(crate) listen: Vec<u16>,
    pub(crate) tmp: Option<PathBuf>,
}

/// What Landlock says about TCP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tcp {
    /// Nothing.
    Free,
    /// No port can be connected to, nor listened on.
    Refused,
    /// These can be connected to.
    Ports(Vec<u16>),
}

impl Plan {
    /// Checks every field against the machine, without changing anything.
    ///
    /// # Errors
    /// The first thing that would make a later step fail, or the turn useless.
    pub fn validate(mut self, program: &Path) -> Result<ValidPlan, PlanError> {
        check_limits(&self.limits)?;
        check_names(&self.environment)?;
        let mut contested = self.contested;
        contested.extend(self.read_write.iter().cloned());
        let mut granting = Granting::new(contested);
        granting.add("read_write", self.read_write, Access::ReadWrite)?;
        granting.add("read_only", self.read_only, Access::ReadOnly)?;
        granting.add("devices", self.devices, Access::Device)?;
        let grants = granting.grants;
        let confined = self.level != Level::Off;
        let mut resolver = granting.resolver;
        check_program(&mut resolver, program, &grants, confined)?;
        check_directory(&mut resolver, "cwd", &self.cwd, &grants, confined)?;
        let confinement = match self.level {
            Level::Off => None,
            level => {
                let apart = level.has_namespaces().then(|| Apart {
                    own_network: self.network != Network::Full,
                    listen: listen(&self.network),
                    tmp: self.tmp,
                });
                let identity = if identity::is_root() {
                    Some(identity::of(&self.agent_user, self.agent_ids)?)
                } else {
                    None
                };
                let is_text = level == Level::Text;
                if is_text {
                    self.network = Network::ModelOnly;
                    self.cwd = PathBuf::from("/");
                }
                let only_program = if is_text {
                    Some(only_program(&mut self.limits)?)
                } else {
                    None
                };
                let asked = match level {
                    Level::Workspace => self.connections,
                    _ => Connections::Port,
                };
                let asking = asking(&self.network, asked, identity.as_ref())?;
                let network = &self.network;
                Some(Confinement {
                    asking,
                    ..Confinement::new(level, network, apart, identity, only_program)?
                })
            }
        };
        let covers =
            |c: &Confinement| c.identity.is_some() && c.apart.is_none() && c.only_program.is_none();
        let hide = if confinement.as_ref().is_some_and(covers) {
            hidden(&mut resolver, &self.hide, &grants)?
        } else {
            Vec::new()
        };
        Ok(ValidPlan {
            program: program.to_owned(),
            cwd: self.cwd,
            grants,
            hide,
            environment: self.environment,
            limits: self.limits,
            parent_death_signal: self.parent_death_signal,
            confinement,
        })
    }
}

impl ValidPlan {
    /// Whether the turn runs in namespaces of its own.
    pub(crate) fn is_apart(&self) -> bool {
        let confinement = self.confinement.as_ref();
        confinement.is_some_and(|confinement| confinement.apart.is_some())
    }

    /// What connections are let through to, where the supervisor judges them.
    pub(crate) fn asked(&self) -> Option<&Doors> {
        let asking = self.confinement.as_ref()?.asking.as_ref()?;
        Some(&asking.doors)
    }
}

impl Confinement {
    fn new(
        level: Level,
        network: &Network,
        apart: Option<Apart>,
        identity: Option<Identity>,
        only_program: Option<RawFd>,
    ) -> Result<Self, PlanError> {
        let abi = sys::landlock_abi();
        if level.has_path_rules() && abi.is_none() {
            return Err(PlanError::NoLandlock);
        }
        let tcp = match (network, &apart) {
            (Network::ModelOnly, _) => Tcp::Refused,
            (Network::Loopback(ports), None) => Tcp::Ports(ports.clone()),
            _ => Tcp::Free,
        };
        let mut filters = filter::programs(network, apart.is_some(), abi.unwrap_or(0))?;
        if let Some(descriptor) = only_program {
            filters.extend(filter::text(descriptor)?);
        }
        Ok(Self {
            path_rules: level.has_path_rules().then_some(tcp),
            filters,
            apart,
            identity,
            asking: None,
            only_program,
        })
    }
}

/// What has the supervisor judge connections, where it is asked to and there are doors.
fn asking(
    network: &Network,
    connections: Connections,
    agent: Option<&Identity>,
) -> Result<Option<Asking>, PlanError> {
    let hidden = match connections {
        Connections::Port => return Ok(None),
        Connections::Address => false,
        Connections::AddressOfHidden => true,
    };
    let Network::Loopback(ports) = network else {
        return Ok(None);
    };
    Ok(Some(Asking {
        filter: filter::asking(hidden)?,
        doors: Doors::new(ports, agent),
    }))
}

/// The highest descriptor that may be open now, above which the limits then allow none: nothing
/// else can ever stand there, and the program itself stands there only until it is executed.
fn only_program(limits: &mut Limits) -> Result<RawFd, PlanError> {
    let (now, _) = getrlimit(Resource::RLIMIT_NOFILE).map_err(PlanError::OpenFiles)?;
    let below = now
        .min(limits.open_files.unwrap_or(now))
        .min(DESCRIPTORS_MAX);
    let number = below.saturating_sub(1);
    limits.open_files = Some(number);
    check_limits(limits)?;
    RawFd::try_from(number).map_err(|_| PlanError::OpenFiles(Errno::EINVAL))
}

fn listen(network: &Network) -> Vec<u16> {
    match network {
        Network::Loopback(ports) => ports.clone(),
        Network::ModelOnly | Network::Full => Vec::new(),
    }
}

fn check_limits(limits: &Limits) -> Result<(), PlanError> {
    let floors = [
        ("address_space", limits.address_space, ADDRESS_SPACE_MIN),
        ("processes", limits.processes, 1),
        ("open_files", limits.open_files, OPEN_FILES_MIN),
        ("file_size", limits.file_size, 1),
        ("cpu_seconds", limits.cpu_seconds, 1),
    ];
    for (what, value, min) in floors {
        if let Some(value) = value.filter(|value| *value < min) {
            return Err(PlanError::LimitTooLow { what, value, min });
        }
    }
    Ok(())
}

/// Loader variables are refused because this helper is dynamically linked: they would act on it,
/// with its rights, before they act on the agent.
fn check_names(names: &[String]) -> Result<(), PlanError> {
    count("environment", names.len(), NAMES_MAX)?;
    for name in names {
        let plain = !name.is_empty() && !name.contains(['=', '\0']);
        if !plain || name.starts_with("LD_") || name == "GLIBC_TUNABLES" {
            return Err(PlanError::Variable(name.clone()));
        }
    }
    Ok(())
}

fn check_granted(what: &'static str, path: PathBuf, grants: &[Grant]) -> Result<(), PlanError> {
    if grants.iter().any(|grant| path.starts_with(&grant.real)) {
        Ok(())
    } else {
        Err(PlanError::NotGranted { what, path })
    }
}

fn check_program(
    resolver: &mut Resolver,
    program: &Path,
    grants: &[Grant],
    confined: bool,
) -> Result<(), PlanError> {
    let real = resolve(resolver, "program", program)?.path;
    let metadata = real.metadata().map_err(|source| PlanError::Missing {
        what: "program",
        path: real.clone(),
        source,
    })?;
    if !metadata.is_file() || metadata.permissions().mode() & 0o111 == 0 {
        return Err(PlanError::NotExecutable(real));
    }
    if confined {
        check_granted("program", real, grants)
    } else {
        Ok(())
    }
}

fn check_directory(
    resolver: &mut Resolver,
    what: &'static str,
    path: &Path,
    grants: &[Grant],
    confined: bool,
) -> Result<(), PlanError> {
    let real = resolve(resolver, what, path)?.path;
    if !real.is_dir() {
        let path = path.to_owned();
        return Err(PlanError::NotDirectory { what, path });
    }
    if confined {
        check_granted(what, real, grants)
    } else {
        Ok(())
    }
}

/// The directories to hide, links resolved, without those inside another one.
fn hidden(
    resolver: &mut Resolver,
    hide: &[PathBuf],
    grants: &[Grant],
) -> Result<Vec<PathBuf>, PlanError> {
    count("hide", hide.len(), PATHS_MAX)?;
    let mut all: Vec<PathBuf> = Vec::new();
    for path in hide {
        let real = resolve(resolver, "hide", path)?.path;
        if !real.is_dir() {
            return Err(PlanError::NotDirectory {
                what: "hide",
                path: real,
            });
        }
        if let Some(grant) = grants.iter().find(|grant| real.starts_with(&grant.real)) {
            return Err(PlanError::HiddenAndGranted {
                hidden: real,
                granted: grant.path.clone(),
            });
        }
        all.push(real);
    }
    // Sorted, an enclosing directory comes before what it encloses.
    all.sort();
    all.dedup_by(|inner, outer| inner.starts_with(outer));
    Ok(all)
}
