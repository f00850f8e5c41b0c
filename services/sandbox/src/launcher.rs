//! Starting the helper.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::fcntl::{FcntlArg, FdFlag, fcntl};

use crate::plan::Plan;
use crate::usage::PLAN;

/// Why no command could be made.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// A path in the plan is not UTF-8, which its JSON cannot carry.
    #[error("write the plan of run {run_id} as JSON")]
    Encode {
        /// Whose plan.
        run_id: String,
        /// What could not be written.
        #[source]
        source: serde_json::Error,
    },
    /// The descriptor for the doors cannot be passed on.
    #[error("pass on the descriptor for the doors of run {run_id}")]
    Doors {
        /// Whose plan.
        run_id: String,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
}

/// Makes commands that run programs through `openclaw-sandbox`.
#[derive(Clone, Debug)]
pub struct Launcher {
    /// Path of the program `openclaw-sandbox`.
    pub helper: PathBuf,
}

impl Launcher {
    /// A command that runs `program` under `plan`, with exactly those variables of `env` that the
    /// plan allows. Standard streams are the caller's to set; all other descriptors are closed.
    ///
    /// The command belongs to the calling process: with [`Plan::parent_death_signal`] a helper
    /// started from another process refuses to start. Its working directory does not matter.
    ///
    /// To end the turn send SIGTERM to the helper: it leaves with 143 when the last process of the
    /// turn is gone. A SIGKILL takes only the agent's main process along.
    ///
    /// # Errors
    /// The plan holds a path that is not UTF-8.
    pub fn command(
        &self,
        plan: &Plan,
        program: &Path,
        args: &[OsString],
        env: &[(String, String)],
    ) -> Result<Command, LaunchError> {
        self.assemble(plan, program, args, env, None)
    }

    /// As [`Launcher::command`], with the end of [`doors::pair`](crate::doors::pair) over which the
    /// helper hands the listeners of [`Network::Loopback`](crate::Network::Loopback) back.
    ///
    /// Drop `doors` after the command was started; until then nothing else may be started, because
    /// every child inherits it.
    ///
    /// # Errors
    /// As above, or the descriptor cannot be made inheritable.
    pub fn command_with_doors(
        &self,
        plan: &Plan,
        program: &Path,
        args: &[OsString],
        env: &[(String, String)],
        doors: &OwnedFd,
    ) -> Result<Command, LaunchError> {
        fcntl(doors, FcntlArg::F_SETFD(FdFlag::empty())).map_err(|error| LaunchError::Doors {
            run_id: plan.run_id.clone(),
            source: error.into(),
        })?;
        self.assemble(plan, program, args, env, Some(doors.as_raw_fd()))
    }

    fn assemble(
        &self,
        plan: &Plan,
        program: &Path,
        args: &[OsString],
        env: &[(String, String)],
        doors: Option<i32>,
    ) -> Result<Command, LaunchError> {
        let json = serde_json::to_string(plan).map_err(|source| LaunchError::Encode {
            run_id: plan.run_id.clone(),
            source,
        })?;
        let allowed = env
            .iter()
            .filter(|(name, _)| plan.environment.contains(name));
        let mut command = self.bare();
        command
            .args(["run", "--parent", &std::process::id().to_string()])
            .args(
                doors
                    .iter()
                    .flat_map(|doors| ["--doors".to_owned(), doors.to_string()]),
            )
            .arg("--")
            .arg(program)
            .args(args)
            .envs(allowed.map(|(name, value)| (name, value)))
            .env(PLAN, json);
        Ok(command)
    }

    /// A command that tries every promised confinement and writes a
    /// [`Report`](crate::probe::Report) as JSON on its standard output. Takes some tens of
    /// milliseconds; its exit status is 1 when a confinement failed.
    pub fn probe_command(&self) -> Command {
        let mut command = self.bare();
        command.args(["probe", "--json"]);
        command
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place agent processes start from"
    )]
    fn bare(&self) -> Command {
        let mut command = Command::new(&self.helper);
        command.env_clear();
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launcher_only_allowed_variables_are_passed() {
        let launcher = Launcher {
            helper: "/helper".into(),
        };
        let mut plan = Plan::new("run", "main", Path::new("/"));
        plan.environment = vec!["PATH".into()];
        let env = [("PATH", "/bin"), ("TOKEN", "secret")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let command = launcher
            .command(&plan, Path::new("/bin/true"), &["-x".into()], &env)
            .unwrap();
        let passed: Vec<_> = command.get_envs().map(|(name, _)| name).collect();
        assert_eq!(passed, [PLAN, "PATH"]);
        assert_eq!(command.get_args().last(), Some("-x".as_ref()));
    }
}
