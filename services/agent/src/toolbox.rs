//! The registry of one turn: built-in tools that run here, and tools that the
//! runner runs.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use openclaw_tools::{
    Builtin, Gate, HandlerError, RegisterError, Registry, ToolDefinition, Workspace,
};
use openclaw_turn::{APPROVAL, ApprovalQuestion, HostAnswer, HostTool, Offer, TurnRequest};
use serde_json::{Value, json};

use crate::emitter::Emitter;
use crate::failure::{TurnError, chain, internal};
use crate::images::Images;
use crate::socket::TurnSocket;
use crate::{host, process};

/// What the runner answers.
pub(crate) type Answering = Pin<Box<dyn Future<Output = Result<HostAnswer, HandlerError>> + Send>>;

/// The way to the runner: a tool's name and arguments.
pub(crate) type Runner = Arc<dyn Fn(String, Value) -> Answering + Send + Sync>;

/// What the tools of a turn have in common, whichever there are.
pub(crate) struct Tools {
    workspace: Workspace,
    runner: Runner,
    /// Those of results.
    pub(crate) images: Images,
    out: Emitter,
}

impl Tools {
    pub(crate) fn new(
        request: &TurnRequest,
        socket: &Arc<TurnSocket>,
        out: &Emitter,
    ) -> io::Result<Self> {
        let socket = Arc::clone(socket);
        let runner: Runner = Arc::new(move |name, arguments| {
            let socket = Arc::clone(&socket);
            Box::pin(async move {
                let answer = socket.tool(&name, &arguments).await;
                answer.map_err(|error| host::unreachable(chain(&error)))
            })
        });
        Ok(Self {
            workspace: Workspace::new(&request.workspace),
            runner,
            images: Images::default(),
            out: out.try_clone()?,
        })
    }

    /// Those of `offer`; what they say while they run is told at once.
    pub(crate) fn registry(&self, offer: Offer) -> Result<Registry, TurnError> {
        let registry = registry(offer, &self.workspace, &self.runner, &self.images);
        let mut registry = registry.map_err(internal)?;
        let out = self.out.try_clone()?;
        registry.listen(move |call_id, text| {
            // Without a reader the turn ends at the next event that counts.
            let _ = out.tool_output(call_id, text);
        });
        Ok(registry)
    }
}

/// The tools of `offer`, in its order, those from elsewhere last.
pub(crate) fn registry(
    offer: Offer,
    workspace: &Workspace,
    runner: &Runner,
    images: &Images,
) -> Result<Registry, RegisterError> {
    let mut registry = Registry::new();
    let mut workspace = workspace.clone().closed(offer.workspace_only);
    if let Some(seconds) = offer.command_seconds {
        workspace = workspace.with_patience(Duration::from_secs(seconds));
    }
    for name in &offer.tools {
        if let Some(tool) = Builtin::from_name(name) {
            tool.register(&mut registry, &workspace)?;
        } else if let Some(tool) = HostTool::from_name(name).map(HostTool::definition) {
            add(&mut registry, tool, runner, images)?;
        } else {
            process::log(&format!(
                "no such tool here: {name}; the turn goes on without it"
            ));
        }
    }
    for tool in offer.host_tools {
        let name = tool.name.clone();
        if let Err(error) = add(&mut registry, tool, runner, images) {
            process::log(&format!(
                "{name} cannot be a tool: {error}; the turn goes on without it"
            ));
        }
    }
    for tool in HostTool::ALL.into_iter().filter(|tool| !tool.only_reads()) {
        registry.run_alone(tool.name());
    }
    offer
        .alone
        .into_iter()
        .for_each(|it| registry.run_alone(it));
    offer.denied.into_iter().for_each(|it| registry.deny(it));
    if !offer.gated.is_empty() {
        registry.guard(gate(offer.gated, Arc::clone(runner)));
    }
    Ok(registry)
}

/// A tool that the runner runs.
fn add(
    registry: &mut Registry,
    tool: ToolDefinition,
    runner: &Runner,
    images: &Images,
) -> Result<(), RegisterError> {
    let (runner, name) = (Arc::clone(runner), tool.name.clone());
    let images = images.clone();
    registry.register_with_context(tool, move |context, arguments| {
        let answering = runner(name.clone(), arguments);
        let images = images.clone();
        async move {
            let mut answer = answering.await?;
            images.put(context.call_id(), std::mem::take(&mut answer.images));
            host::result(answer)
        }
    })
}

/// Asks the runner, which asks people where it must.
fn gate(tools: Vec<String>, runner: Runner) -> Gate {
    Gate::new(tools, move |call_id, tool, arguments| {
        let question = ApprovalQuestion {
            call_id: call_id.to_owned(),
            tool: tool.to_owned(),
            arguments: arguments.clone(),
        };
        let answering = runner(APPROVAL.to_owned(), json!(question));
        async move { host::result(answering.await?).map(drop) }
    })
}
