//! `openclawctl auth`: the keys and logins that agents' turns run on. Nothing of a
//! secret is ever shown, and none is taken from the command line, which every
//! user of the machine can read.

mod add;
mod adopt;
mod agent;
mod arguments;
mod contents;
mod entry;
mod list;
mod login_file;
mod remove;

use std::process::ExitCode;

use openclaw_config::Environment;
use openclaw_terminal::Failure;

pub use arguments::{Action, Add, Adopt, Auth, Key, List, Provider, Remove, Which};

impl Auth {
    /// Carries it out; `reload` has a running suite read its credentials anew.
    ///
    /// # Errors
    /// When it is not done.
    pub fn execute(
        &self,
        environment: &Environment,
        reload: &dyn Fn(),
    ) -> Result<ExitCode, Failure> {
        match &self.action {
            Action::List(list) => list::execute(list, environment)?,
            Action::Add(add) => add::execute(add, environment, reload)?,
            Action::Remove(remove) => remove::execute(remove, environment, reload)?,
            Action::Adopt(adopt) => return adopt::adopt(adopt, environment),
        }
        Ok(ExitCode::SUCCESS)
    }
}
