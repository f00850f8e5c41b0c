//! The file in which a CLI's login is: the agent's own, else the user's. Both are out of the
//! agent's sight. What an agent has in its own home, where it can write, is never taken for one.

use std::fmt;
use std::path::PathBuf;

use openclaw_credentials::login::Login;
use openclaw_settings::RunnerSettings;

/// A login that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundLogin {
    /// Whose it is.
    pub(crate) login: Login,
    /// Where it is; told to nobody.
    pub(crate) path: PathBuf,
    /// The agent it was adopted for; `None`: the user's.
    agent_id: Option<String>,
}

/// The login that the agent's turns with a CLI run on, if there is one.
pub(crate) fn find(login: Login, settings: &RunnerSettings, agent_id: &str) -> Option<FoundLogin> {
    let own = FoundLogin {
        login,
        path: login.file(&settings.paths, agent_id),
        agent_id: Some(agent_id.to_owned()),
    };
    let users = settings.paths.home.as_ref().map(|home| FoundLogin {
        login,
        path: home.join(login.in_home()),
        agent_id: None,
    });
    [Some(own), users]
        .into_iter()
        .flatten()
        .find(|found| found.path.is_file())
}

impl FoundLogin {
    /// The advice for a login that cannot be used; `renew` is the command that renews the user's.
    pub(crate) fn fix(&self, renew: &str) -> String {
        match &self.agent_id {
            None => renew.to_owned(),
            Some(agent_id) => format!(
                "log in again where it was made and adopt that with `openclawctl auth adopt \
                 --agent {agent_id} {}`",
                self.login.name()
            ),
        }
    }
}

/// For messages that agents and clients may read.
impl fmt::Display for FoundLogin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = self.login.title();
        match self.agent_id {
            None => write!(formatter, "the login of {title}"),
            Some(_) => write!(formatter, "the agent's own login of {title}"),
        }
    }
}
