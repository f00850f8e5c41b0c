//! What is known of an agent CLI.

/// An API by which a CLI asks models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelApi {
    /// Anthropic's messages.
    Messages,
    /// OpenAI's responses.
    Responses,
}

/// An agent CLI.
#[derive(Debug, PartialEq, Eq)]
pub struct AgentCli {
    /// The backend's name in the configuration.
    pub backend: &'static str,
    /// The name of its program, and a shorter name of the backend.
    pub program: &'static str,
    /// The key of an agent that says where the program is.
    pub path_key: &'static str,
    /// The variable that stands for this key.
    pub variable: &'static str,
    /// What it is called, for people.
    pub title: &'static str,
    /// The package of npm that it comes in.
    pub package: &'static str,
    /// The command that logs in to it.
    pub login: &'static str,
    /// How one gets it to its model, for people.
    pub connection: &'static str,
    /// Whose models it asks.
    pub provider: &'static str,
    /// By which of the provider's APIs it does.
    pub api: ModelApi,
    /// Whether it answers before our own loop where no backend is configured.
    pub comes_first: bool,
    /// Whether it takes note of tools that come later (`tools/list_changed`).
    pub hears_of_tools: bool,
    /// Whether it hides its memory first of all, and ends where it cannot: who would judge its
    /// connections by their addresses has to see these.
    pub hides_memory: bool,
    /// Its folder in a home.
    pub folder: &'static str,
    /// The folder in it that is kept from turn to turn: its sessions, and nothing that it obeys.
    pub sessions: &'static str,
    /// Folders of the user's home where its installers put it.
    pub installed_in: &'static [&'static str],
}

impl AgentCli {
    /// How one gets it, for people.
    pub fn installation(&self) -> String {
        let (package, key) = (self.package, self.path_key);
        format!("install it with `npm install -g {package}` or set agents.defaults.{key}")
    }
}
