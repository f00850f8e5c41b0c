//! What a suite is started with.

use std::collections::BTreeMap;

use scripted_model::Server;
use serde_json::{Value, json};

use crate::Site;
use crate::claude::CLAUDE;
use crate::cli::Cli;
use crate::codex::CODEX;
use crate::suite::Suite;

/// The key that the suite is given; it must not be seen anywhere but at the
/// model.
pub const KEY: &str = "sk-made-up-for-tests";

/// Configuration, environment and notes, before the start.
#[derive(Debug, Clone)]
pub struct Setup {
    configuration: Value,
    variables: BTreeMap<String, String>,
    notes: Vec<(String, String)>,
}

impl Setup {
    /// Nothing configured, nothing in the environment.
    pub fn empty() -> Self {
        Self {
            configuration: json!({}),
            variables: BTreeMap::new(),
            notes: Vec::new(),
        }
    }

    /// The native backend with Anthropic's API.
    pub fn anthropic(model: &Server) -> Self {
        Self::empty()
            .set("agents.defaults.backend", "native")
            .variable("ANTHROPIC_API_KEY", KEY)
            .variable("ANTHROPIC_BASE_URL", model.url())
    }

    /// The native backend with OpenAI's API.
    pub fn openai(model: &Server) -> Self {
        Self::empty()
            .set("agents.defaults.backend", "native")
            .set("agents.defaults.model", "openai/gpt-5")
            .variable("OPENAI_API_KEY", KEY)
            .variable("OPENAI_BASE_URL", model.openai_url())
    }

    /// The claude-cli backend with the real CLI; `None` where the tests were
    /// told to do without it.
    pub fn claude(model: &Server) -> Option<Self> {
        let program = CLAUDE.program()?;
        Some(
            Self::empty()
                .set("agents.defaults.backend", "claude-cli")
                .set("agents.defaults.claudeCliPath", program)
                .variable("ANTHROPIC_API_KEY", KEY)
                .variable("ANTHROPIC_BASE_URL", model.url()),
        )
    }

    /// The codex-cli backend with the real CLI; `None` where the tests were
    /// told to do without it. Of the model Codex knows nothing, so it offers
    /// its plain set of tools.
    pub fn codex(model: &Server) -> Option<Self> {
        let program = CODEX.program()?;
        Some(
            Self::empty()
                .set("agents.defaults.backend", "codex-cli")
                .set("agents.defaults.codexCliPath", program)
                .set("agents.defaults.model", "openai/gpt-scripted")
                .variable("OPENAI_API_KEY", KEY)
                .variable("OPENAI_BASE_URL", model.openai_url()),
        )
    }

    /// A suite whose `cli` is this shell script.
    pub async fn imitated(cli: &Cli, script: &str) -> Suite {
        Self::empty().imitating(cli, script).await
    }

    /// The suite with a `cli` that is this shell script.
    pub async fn imitating(self, cli: &Cli, script: &str) -> Suite {
        let site = self
            .set("agents.defaults.backend", format!("{}-cli", cli.name))
            .variable("ANTHROPIC_API_KEY", KEY)
            .variable("OPENAI_API_KEY", KEY)
            .site();
        let program = cli.imitation(&site, script);
        let file = std::fs::read_to_string(site.configuration()).expect("read the configuration");
        let mut file: Value = serde_json::from_str(&file).expect("it is JSON");
        let key = format!("{}CliPath", cli.name);
        file["agents"]["defaults"][key] = program.display().to_string().into();
        site.configure(&file.to_string());
        Suite::start(site).await
    }

    /// No model.
    pub fn offline() -> Self {
        Self::empty().set("agents.defaults.backend", "offline")
    }

    /// Sets a value of the configuration by its dotted path.
    pub fn set(mut self, key: &str, value: impl Into<Value>) -> Self {
        let mut place = &mut self.configuration;
        for name in key.split('.') {
            place = &mut place[name];
        }
        *place = value.into();
        self
    }

    /// Commands are asked about as `when` says, and nobody is there to answer.
    pub fn asks_nobody(self, when: &str) -> Self {
        self.set("tools.exec.ask", when)
            .set("tools.exec.approvalTimeoutSec", 1)
    }

    /// Sets a variable of the daemons' environment.
    pub fn variable(mut self, name: &str, value: impl Into<String>) -> Self {
        self.variables.insert(name.to_owned(), value.into());
        self
    }

    /// Takes a variable out again.
    pub fn without(mut self, name: &str) -> Self {
        self.variables.remove(name);
        self
    }

    /// A file in the main agent's workspace.
    pub fn note(mut self, name: &str, text: &str) -> Self {
        self.notes.push((name.to_owned(), text.to_owned()));
        self
    }

    /// The folders, with everything written into them.
    pub fn site(&self) -> Site {
        let site = Site::new(&self.variables);
        site.configure(&self.configuration.to_string());
        for (name, text) in &self.notes {
            site.note(name, text);
        }
        site
    }

    /// Starts the suite.
    pub async fn start(&self) -> Suite {
        Suite::start(self.site()).await
    }
}
