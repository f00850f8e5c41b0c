//! `openclawctl auth`: the keys and logins that agents' turns run on. Nothing of a
//! secret is ever shown, and none is taken from the command line, which every
//! user of the machine can read.

mod add;
mod adopt;
mod arguments;
mod contents;
mod list;
mod login_file;
mod remove;

use std::process::ExitCode;

use openclaw_config::Environment;
use openclaw_config::nearest::nearest;
use openclaw_settings::Settings;
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

/// The agent that is meant: the one that is named, or the default one.
fn agent(wanted: Option<&str>, settings: &Settings) -> Result<String, Failure> {
    let wanted = wanted.unwrap_or(&settings.default_agent);
    if let Some(agent) = settings.agent(wanted) {
        return Ok(agent.id.clone());
    }
    let known = settings.agents.keys().map(String::as_str);
    let failure = Failure::new(format!("there is no agent {wanted:?}"));
    Err(match nearest(wanted, known) {
        Some(near) => failure.hint(format!("did you mean {near}?")),
        None => failure.hint("openclawctl agents lists them"),
    })
}
