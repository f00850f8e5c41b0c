//! `chat`: a conversation at a terminal, message after message.

mod completion;
mod editor;
mod known;
mod modes;
mod others;
mod own;

use std::collections::HashSet;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openclaw_attachments::{Content, attachment};
use openclaw_config::{Environment, Paths};
use openclaw_proto::call::Patience;
use openclaw_proto::sessions::Query;
use openclaw_terminal::quiet::TerminalModes;
use openclaw_terminal::{Failure, output};

use crate::cli;
use crate::message::{self, Form, Turn};
use openclaw_connection::{self as connection, Gateway, PATIENCE};
use openclaw_connection::{Signals, ended_by};

use editor::{Editor, Typed};
use own::Own;

/// What to type when nothing is known.
const GREETING: &str = "Type a message; /help lists the commands, Ctrl-D leaves.";
/// The key of the main session of the agent that answers.
const MAIN: &str = "main";

/// What is done here, which whoever listens to others has to know.
#[derive(Debug, Default)]
struct Here {
    /// The runs that were begun here; what others begin is told.
    runs: Mutex<HashSet<String>>,
    /// Held while a message is answered: nothing else is printed then.
    busy: tokio::sync::Mutex<()>,
}

impl Here {
    fn begin(&self, run_id: &str) {
        self.runs().insert(run_id.to_owned());
    }

    /// Whether the run is another client's; known when nothing is being answered.
    async fn is_of_others(&self, run_id: &str) -> bool {
        let _busy = self.busy.lock().await;
        !self.runs().contains(run_id)
    }

    fn runs(&self) -> MutexGuard<'_, HashSet<String>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Talks until whoever types leaves.
pub(crate) fn execute(
    arguments: cli::Chat,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    if !openclaw_terminal::question::can_be_asked() || !output::stdout_is_terminal() {
        return Err(Failure::usage("a chat needs a terminal")
            .hint("openclawctl message \"text\" sends one message from anywhere"));
    }
    let paths = Paths::resolve(environment)?;
    let terminal = TerminalModes::now();
    let runtime = connection::runtime()?;
    let result = runtime.block_on(async {
        let gateway = Gateway::at(&paths);
        let mut chat = Chat {
            agent: arguments.agent.unwrap_or_default(),
            form: Form {
                json: false,
                stream: true,
                verbose: arguments.verbose,
                raw: arguments.raw,
            },
            session: String::new(),
            here: Arc::default(),
            gateway,
            environment: environment.clone(),
        };
        chat.go_to(arguments.session.as_deref().unwrap_or(MAIN))
            .await?;
        chat.hold(Editor::open(&paths)?).await
    });
    // What others say is still listened to.
    runtime.shutdown_background();
    drop(terminal);
    result.map(|()| ExitCode::SUCCESS)
}

struct Chat {
    gateway: Gateway,
    environment: Environment,
    form: Form,
    agent: String,
    /// The session's key.
    session: String,
    here: Arc<Here>,
}

impl Chat {
    /// Asks for a line and answers it, until there is none.
    async fn hold(&mut self, mut editor: Editor) -> Result<(), Failure> {
        output::stderr_faint_line(GREETING);
        editor.knows_sessions(self.session_keys().await);
        let mut listener = self.listen(&mut editor)?;
        let printer = editor.printer()?;
        editor.modes().follow(printer)?;
        // Ctrl-C ends a turn or a line.
        let mut signals = Signals::take_but_interrupt()?;
        loop {
            let typed;
            (editor, typed) = tokio::select! {
                biased;
                kind = signals.next() => {
                    // What was being typed is left behind.
                    output::stderr("\n");
                    return Err(ended_by(kind));
                }
                read = editor.read() => read?,
            };
            let text = match typed {
                Typed::Text(text) => text,
                Typed::Nothing => continue,
                Typed::End => return Ok(()),
            };
            match Own::read(&text) {
                Some(Own::Leave) => return Ok(()),
                Some(Own::Help) => {
                    own::tell()?;
                    self.say(text, Vec::new()).await?;
                }
                Some(Own::Session(None)) => output::stdout_line(&self.session)?,
                Some(Own::Session(Some(name))) => match self.go_to(&name).await {
                    Ok(()) => {
                        listener.abort();
                        listener = self.listen(&mut editor)?;
                        output::stderr_faint_line(&format!("{} from now on", self.session));
                    }
                    Err(failure) => {
                        failure.report();
                    }
                },
                Some(Own::Mistaken(mistake)) => drop(mistake.failure().report()),
                Some(Own::Paste(text)) => match openclaw_attachments::picture(attachment::LIMIT) {
                    Ok(picture) => self.say(text, vec![picture]).await?,
                    Err(failure) => {
                        failure.report();
                    }
                },
                None => match attachment::of_text(&text, &self.environment) {
                    Ok(files) => self.say(text, files).await?,
                    Err(failure) => {
                        failure.report();
                    }
                },
            }
        }
    }

    /// Sends `text` with `files` and shows what is answered. What goes wrong is said, and the
    /// next message may be typed; only where nobody reads any more it ends.
    async fn say(&self, text: String, files: Vec<Content>) -> Result<(), Failure> {
        let here = Arc::clone(&self.here);
        let _busy = self.here.busy.lock().await;
        let mut message = message::new(text, &self.session, &self.agent);
        let failure = |error: &_| self.gateway.failure(error);
        let client = &self.gateway.client;
        if let Err(failure) = attachment::put(client, failure, &mut message, files).await {
            failure.report();
            return Ok(());
        }
        let turn = Turn {
            gateway: self.gateway.clone(),
            form: self.form,
            environment: &self.environment,
            message,
            new_session: None,
            timeout: None,
            note: Some(Box::new(move |run: &str| here.begin(run))),
        };
        match turn.run().await {
            Ok(_) => Ok(()),
            Err(failure) if failure.is_of_reader() => Err(failure),
            Err(failure) => {
                failure.report();
                Ok(())
            }
        }
    }

    /// Talks in the session that `name` means from now on; one that is not there
    /// begins with the next message.
    async fn go_to(&mut self, name: &str) -> Result<(), Failure> {
        let named = message::session_named(&self.gateway, name, &self.agent).await?;
        if let Some(new) = &named.new {
            let name = &new.name;
            output::stderr_faint_line(&format!("{name} begins with the first message"));
            new.tell_near();
        }
        self.session = named.key;
        Ok(())
    }

    fn listen(&self, editor: &mut Editor) -> Result<tokio::task::JoinHandle<()>, Failure> {
        let printer = editor.printer()?;
        let telling = others::tell(
            self.gateway.clone(),
            self.session.clone(),
            Arc::clone(&self.here),
            printer,
        );
        Ok(tokio::spawn(telling))
    }

    /// For completion; without them there is none.
    async fn session_keys(&self) -> Vec<String> {
        let list = || self.gateway.sessions.list(Query::default());
        let page = Patience::of(PATIENCE).call(list).await;
        let sessions = page.map(|page| page.sessions).unwrap_or_default();
        sessions.into_iter().map(|session| session.key).collect()
    }
}
