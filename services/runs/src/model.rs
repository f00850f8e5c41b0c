//! Which model an agent is configured to use.

use openclaw_settings::Settings;

/// The provider of models that are named without one.
pub const DEFAULT_PROVIDER: &str = "anthropic";

/// Provider and model that are configured for an agent. Empty: the backend chooses.
pub fn configured(settings: &Settings, agent: &str) -> (String, String) {
    let own = settings.agent(agent).and_then(|agent| agent.model.clone());
    let Some(name) = own.or_else(|| settings.default_model.clone()) else {
        return (String::new(), String::new());
    };
    let (provider, model) = match settings.agent(agent) {
        Some(agent) => agent.named(&name),
        None => openclaw_settings::models::named(&name),
    };
    (provider.to_owned(), model.to_owned())
}

/// The models that the configuration names and describes, the default first.
pub fn names(settings: &Settings) -> Vec<String> {
    let agents = settings.agents.values().filter_map(|it| it.model.clone());
    let default = settings.model_of(&settings.default_agent);
    let mut names: Vec<String> = default.map(str::to_owned).into_iter().collect();
    for name in agents.chain(settings.default_model.clone()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    for (provider, model) in settings.models.described() {
        let name = format!("{provider}/{model}");
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
