//! `message`: one message, and the reply as it comes.

use std::process::ExitCode;

use openclaw_config::{Environment, Paths};
use openclaw_proto::gateway::Message;
use openclaw_terminal::Failure;

use crate::cli;
use crate::connection::{self, Gateway};

mod configuration;
mod conversation;
mod input;
mod interruption;
mod listener;
mod question;
mod session;
mod sink;
mod summary;
mod trace;

/// Sends the message and prints the reply.
pub(crate) fn execute(
    arguments: cli::Message,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let paths = Paths::resolve(environment)?;
    let mut message = Message {
        text: input::text(&arguments.text)?,
        session_key: String::new(),
        agent_id: arguments.agent.unwrap_or_default(),
        // Sent again with the same key after a broken connection, the message
        // is still one message.
        idempotency_key: uuid::Uuid::now_v7().to_string(),
        channel: "cli".to_owned(),
        route: None,
    };
    let sink = sink::choose(arguments.json, !arguments.no_stream, arguments.verbose);
    let runtime = connection::runtime()?;
    let result = runtime.block_on(async {
        let gateway = Gateway::at(&paths);
        let named = match &arguments.session {
            Some(session) => session::find(&gateway, session, &message.agent_id).await?,
            None => session::Named::default(),
        };
        message.session_key = named.key;
        let stops = interruption::Stops::install(arguments.timeout)?;
        let questions = question::Questions::new(arguments.json);
        listener::Listener::new(gateway, sink, questions, named.new, environment)
            .listen(message, stops)
            .await
    });
    // A request that still waits must not hold the exit.
    runtime.shutdown_background();
    result
}
