//! `message`: one message, and the reply as it comes.

use std::process::ExitCode;
use std::time::Duration;

use openclaw_attachments::attachment;
use openclaw_config::{Environment, Paths};
use openclaw_proto::gateway::Message;
use openclaw_terminal::Failure;

use crate::cli;
use openclaw_connection::{self as connection, Gateway};

mod configuration;
mod conversation;
mod form;
mod input;
mod interruption;
mod listener;
mod question;
mod rendered;
mod session;
mod sink;
mod spent;
mod summary;
mod thoughts;
mod trace;

pub(crate) use form::Form;
pub(crate) use session::find as session_named;

/// Whoever is told the id of the run that a message began.
pub(crate) type Note = Box<dyn Fn(&str)>;

/// One message with its reply.
pub(crate) struct Turn<'a> {
    pub(crate) gateway: Gateway,
    pub(crate) form: Form,
    pub(crate) environment: &'a Environment,
    pub(crate) message: Message,
    /// The session, where it is still to begin.
    pub(crate) new_session: Option<session::New>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) note: Option<Note>,
}

impl Turn<'_> {
    /// Sends the message and prints the reply.
    pub(crate) async fn run(self) -> Result<ExitCode, Failure> {
        let sink = form::choose(self.form);
        let stops = interruption::Stops::install(self.timeout)?;
        let questions = question::Questions::new(self.form.json);
        let names = listener::Names {
            new_session: self.new_session,
            note: self.note,
        };
        listener::Listener::new(self.gateway, sink, questions, names, self.environment)
            .listen(self.message, stops)
            .await
    }
}

/// A message of `text` for `session`, which `agent` answers; both may be empty.
pub(crate) fn new(text: String, session: &str, agent: &str) -> Message {
    Message {
        text,
        session_key: session.to_owned(),
        agent_id: agent.to_owned(),
        // Sent again with the same key after a broken connection, the message
        // is still one message.
        idempotency_key: uuid::Uuid::now_v7().to_string(),
        channel: "cli".to_owned(),
        route: None,
    }
}

/// Sends the message and prints the reply.
pub(crate) fn execute(
    arguments: cli::Message,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let paths = Paths::resolve(environment)?;
    let agent = arguments.agent.unwrap_or_default();
    let files = attachment::read(&arguments.files, environment)?;
    let text = if arguments.text.is_empty() && !files.is_empty() {
        String::new()
    } else {
        input::text(&arguments.text)?
    };
    let mut message = new(text, "", &agent);
    let form = Form {
        json: arguments.json,
        stream: !arguments.no_stream,
        verbose: arguments.verbose,
        raw: arguments.raw,
    };
    let runtime = connection::runtime()?;
    let result = runtime.block_on(async {
        let gateway = Gateway::at(&paths);
        let named = match &arguments.session {
            Some(session) => session::find(&gateway, session, &message.agent_id).await?,
            None => session::Named::default(),
        };
        message.session_key = named.key;
        let failure = |error: &_| gateway.failure(error);
        attachment::put(&gateway.client, failure, &mut message, files).await?;
        let turn = Turn {
            gateway,
            form,
            environment,
            message,
            new_session: named.new,
            timeout: arguments.timeout,
            note: None,
        };
        turn.run().await
    });
    // A request that still waits must not hold the exit.
    runtime.shutdown_background();
    result
}
