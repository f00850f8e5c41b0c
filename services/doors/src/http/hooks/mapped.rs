//! `POST <path>/NAME`: what `hooks.mappings` makes of what is sent.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{Response, StatusCode};
use openclaw_settings::gateway::hooks::{Action, Hooks, Mapping};
use serde_json::{Value, json};
use std::time::Duration;

use super::super::problem::Problem;
use super::super::{answer, body};
use super::agent::{self, Work};
use super::policy::{self, Wanted};
use super::template::Sent;
use super::wake::{self, Event};
use super::{BODY_LIMIT, Mode};
use crate::doors::Doors;

/// Items of a list that become calls, as in OpenClaw.
const ITEMS: usize = 200;
/// Bytes of a call that carries mails, as OpenClaw derives it from the 20,000
/// bytes of each that its watcher passes on.
const MAIL_BODY_LIMIT: usize = 100 * (3 * 20_000 + 8_192);
/// Where mails come in.
const MAIL_PATH: &str = "gmail";
/// What went wrong that a caller is told of a list.
const PROBLEMS: usize = 5;

/// Something to be done.
enum Deed {
    Work(Box<Work>),
    Event(Event),
}

/// What became of a call's deeds.
#[derive(Default)]
struct Done {
    runs: Vec<String>,
    /// Of the events: whether one was new.
    queued: Option<bool>,
    mode: Mode,
    problems: Vec<Problem>,
}

/// Answers a call of a hook with a name of the user's own.
pub(super) async fn call(
    doors: Arc<Doors>,
    hooks: &Hooks,
    name: &str,
    request: Request,
) -> Result<Response<Body>, Problem> {
    let (headers, uri) = (request.headers().clone(), request.uri().clone());
    let name = name.trim_matches('/');
    let may_match = |mapping: &&Mapping| mapping.path.as_deref().is_none_or(|path| path == name);
    if name.is_empty() || !hooks.mappings.iter().any(|it| may_match(&it)) {
        return Err(Problem::not_found(uri.path()));
    }
    let limit = if name == MAIL_PATH {
        MAIL_BODY_LIMIT
    } else {
        BODY_LIMIT
    };
    let mut payload: Value = body::json_of_any_type(request, limit).await?;
    let source = payload.get("source").and_then(Value::as_str);
    let is_meant = |mapping: &&Mapping| {
        may_match(mapping)
            && mapping
                .source
                .as_deref()
                .is_none_or(|it| Some(it) == source)
    };
    let Some(mapping) = hooks.mappings.iter().find(is_meant) else {
        return Err(Problem::not_found(uri.path()));
    };
    let mut done = Done::default();
    for item in items(mapping, &mut payload) {
        if let (Some(field), Some(item)) = (&mapping.for_each, item) {
            payload[field.as_str()] = Value::Array(vec![item]);
        }
        let sent = Sent {
            payload: &payload,
            headers: &headers,
            query: uri.query().unwrap_or_default(),
            path: name,
        };
        match deed(&doors, hooks, mapping, &sent) {
            Ok(deed) => done.take(&doors, deed).await,
            Err(problem) => done.problems.push(problem),
        }
    }
    done.answer()
}

/// The items of the list that is called for, or the whole once.
fn items(mapping: &Mapping, payload: &mut Value) -> Vec<Option<Value>> {
    let Some(field) = &mapping.for_each else {
        return vec![None];
    };
    let Some(Value::Array(items)) = payload.get_mut(field).map(Value::take) else {
        return Vec::new();
    };
    if items.len() > ITEMS {
        tracing::warn!(
            mapping = mapping.id,
            items = items.len(),
            "a hook sent more than {ITEMS} items at once; the others are left out"
        );
    }
    items.into_iter().take(ITEMS).map(Some).collect()
}

fn deed(doors: &Doors, hooks: &Hooks, mapping: &Mapping, sent: &Sent<'_>) -> Result<Deed, Problem> {
    if let Some(module) = &mapping.transform {
        let message = format!(
            "hooks.mappings: {} is made by {module}, and no programs of OpenClaw's are run here; \
             give it a messageTemplate or a textTemplate instead of transform",
            mapping.id
        );
        return Err(Problem::new(
            StatusCode::NOT_IMPLEMENTED,
            "transform",
            message,
        ));
    }
    match mapping.action {
        Action::Wake => event(doors, hooks, mapping, sent).map(Deed::Event),
        Action::Agent => work(doors, hooks, mapping, sent).map(|work| Deed::Work(Box::new(work))),
    }
}

fn event(
    doors: &Doors,
    hooks: &Hooks,
    mapping: &Mapping,
    sent: &Sent<'_>,
) -> Result<Event, Problem> {
    let text = sent.fill(&mapping.text);
    if text.trim().is_empty() {
        return Err(Problem::invalid(
            "textTemplate",
            "makes nothing of what was sent",
        ));
    }
    let agent = agent_of(doors, hooks, mapping)?;
    Ok(Event {
        key: policy::main_session(doors, &agent)?,
        text,
        mode: Mode::from(mapping.wake_mode),
    })
}

fn work(doors: &Doors, hooks: &Hooks, mapping: &Mapping, sent: &Sent<'_>) -> Result<Work, Problem> {
    if let Some(channel) = &mapping.channel
        && mapping.deliver
    {
        return Err(Problem::invalid("channel", agent::no_channel(channel)));
    }
    let message = sent.fill(&mapping.message);
    if message.trim().is_empty() {
        return Err(Problem::invalid(
            "messageTemplate",
            "makes nothing of what was sent",
        ));
    }
    let fill = |template: &Option<String>| template.as_ref().map(|it| sent.fill(it));
    let wanted = wanted(mapping, sent)?;
    let name = agent::name(&fill(&mapping.name).unwrap_or_default());
    let agent = agent_of(doors, hooks, mapping)?;
    Ok(Work {
        session: policy::session(hooks, wanted.as_ref(), mapping.session_mode)?,
        // A list that is sent again is not worked through again.
        repeat: match mapping.for_each {
            Some(_) => agent::repeat(&["mapped", &mapping.id, &agent, &name, &message]),
            None => String::new(),
        },
        message,
        name,
        agent,
        is_foreign: !mapping.trusts_content,
        wake_mode: Mode::from(mapping.wake_mode),
        deliver: mapping.deliver,
        model: agent::model(fill(&mapping.model))?,
        thinking: agent::thinking(fill(&mapping.thinking))?,
        timeout: mapping.timeout.map(Duration::from_secs),
    })
}

/// An agent that is not there any more is the default one, as in OpenClaw.
fn agent_of(doors: &Doors, hooks: &Hooks, mapping: &Mapping) -> Result<String, Problem> {
    let settings = doors.core.configuration.settings();
    let named = mapping.agent_id.as_deref();
    let known = named.filter(|id| settings.agent(id).is_some());
    policy::agent(doors, hooks, known)
}

fn wanted(mapping: &Mapping, sent: &Sent<'_>) -> Result<Option<Wanted>, Problem> {
    let Some(template) = &mapping.session_key else {
        return Ok(None);
    };
    if !template.contains("{{") {
        return Ok(Some(Wanted::Configured(template.clone())));
    }
    let key = sent.fill(template);
    if key.trim().is_empty() {
        return Err(Problem::invalid(
            "sessionKey",
            "makes nothing of what was sent",
        ));
    }
    Ok(Some(Wanted::Callers(key)))
}

impl Done {
    async fn take(&mut self, doors: &Arc<Doors>, deed: Deed) {
        match deed {
            Deed::Event(event) => {
                self.mode = event.mode;
                match wake::tell(doors, event).await {
                    Ok(woken) => {
                        self.queued = Some(self.queued.unwrap_or(false) || woken.is_new);
                    }
                    Err(problem) => self.problems.push(problem),
                }
            }
            Deed::Work(work) => match work.begin(doors).await {
                Ok(begun) => {
                    self.runs.push(begun.run_id.clone());
                    tokio::spawn(begun.finish(Arc::clone(doors)));
                }
                Err(problem) => self.problems.push(problem),
            },
        }
    }

    fn answer(mut self) -> Result<Response<Body>, Problem> {
        if self.runs.is_empty() && self.queued.is_none() && self.problems.len() == 1 {
            return Err(self.problems.remove(0));
        }
        if !self.problems.is_empty() {
            let words: Vec<&str> = self
                .problems
                .iter()
                .take(PROBLEMS)
                .map(|it| it.words().1)
                .collect();
            let document = json!({
                "ok": false,
                "error": "not everything that was sent could be begun",
                "errors": words,
                "runIds": self.runs,
            });
            return Ok(answer::json(StatusCode::BAD_GATEWAY, &document));
        }
        let mut document = json!({"ok": true});
        if let Some(queued) = self.queued {
            document["mode"] = json!(self.mode.as_str());
            document["eventOutcome"] = json!(wake::outcome(queued));
        }
        match self.runs.as_slice() {
            [] if self.queued.is_none() => return Ok(answer::empty(StatusCode::NO_CONTENT)),
            [] => {}
            [run] => document["runId"] = json!(run),
            runs => {
                document["runId"] = json!(runs[0]);
                document["dispatched"] = json!(runs.len());
                document["runIds"] = json!(runs);
            }
        }
        Ok(answer::json(StatusCode::OK, &document))
    }
}
