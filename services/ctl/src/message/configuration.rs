//! A configuration that cannot be used: the reply comes all the same, by other
//! settings than the user wrote.

use std::time::Duration;

use openclaw_config::Environment;
use openclaw_terminal::{Failure, output};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use crate::connection::Gateway;

/// How long the gateway may take to say what it uses instead.
const DEADLINE: Duration = Duration::from_secs(3);
/// What is used instead where the gateway has not read the file yet, or does
/// not say.
const BEFORE: &str = "the configuration before it";

/// Looks at the configuration while the gateway works on the message: the reply
/// does not wait for it.
pub(super) struct Check(Option<JoinHandle<Option<Failure>>>);

impl Check {
    /// Begins to look. Needs a runtime around it.
    pub(super) fn begin(environment: &Environment) -> Self {
        let environment = environment.clone();
        Self(Some(spawn_blocking(move || problem(&environment))))
    }

    /// Says, once, on one line of standard error where the file is broken, and
    /// what is used in its place.
    pub(super) async fn tell(&mut self, gateway: &Gateway) {
        let Some(problem) = self.0.take() else {
            return;
        };
        if let Ok(Some(problem)) = problem.await {
            warn(gateway, &problem.text()).await;
        }
    }
}

fn problem(environment: &Environment) -> Option<Failure> {
    match openclaw_settings::load(environment) {
        // Of the environment the daemons have their own.
        Err(error) if !error.is_beyond_file() => Some(Failure::from(error)),
        _ => None,
    }
}

async fn warn(gateway: &Gateway, problem: &str) {
    let told = timeout(DEADLINE, gateway.client.status()).await;
    let told = told.ok().and_then(Result::ok);
    let told = told.map(|status| status.configuration_problem);
    let told = told.as_deref().unwrap_or_default();
    let instead = match told.rsplit_once("; using ") {
        // At the start there was none before it.
        Some((_, what)) if what != "the one before" => what,
        _ => BEFORE,
    };
    let line = format!("{problem}; using {instead} until it is mended");
    output::stderr_line(&format!("warning: {}", output::line(&line)));
}
