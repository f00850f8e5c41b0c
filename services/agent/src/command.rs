//! A command of the user's own, which no model asked for.

use openclaw_tools::{Registry, ToolCall};
use openclaw_turn::{Code, StopReason, TurnRequest};

use crate::done::Done;
use crate::emitter::Emitter;
use crate::failure::{Failure, TurnError};

/// The tool that runs commands.
const SHELL: &str = "execute_shell";
/// What is said where it is not there.
const NONE: &str = "no command runs here: the sandbox is at level \"text\", the strictest that this machine gives \
     (`openclawctl status` says what gives more)";

/// Runs the command that the text of `request` is. What came of it is the result of
/// the tool; nothing is said beside it.
pub(crate) async fn run(
    request: &TurnRequest,
    registry: &Registry,
    out: &Emitter,
) -> Result<Done, TurnError> {
    if !registry.list().any(|tool| tool.name == SHELL) {
        return Err(Failure::new(Code::ResourceLimit, NONE).into());
    }
    let arguments = serde_json::from_str(&request.text);
    let arguments = arguments.map_err(|error| {
        let problem = format!("the command cannot be read: {error}");
        Failure::new(Code::Internal, problem)
    })?;
    let call = ToolCall {
        id: format!("call_{}", request.run_id),
        name: SHELL.to_owned(),
        arguments,
    };
    out.tool_call(&call)?;
    out.tool_result(&registry.execute(call).await)?;
    Ok(Done {
        stop_reason: StopReason::Stop,
        model: String::new(),
    })
}
