//! A configuration that cannot be used: the reply comes all the same, by other
//! settings than the user wrote.

use std::time::Duration;

use openclaw_config::Environment;
use openclaw_terminal::{Failure, output};
use tokio::time::timeout;

use crate::connection::Gateway;

/// How long the gateway may take to say what it uses instead.
const DEADLINE: Duration = Duration::from_secs(3);
/// What is used instead where the gateway has not read the file yet, or does
/// not say.
const BEFORE: &str = "the configuration before it";

/// Says on one line of standard error where the file is broken, and what is
/// used in its place.
pub(super) async fn warn(gateway: &Gateway, environment: &Environment) {
    let error = match openclaw_settings::load(environment) {
        // Of the environment the daemons have their own.
        Err(error) if !error.is_beyond_file() => error,
        _ => return,
    };
    let problem = Failure::from(error).text();
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
