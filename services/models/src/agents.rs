//! `agents`: who answers with what.

use std::process::ExitCode;

use openclaw_config::Environment;
use openclaw_settings::Settings;
use openclaw_terminal::table::{self, Shape};
use openclaw_terminal::{Failure, output};
use serde_json::{Value, json};

use openclaw_connection as connection;
use openclaw_status::{self as status, AgentModel, Answer, Suite};

use crate::arguments::Agents;

/// What a narrow terminal does without: agents and models are told apart by the ends of their names.
const SHAPE: Shape<'_> = Shape {
    optional: &["WORKSPACE"],
    least: &[
        ("AGENT", 32),
        ("BACKEND", 10),
        ("MODEL", 40),
        ("WORKSPACE", 20),
        ("PROBLEM", 20),
    ],
};

impl Agents {
    /// Prints the configured agents, with what answers each where that is known.
    ///
    /// # Errors
    /// When the configuration cannot be used, or nothing can be printed.
    pub fn execute(&self, environment: &Environment) -> Result<ExitCode, Failure> {
        list(self.json, environment)
    }
}

fn list(is_json: bool, environment: &Environment) -> Result<ExitCode, Failure> {
    let settings = openclaw_settings::load_usable(environment)?;
    let suite = connection::runtime()?.block_on(status::ask(&settings.paths));
    let known = suite.runner.given().map(|it| it.agents.as_slice());
    let known = known.unwrap_or_default();
    let agents = settings.agents.keys();
    let agents = agents.map(|id| (id.as_str(), known.iter().find(|it| it.agent_id == *id)));
    if is_json {
        let documents = agents.map(|(id, answering)| document(id, answering, &settings));
        output::document(&documents.collect::<Vec<_>>())?;
        runner_answers(&suite)?;
        return Ok(ExitCode::SUCCESS);
    }
    let head = ["AGENT", "BACKEND", "MODEL", "WORKSPACE", "PROBLEM"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(agents.map(|(id, answering)| row(id, answering, &settings)));
    table::print_named(&rows, SHAPE)?;
    runner_answers(&suite)?;
    Ok(ExitCode::SUCCESS)
}

/// Fails where who answers with what is not known, because the daemon that knows it does
/// not answer.
pub(crate) fn runner_answers(suite: &Suite) -> Result<(), Failure> {
    let Answer::Missing { problem } = &suite.runner else {
        return Ok(());
    };
    let said = format!("what answers is not known: {problem}");
    Err(Failure::new(said).hint(connection::START))
}

/// The name of a model, with its provider.
pub(crate) fn model(answering: &AgentModel) -> String {
    match (answering.provider.as_str(), answering.model.as_str()) {
        (_, "") => "-".to_owned(),
        ("", model) => model.to_owned(),
        (provider, model) => format!("{provider}/{model}"),
    }
}

fn workspace(id: &str, settings: &Settings) -> String {
    let agent = settings.agent(id);
    agent.map_or_else(String::new, |it| it.workspace.display().to_string())
}

fn row(id: &str, answering: Option<&AgentModel>, settings: &Settings) -> Vec<String> {
    let name = if id == settings.default_agent {
        format!("{id} (default)")
    } else {
        id.to_owned()
    };
    let backend = match answering {
        None => "not known",
        Some(answering) if answering.backend.is_empty() => "nobody",
        Some(answering) => &answering.backend,
    };
    let problems = answering.map(|it| it.problems.iter()).into_iter().flatten();
    let problems: Vec<String> = problems
        .map(|it| format!("{}: {}", it.key, it.problem))
        .collect();
    vec![
        name,
        backend.to_owned(),
        answering.map_or_else(|| "-".to_owned(), model),
        workspace(id, settings),
        problems.join("; "),
    ]
}

fn document(id: &str, answering: Option<&AgentModel>, settings: &Settings) -> Value {
    json!({
        "id": id,
        "isDefault": id == settings.default_agent,
        "workspace": workspace(id, settings),
        "answering": answering,
    })
}
