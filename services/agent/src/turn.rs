//! One turn: ask the runner what to do, do it, say how it ended.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::process::ExitCode;
use std::sync::Arc;

use openclaw_turn::{Code, Event, Mode};

use crate::done::Done;
use crate::emitter::Emitter;
use crate::failure::{Failure, TurnError, internal};
use crate::socket::TurnSocket;
use crate::toolbox::Tools;
use crate::{command, native, offline, process};

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
    let told = socket.turn().await.map_err(internal)?;
    let (mut request, history) = (told.request, told.history);
    let tools = Tools::new(&request, &socket, out)?;
    let registry = tools.registry(std::mem::take(&mut request.offer))?;
    match request.mode {
        Mode::Native => native::run((request, history), registry, &tools, &socket, out).await,
        Mode::Offline => offline::run(&request, &registry, &socket, out).await,
        Mode::Command => command::run(&request, &registry, out).await,
    }
}
