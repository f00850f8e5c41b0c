//! What a suite is started with.

use std::collections::BTreeMap;

use scripted_model::Server;
use serde_json::{Value, json};

use crate::suite::Suite;
use crate::{Site, claude};

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
        let program = claude::program()?;
        Some(
            Self::empty()
                .set("agents.defaults.backend", "claude-cli")
                .set("agents.defaults.claudeCliPath", program)
                .variable("ANTHROPIC_API_KEY", KEY)
                .variable("ANTHROPIC_BASE_URL", model.url()),
        )
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
