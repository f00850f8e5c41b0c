//! One turn: ask the runner what to do, do it, say how it ended.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::process::ExitCode;
use std::sync::Arc;

use openclaw_tools::{Registry, Workspace};
use openclaw_turn::{Code, Event, Mode, Offer, StopReason, TurnRequest};

use crate::emitter::Emitter;
use crate::failure::{Failure, TurnError};
use crate::images::Images;
use crate::socket::{SocketError, TurnSocket};
use crate::toolbox::{self, Runner};
use crate::{host, native, offline, process};

/// How a turn ended that did not fail.
pub(crate) struct Done {
    pub(crate) stop_reason: StopReason,
    pub(crate) model: String,
}

/// Answers the one message that the runner tells of over standard input; the
/// code says whether the turn could be run at all.
pub fn main() -> ExitCode {
    let Ok(out) = Emitter::stdout() else {
        return ExitCode::FAILURE;
    };
    report_panics(&out);
    let ended = catch_unwind(AssertUnwindSafe(|| process::run(run(&out))));
    let message = match ended {
        Ok(Ok(code)) => return code,
        Ok(Err(error)) => format!("cannot set up the agent process: {error}"),
        Err(_) => "the agent crashed; its log has the details".to_owned(),
    };
    // Without a reader the exit code is all there is.
    let _ = out.emit(&Failure::new(Code::Internal, message).event());
    ExitCode::FAILURE
}

/// In release builds a panic aborts, so the hook is the last to speak. Where
/// panics unwind, a tool's ends as that tool's error and is not the end.
fn report_panics(out: &Emitter) {
    if !cfg!(panic = "abort") {
        return;
    }
    let Ok(out) = out.try_clone() else { return };
    let log = take_hook();
    set_hook(Box::new(move |panic| {
        let message = format!("the agent crashed: {panic}");
        let _ = out.emit(&Failure::new(Code::Internal, message).event());
        log(panic);
    }));
}

async fn run(out: &Emitter) -> ExitCode {
    let said = match turn(out).await {
        Ok(done) => out.emit(&Event::Done {
            stop_reason: done.stop_reason,
            model: done.model.as_str().into(),
        }),
        Err(TurnError::Failed(failure)) => out.emit(&failure.event()),
        Err(TurnError::Output(error)) => Err(error),
    };
    match said {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            process::log(&format!("cannot write events: {error}"));
            ExitCode::FAILURE
        }
    }
}

async fn turn(out: &Emitter) -> Result<Done, TurnError> {
    let socket = TurnSocket::from_stdin().await.map_err(internal)?;
    let socket = Arc::new(socket);
    let mut request = socket.turn().await.map_err(internal)?;
    let tools = Tools::new(&request, &socket, out)?;
    let registry = tools.registry(std::mem::take(&mut request.offer))?;
    match request.mode {
        Mode::Native => native::run(request, registry, &tools, &socket, out).await,
        Mode::Offline => offline::run(&request, &registry, &socket, out).await,
    }
}

/// What the tools of a turn have in common, whichever there are.
pub(crate) struct Tools {
    workspace: Workspace,
    runner: Runner,
    /// Those of results.
    pub(crate) images: Images,
    out: Emitter,
}

impl Tools {
    fn new(request: &TurnRequest, socket: &Arc<TurnSocket>, out: &Emitter) -> io::Result<Self> {
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
        let registry = toolbox::registry(offer, &self.workspace, &self.runner, &self.images);
        let mut registry = registry.map_err(internal)?;
        let out = self.out.try_clone()?;
        registry.listen(move |call_id, text| {
            // Without a reader the turn ends at the next event that counts.
            let _ = out.tool_output(call_id, text);
        });
        Ok(registry)
    }
}

fn internal(error: impl std::error::Error) -> Failure {
    Failure::new(Code::Internal, chain(&error))
}

/// What a failed request to the runner means for the turn.
pub(crate) fn socket_failure(error: &SocketError) -> Failure {
    Failure::new(Code::Network, chain(error))
}

/// An error with everything behind it.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(&format!(": {error}"));
        source = error.source();
    }
    text
}
