//! Whose keys are meant.

use openclaw_settings::Settings;
use openclaw_terminal::Failure;

/// The agent that is meant: the one that is named, or the default one.
pub(crate) fn named(wanted: Option<&str>, settings: &Settings) -> Result<String, Failure> {
    let wanted = wanted.unwrap_or(&settings.default_agent);
    if let Some(agent) = settings.agent(wanted) {
        return Ok(agent.id.clone());
    }
    let known = settings.agents.keys().map(String::as_str);
    let failure = Failure::new(format!("there is no agent {wanted:?}"));
    Err(failure.near(wanted, known, "openclawctl agents lists them"))
}
