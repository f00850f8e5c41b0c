//! Confinement of agent subprocesses.
//!
//! The runner describes one turn in a [`Plan`] and starts it with [`Launcher::command`]. What that
//! starts is the program `openclaw-sandbox`, in two processes:
//!
//! * the *supervisor*: one thread, no logic of the turn. It is the subreaper of everything the
//!   agent starts, ends all of it when it is told to (SIGTERM), when its parent dies or when the
//!   agent's main process exits, and then leaves with the agent's exit status;
//! * the *child*: consumes a [`ValidPlan`] through one linear list of irreversible steps
//!   (`child.rs`) and executes the agent. At [`Level::Strict`] it is the first process of a
//!   namespace, stays to reap (`init.rs`), and a child of its own executes the agent.
//!
//! Nothing is executed unless every step held. [`probe::Report`] says for each promised
//! confinement whether this machine enforces it.
//!
//! What the list gives on every supported kernel (6.1 and later): no privileges to gain, no
//! capabilities, the granted paths and nothing else, no new Unix sockets, no namespaces, no
//! ptrace, no io_uring, limits on memory, processes, files and processor time. At level strict a
//! root, processes, a network, message queues and a host name of its own. Kernels from 6.7 and
//! 6.12 add Landlock's TCP rules and signal scoping.

mod capabilities;
mod child;
mod connections;
mod descriptors;
pub mod doors;
mod environment;
mod failure;
mod filter;
pub mod identity;
mod ids;
mod init;
mod launcher;
mod limits;
mod mapping;
mod namespaces;
mod notify;
pub mod ownership;
pub mod passing;
mod paths;
mod plan;
pub mod probe;
mod process;
mod programs;
mod real;
mod remedy;
mod root;
pub mod spawner;
mod supervisor;
mod sys;
mod syscalls;
pub mod text;
mod tree;
mod usage;
mod valid;
mod view;

pub use failure::{EXIT_CONFINEMENT, EXIT_USAGE, Failure};
pub use launcher::{LaunchError, Launcher};
pub use mapping::Mapping;
pub use plan::{Connections, Level, Limits, Network, Plan};
pub use process::Process;
pub use programs::Closed;
pub use supervisor::run;
pub use usage::{PLAN, Request, UsageError, parse};
pub use valid::{PlanError, ValidPlan};
