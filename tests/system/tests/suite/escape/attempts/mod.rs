//! What an agent with a shell could try. Each line has to fail where its promise holds, and to succeed with the sandbox
//! off.
//!
//! `$H` is the user's home, `$UP` the way to it from the workspace, `$STATE` the state directory, `$R` the runtime
//! folder, `$S` that of the suite's sockets, `$BUS` the message bus and `$PRIVATE` the service manager's own socket;
//! `$A` the agent's name; `$GATEWAY` and `$RUNNER` the daemons' process numbers, `$WITNESS` another process, `$SEGMENT`
//! and `$QUEUE` its shared memory and message queue, `$PTS` its terminal; `$TOP` the agent's own program, `$KEY` half of
//! the model's key, `$PORT` a port that somebody outside keeps knocking at.

use super::attempt::Attempt;

mod doors;
mod kernel;
mod limits;
mod network;
mod processes;
mod reading;
mod sockets;
mod writing;

/// What the attempts use.
pub(crate) const FUNCTIONS: &str = include_str!("../programs/functions.sh");

/// Everything that is tried in one turn.
pub(crate) fn all() -> impl Iterator<Item = &'static Attempt> {
    [
        reading::ALL,
        writing::ALL,
        sockets::ALL,
        processes::ALL,
        kernel::ALL,
        network::ALL,
        doors::ALL,
        limits::ALL,
    ]
    .into_iter()
    .flatten()
}
