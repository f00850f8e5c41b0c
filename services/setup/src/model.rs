//! The step that connects a model.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context as _;
use openclaw_config::Environment;
use openclaw_config::secret::Secret;
use openclaw_credentials::login::Login;
use openclaw_settings::Settings;
use openclaw_terminal::{Failure, secret};
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, sleep};

use crate::key::{self, Provider};
use crate::{Step, asking, ollama};

const NAME: &str = "model";
/// What answers where no model does.
const OFFLINE: &str = "offline";
/// How long a changed configuration takes to be taken up; beyond it something
/// is wrong.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two looks at what answers.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// Models of Ollama's that are offered.
const OFFERED: usize = 8;
/// What else there is to be done.
const WAYS: &str = "log in to Claude Code (claude, then /login) or Codex (codex login); start Ollama; or give a key \
     (openclawctl setup, or --key-stdin with --yes)";

/// The suite that runs.
pub trait Suite {
    /// What would answer the next message; `None`: it does not say.
    fn answering(&self) -> Option<Answering>;
    /// Makes it read its credentials again.
    fn reload(&self);
    /// Shows a login that lies in the agent's home, and adopts it when somebody
    /// says so.
    ///
    /// # Errors
    /// When it was not adopted.
    fn adopt(&self, login: Login) -> Result<(), Failure>;
}

/// What would answer the next message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answering {
    /// The backend's name.
    pub backend: String,
    /// Why that one.
    pub reason: String,
    /// Whose model; empty: the one that a CLI takes.
    pub model: String,
    /// Why our own loop cannot.
    pub problem: String,
    /// The credentials that the default agent has, by their ids.
    pub profiles: Vec<String>,
}

/// What is wished for.
#[derive(Debug)]
pub struct Wish {
    /// Nobody is asked.
    pub unasked: bool,
    /// A key, and whose it is.
    pub given: Option<(Secret, Provider)>,
    /// Where Ollama is looked for.
    pub ollama: SocketAddr,
    /// Which of its models is to answer.
    pub model: Option<String>,
}

/// What is needed to connect a model.
pub struct Connection<'a> {
    wish: &'a Wish,
    settings: &'a Settings,
    environment: &'a Environment,
    suite: &'a dyn Suite,
    runtime: Runtime,
}

/// What somebody may take.
enum Choice {
    Ollama(String),
    Key(Provider),
    Login(Login),
}

impl<'a> Connection<'a> {
    /// A connection that is still to be made.
    ///
    /// # Errors
    /// When this process can wait for nothing.
    pub fn new(
        wish: &'a Wish,
        settings: &'a Settings,
        environment: &'a Environment,
        suite: &'a dyn Suite,
    ) -> Result<Self, Failure> {
        let runtime = Builder::new_current_thread().enable_all().build();
        Ok(Self {
            wish,
            settings,
            environment,
            suite,
            runtime: runtime.context("cannot set up the event loop")?,
        })
    }

    /// Connects one where none is: the key that was given, or what is found.
    ///
    /// # Errors
    /// When the terminal cannot be asked.
    pub fn make(&self) -> Result<Step, Failure> {
        if let Some((key, provider)) = &self.wish.given {
            return Ok(self.keep(key, *provider));
        }
        let Some(answering) = self.suite.answering() else {
            let why = "the agent-runner does not answer";
            return Ok(Step::failed(NAME, why, "openclawctl status says why"));
        };
        if answering.backend != OFFLINE {
            return Ok(Step::ok(NAME, answering.words()));
        }
        if answering.reason == "configured" {
            let why = "agents.defaults.backend is offline: no model is to answer";
            let fix = "openclawctl config unset agents.defaults.backend, then openclawctl setup";
            return Ok(Step::skipped(NAME, why).with(fix));
        }
        if self.wish.unasked {
            Ok(self.unasked(&answering))
        } else {
            self.asked()
        }
    }

    /// The first that is found. A login that lies in an agent's home is none of
    /// it: the agent may have put it there.
    fn unasked(&self, answering: &Answering) -> Step {
        if let Some(model) = self.configured() {
            let why = format!("{model} is configured: {}", answering.problem);
            return Step::failed(NAME, why, "openclawctl setup asks for another");
        }
        let wanted = self.wish.model.as_ref();
        match (self.models(), wanted) {
            (Ok(names), Some(wanted)) if !names.contains(wanted) => {
                let names = match &names[..] {
                    [] => "none".to_owned(),
                    names => names.join(", "),
                };
                let why = format!("Ollama has no model {wanted}; it has {names}");
                Step::failed(NAME, why, format!("ollama pull {wanted}"))
            }
            (Ok(names), wanted) => match wanted.or(names.first()) {
                Some(name) => self.use_ollama(name),
                None => Step::skipped(NAME, "Ollama runs and has no model that talks")
                    .with("ollama pull qwen3, then openclawctl setup"),
            },
            (Err(error), Some(wanted)) => {
                let why = format!("{wanted} was to answer, and {error}");
                Step::failed(NAME, why, "start Ollama, or say where it is with --ollama")
            }
            (Err(error), None) => {
                let why = format!("no login, no key, and no Ollama ({error}) was found");
                Step::skipped(NAME, why).with(WAYS)
            }
        }
    }

    fn asked(&self) -> Result<Step, Failure> {
        let mut choices: Vec<Choice> = Vec::new();
        let names = self.models().unwrap_or_default();
        choices.extend(names.into_iter().take(OFFERED).map(Choice::Ollama));
        choices.extend(self.logins().map(Choice::Login));
        choices.extend(Provider::ALL.map(Choice::Key));
        let texts: Vec<String> = choices.iter().map(|choice| self.text(choice)).collect();
        let chosen = asking::choice("Which model is to answer?", &texts)?;
        match chosen.and_then(|index| choices.into_iter().nth(index)) {
            Some(Choice::Ollama(name)) => Ok(self.use_ollama(&name)),
            Some(Choice::Login(login)) => Ok(self.adopt(login)),
            Some(Choice::Key(provider)) => {
                let question = format!("{}'s key (it is not shown): ", provider.title());
                match secret::ask(&question)? {
                    Some(key) => Ok(self.keep(&key, provider)),
                    None => Ok(Step::skipped(NAME, "no key was given").with(WAYS)),
                }
            }
            None => Ok(Step::skipped(NAME, "none was chosen").with(WAYS)),
        }
    }

    fn text(&self, choice: &Choice) -> String {
        match choice {
            Choice::Ollama(name) => {
                format!("{name}, which Ollama has at {}", self.wish.ollama)
            }
            Choice::Key(provider) => format!("a model of {}'s, with a key", provider.title()),
            Choice::Login(login) => {
                format!("{}, with the login in the agent's home", login.title())
            }
        }
    }

    fn keep(&self, key: &Secret, provider: Provider) -> Step {
        let (paths, agent) = (&self.settings.paths, &self.settings.default_agent);
        let wanted = key::Wanted {
            paths,
            agent_id: agent,
            environment: self.environment,
            replace: true,
            plain: false,
        };
        let kept = match key::keep(key, provider, wanted) {
            Ok(kept) => kept,
            Err(error) => {
                let fix = "openclawctl setup asks for a key, and does not show it";
                return Step::failed(NAME, Failure::from(anyhow::Error::from(error)).text(), fix);
            }
        };
        if kept.changed {
            self.suite.reload();
        }
        let what = format!("{}'s key is kept in {}", provider.title(), kept.words());
        let id = key::id(provider);
        self.taken_up(kept.changed, &what, |answering| {
            answering.profiles.contains(&id)
        })
    }

    fn use_ollama(&self, name: &str) -> Step {
        let address = self.wish.ollama;
        let paths = &self.settings.paths;
        match ollama::configure(name, address, paths, self.environment) {
            Ok(changed) => {
                let file = paths.configuration.display();
                let what = format!("ollama/{name} at {address} is in {file}");
                self.taken_up(changed, &what, |_| true)
            }
            Err(error) => {
                let why = Failure::from(error).text();
                Step::failed(NAME, why, "openclawctl config validate says what is wrong")
            }
        }
    }

    fn adopt(&self, login: Login) -> Step {
        match self.suite.adopt(login) {
            Ok(()) => self.taken_up(true, &format!("the login of {}", login.title()), |_| true),
            Err(failure) => Step::failed(NAME, failure.text(), "openclawctl auth adopt"),
        }
    }

    /// Waits until a model answers, and the suite has what `is_there` looks for,
    /// after a change or without one.
    fn taken_up(&self, changed: bool, what: &str, is_there: impl Fn(&Answering) -> bool) -> Step {
        let end = Instant::now() + PATIENCE;
        loop {
            let answering = self.suite.answering();
            let connected =
                |answering: &Answering| answering.backend != OFFLINE && is_there(answering);
            if let Some(answering) = answering.filter(connected) {
                let detail = format!("{what}; {}", answering.words());
                return if changed {
                    Step::done(NAME, detail)
                } else {
                    Step::ok(NAME, detail)
                };
            }
            if Instant::now() >= end {
                let why = format!("{what}, and still no model answers");
                return Step::failed(NAME, why, "openclawctl status says why");
            }
            // Made inside: a timer needs the runtime that it belongs to.
            self.runtime.block_on(async { sleep(LOOK_AGAIN).await });
        }
    }

    fn models(&self) -> Result<Vec<String>, ollama::Error> {
        self.runtime.block_on(ollama::models(self.wish.ollama))
    }

    /// The model that the default agent is configured with.
    fn configured(&self) -> Option<String> {
        let agent = self.settings.agent(&self.settings.default_agent);
        let own = agent.and_then(|agent| agent.model.clone());
        own.or_else(|| self.settings.default_model.clone())
    }

    /// Logins that somebody has to look at.
    fn logins(&self) -> impl Iterator<Item = Login> {
        let (paths, agent) = (&self.settings.paths, &self.settings.default_agent);
        Login::ALL.into_iter().filter(move |login| {
            let places = [
                paths.agent_home(agent).join(login.in_home()),
                paths.agent(agent).join("auth").join(login.earlier()),
            ];
            places.iter().any(|place| place.is_file())
        })
    }
}

impl Answering {
    fn words(&self) -> String {
        let model = match self.model.as_str() {
            "" => String::new(),
            model => format!(", {model}"),
        };
        format!("{}{model} answers ({})", self.backend, self.reason)
    }
}

#[cfg(test)]
mod tests;
