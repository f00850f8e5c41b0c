//! An agent process that stands ready, confined like any other, for the next
//! turn: its start is then no part of what the user waits for.
//!
//! It holds nothing of any turn. Every process serves one turn; the spare is
//! only started earlier.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use openclaw_config::programs;
use openclaw_config::settings::{AgentSettings, Settings};
use openclaw_sandbox::{Launcher, Network};
use uuid::Uuid;

use super::TurnSocket;
use crate::environment;
use crate::places::{self, Places};
use crate::plan;
use crate::process::{Agent, Input};

/// How long a spare stands ready. A conversation goes on within minutes; a
/// machine that nobody talks to runs no agent.
const LIFE: Duration = Duration::from_secs(300);

/// Why no agent stands ready.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Places(#[from] places::Error),
    #[error("start the agent")]
    Start(#[from] std::io::Error),
    #[error("start the agent")]
    Launch(#[from] openclaw_sandbox::LaunchError),
}

/// A confined agent that waits for its turn.
#[derive(Debug)]
pub(crate) struct Standing {
    pub(crate) socket: TurnSocket,
    pub(crate) process: Agent,
    pub(crate) places: Places,
    agent_id: String,
    settings: Arc<Settings>,
}

impl Standing {
    /// Starts one. `name` names its folder and the process.
    pub(crate) fn start(
        launcher: &Launcher,
        settings: &Arc<Settings>,
        agent: &AgentSettings,
        name: &str,
    ) -> Result<Self, Error> {
        let program = programs::sibling("openclaw-agent", &settings.environment)?;
        let places = Places::prepare(settings, agent, name)?;
        let variables = environment::common(&settings.environment, &places);
        let confined = plan::for_agent(
            settings,
            agent,
            &places,
            name,
            &program,
            &variables,
            Network::ModelOnly,
        );
        let command = launcher.command(&confined, &program, &["turn".into()], &variables)?;
        let (socket, agent_end) = TurnSocket::open()?;
        Ok(Self {
            socket,
            process: Agent::start(command, Input::Socket(agent_end))?,
            places,
            agent_id: agent.id.clone(),
            settings: Arc::clone(settings),
        })
    }

    /// Whether it was started with these very settings, and is there.
    fn fits(&mut self, settings: &Arc<Settings>, agent_id: &str) -> bool {
        Arc::ptr_eq(&self.settings, settings)
            && self.agent_id == agent_id
            && self.process.is_alive()
    }
}

/// The one spare. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spare(Arc<Mutex<Option<Standing>>>);

impl Spare {
    /// Takes the spare, if it fits.
    pub(crate) fn take(&self, settings: &Arc<Settings>, agent_id: &str) -> Option<Standing> {
        let mut standing = self.replace(None)?;
        standing.fits(settings, agent_id).then_some(standing)
    }

    /// Starts a spare for the next turn and ends it when none comes.
    pub(crate) fn renew(
        &self,
        launcher: &Launcher,
        settings: &Arc<Settings>,
        agent: &AgentSettings,
    ) {
        let name = Uuid::new_v4().to_string();
        match Standing::start(launcher, settings, agent, &name) {
            Ok(standing) => drop(self.replace(Some(standing))),
            // The next turn tries again and says why.
            Err(error) => {
                tracing::debug!(error = %openclaw_daemon::failure::chain(&error), "no spare agent");
                return;
            }
        }
        let spare = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(LIFE).await;
            spare.end(&name);
        });
    }

    /// Ends every agent that waits.
    pub(crate) fn clear(&self) {
        drop(self.replace(None));
    }

    fn end(&self, name: &str) {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if slot
            .as_ref()
            .is_some_and(|standing| standing.places.temporary.ends_with(name))
        {
            *slot = None;
        }
    }

    fn replace(&self, standing: Option<Standing>) -> Option<Standing> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *slot, standing)
    }
}
