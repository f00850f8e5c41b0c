//! `models list|test`.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use openclaw_config::nearest::nearest;
use openclaw_config::{Environment, Paths};
use openclaw_proto::event::Kind;
use openclaw_proto::gateway::{Message, Reply};
use openclaw_proto::sessions::{Change, Named};
use openclaw_settings::{Settings, UnknownModel};
use openclaw_terminal::table::{self, Shape};
use openclaw_terminal::{Failure, output, words};
use serde_json::json;
use tokio_stream::StreamExt as _;

use openclaw_connection::{self as connection, Gateway};
use openclaw_status::{self as status, Suite};

use crate::agents;
use crate::arguments::{Action, List, Models, Test};

/// What is asked.
const QUESTION: &str = "Answer with the one word ready, and do nothing else.";
/// Characters of the answer that are shown.
const SHOWN: usize = 60;

/// What a narrow terminal does without.
const SHAPE: Shape<'_> = Shape {
    optional: &["CONTEXT"],
    least: &[("MODEL", 40), ("ANSWERS", 12), ("PROBLEM", 20)],
};

impl Models {
    /// Lists them, or asks one.
    ///
    /// # Errors
    /// When the configuration cannot be used, nobody can be asked, or none answers.
    pub fn execute(&self, environment: &Environment) -> Result<ExitCode, Failure> {
        match &self.action {
            Action::List(arguments) => list(arguments, environment),
            Action::Test(arguments) => test(arguments, environment),
        }
    }
}

fn list(arguments: &List, environment: &Environment) -> Result<ExitCode, Failure> {
    let settings = openclaw_settings::load_usable(environment)?;
    let suite = connection::runtime()?.block_on(status::ask(&settings.paths));
    let models = answering(&suite, &settings);
    let fault = |model: &str| {
        let (provider, _) = model.split_once('/')?;
        let fault = settings.provider_faults.get(provider).cloned();
        fault.or_else(|| Some(settings.known_models.check(model).err()?.to_string()))
    };
    if arguments.json {
        let document = |(model, agents): &(String, Vec<String>)| {
            let window = settings.context_window(Some(model));
            json!({
                "model": model, "contextWindow": window, "answers": agents, "problem": fault(model),
            })
        };
        let documents: Vec<_> = models.iter().map(document).collect();
        output::document(&documents)?;
        agents::runner_answers(&suite)?;
        return Ok(ExitCode::SUCCESS);
    }
    if models.is_empty() {
        agents::runner_answers(&suite)?;
    }
    let head = ["MODEL", "CONTEXT", "ANSWERS", "PROBLEM"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(models.iter().map(|(model, agents)| {
        let window = settings.context_window(Some(model)).to_string();
        let problem = fault(model).unwrap_or_default();
        vec![model.clone(), window, agents.join(", "), problem]
    }));
    table::print_named(&rows, SHAPE)?;
    agents::runner_answers(&suite)?;
    Ok(ExitCode::SUCCESS)
}

fn test(arguments: &Test, environment: &Environment) -> Result<ExitCode, Failure> {
    let settings = openclaw_settings::load_usable(environment)?;
    if let Some(model) = &arguments.model {
        known(model, &settings)?;
    }
    let paths = Paths::resolve(environment)?;
    let runtime = connection::runtime()?;
    let tried = runtime.block_on(async {
        let gateway = Gateway::at(&paths);
        let session = session(&gateway, arguments).await?;
        let tried = ask(&gateway, &session, arguments.timeout).await;
        let named = Named {
            session: &session,
            ..Named::default()
        };
        // What stays is a session that nobody misses.
        let _ = gateway.sessions.delete(named, true).await;
        tried
    });
    runtime.shutdown_background();
    let tried = tried?;
    if arguments.json {
        output::document(&json!({
            "ok": tried.problem.is_none(),
            "model": tried.model,
            "backend": tried.backend,
            "answer": tried.answer,
            "problem": tried.problem,
            "milliseconds": tried.took.as_millis() as u64,
        }))?;
    } else if tried.problem.is_none() {
        output::stdout_line(&format!(
            "{} answers in {}: {}",
            tried.model,
            words::elapsed(tried.took),
            output::one_line(&tried.answer, SHOWN)
        ))?;
    }
    match tried.problem {
        None => Ok(ExitCode::SUCCESS),
        Some(_) if arguments.json => Ok(ExitCode::FAILURE),
        Some(problem) => Err(Failure::new(problem).hint("openclawctl status says what was found")),
    }
}

/// The models that answer and those that the configuration describes, each with the agents
/// that it answers.
fn answering(suite: &Suite, settings: &Settings) -> Vec<(String, Vec<String>)> {
    let known = suite.runner.given().map(|it| it.agents.as_slice());
    let mut models: Vec<(String, Vec<String>)> = Vec::new();
    for answering in known.unwrap_or_default() {
        let name = agents::model(answering);
        match models.iter_mut().find(|(model, _)| *model == name) {
            Some((_, agents)) => agents.push(answering.agent_id.clone()),
            None => models.push((name, vec![answering.agent_id.clone()])),
        }
    }
    for (provider, model) in settings.models.described() {
        let name = format!("{provider}/{model}");
        if !models.iter().any(|(model, _)| *model == name) {
            models.push((name, Vec::new()));
        }
    }
    models
}

/// The models that [`Test`] can be given, as far as they are known within `patience`: those
/// that `models list` lists, and the one that is set up for each agent.
pub fn names(environment: &Environment, patience: Duration) -> Option<Vec<String>> {
    let settings = openclaw_settings::load_usable(environment).ok()?;
    let suite = connection::runtime().ok()?.block_on(async {
        let asked = tokio::time::timeout(patience, status::ask(&settings.paths));
        asked.await.ok()
    });
    let listed = suite.map(|suite| answering(&suite, &settings));
    let mut names: Vec<String> = listed.into_iter().flatten().map(|(name, _)| name).collect();
    let described = settings.models.described();
    names.extend(described.map(|(provider, model)| format!("{provider}/{model}")));
    // Without a daemon that knows, as they are configured.
    names.extend(
        settings
            .agents
            .values()
            .filter_map(|agent| agent.model.clone()),
    );
    let mut known = std::collections::HashSet::new();
    names.retain(|name| name.contains('/') && known.insert(name.clone()));
    Some(names)
}

/// Whether the configuration has the model.
fn known(model: &str, settings: &Settings) -> Result<(), Failure> {
    settings.known_models.check(model).map_err(|unknown| {
        let described: Vec<String> = settings
            .models
            .described()
            .map(|(provider, model)| format!("{provider}/{model}"))
            .collect();
        let failure = Failure::new(unknown.to_string());
        if let UnknownModel::Provider { known, .. } = &unknown
            && let Some((provider, name)) = model.split_once('/')
            && let Some(near) = nearest(provider, known.iter().map(String::as_str))
        {
            return failure.hint(format!("did you mean \"{near}/{name}\"?"));
        }
        let described = described.iter().map(String::as_str);
        failure.near(model, described, "openclawctl models list shows them")
    })
}

/// A session for this alone.
async fn session(gateway: &Gateway, arguments: &Test) -> Result<String, Failure> {
    let key = format!("models-test-{}", uuid::Uuid::new_v4());
    let named = Named {
        session: &key,
        agent_id: arguments.agent.as_deref().unwrap_or_default(),
    };
    let change = |value: &String| Change {
        name: "model".to_owned(),
        value: value.clone(),
    };
    let changes = arguments.model.iter().map(change).collect();
    let made = gateway.sessions.create(named, changes, "").await;
    let made = made.map_err(|error| gateway.refused(&error))?;
    Ok(made.key)
}

struct Tried {
    model: String,
    backend: String,
    answer: String,
    problem: Option<String>,
    took: Duration,
}

async fn ask(gateway: &Gateway, session: &str, limit: Duration) -> Result<Tried, Failure> {
    let message = Message {
        text: QUESTION.to_owned(),
        session_key: session.to_owned(),
        agent_id: String::new(),
        idempotency_key: uuid::Uuid::new_v4().to_string(),
        channel: "cli".to_owned(),
        route: None,
    };
    let begun = Instant::now();
    let mut run_id = String::new();
    let answered = tokio::time::timeout(limit, async {
        let mut tried = Tried {
            model: String::new(),
            backend: String::new(),
            answer: String::new(),
            problem: None,
            took: Duration::ZERO,
        };
        let replies = gateway.client.send_message(message).await;
        let mut replies = std::pin::pin!(replies.map_err(|error| gateway.failure(&error))?);
        while let Some(reply) = replies.next().await {
            match reply.map_err(|error| gateway.failure(&error))? {
                Reply::Accepted(accepted, ..) => run_id = accepted.run_id,
                Reply::Event(event) => {
                    if tried.hears(event.kind) {
                        break;
                    }
                }
            }
        }
        tried.took = begun.elapsed();
        Ok::<_, Failure>(tried)
    })
    .await;
    match answered {
        Ok(tried) => tried,
        Err(_) => {
            let _ = gateway
                .client
                .cancel_run(&run_id, "openclawctl models test")
                .await;
            let limit = words::elapsed(limit);
            Err(Failure::new(format!("no answer within {limit}")).hint("--timeout waits longer"))
        }
    }
}

impl Tried {
    /// Whether that was the end.
    fn hears(&mut self, kind: Kind) -> bool {
        match kind {
            Kind::TextDelta { text } => self.answer.push_str(&text),
            Kind::Done(done) => {
                self.model = match done.provider.as_str() {
                    "" => done.model,
                    provider => format!("{provider}/{}", done.model),
                };
                if done.backend == "offline" {
                    self.problem = Some("no model is connected: memory answered".to_owned());
                }
                self.backend = done.backend;
                return true;
            }
            Kind::Failed(failed) => {
                self.backend = failed.backend;
                self.problem = Some(failed.message);
                return true;
            }
            Kind::Aborted { reason, .. } => {
                self.problem = Some(format!("the run was ended: {reason}"));
                return true;
            }
            _ => {}
        }
        false
    }
}
