//! `models.list`.

use openclaw_protocol::Failure;
use openclaw_protocol::params::Filled;
use openclaw_runs::model::{self, DEFAULT_PROVIDER};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Answer, Call};

methods! { "models.list" => READ, list; }

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    agent_id: Option<Filled>,
    #[serde(rename = "includeProviderCapabilities")]
    _include_provider_capabilities: Option<bool>,
    #[serde(rename = "includeDetails")]
    _include_details: Option<bool>,
    #[serde(rename = "preparedOnly")]
    _prepared_only: Option<bool>,
    #[serde(rename = "refresh")]
    _refresh: Option<bool>,
    #[serde(rename = "view")]
    _view: Option<View>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum View {
    Default,
    Configured,
    ProviderConfig,
    All,
}

/// `models.list`: the models that the configuration names, the default first.
async fn list(mut call: Call) -> Result<Answer, Failure> {
    let params: Params = call.params()?;
    let settings = call.context.core.configuration.settings();
    if let Some(agent) = &params.agent_id {
        super::agents::known(&settings, agent)?;
    }
    let names = model::names(&settings);
    let agent = params.agent_id.as_deref();
    let default = settings.model_of(agent.unwrap_or(&settings.default_agent));
    let models = names.iter().map(|name| choice(name, default, &settings));
    let models: Vec<Value> = models.collect();
    Ok(json!({ "models": models }).into())
}

fn choice(name: &str, default: Option<&str>, settings: &openclaw_settings::Settings) -> Value {
    let (provider, id) = name.split_once('/').unwrap_or((DEFAULT_PROVIDER, name));
    let tags: &[&str] = if default == Some(name) {
        &["default"]
    } else {
        &[]
    };
    let facts = settings.models.facts(provider, id);
    let mut choice = json!({
        "id": id,
        "name": facts.name.as_deref().unwrap_or(id),
        "provider": provider,
        "contextWindow": settings.context_window(Some(name)),
        "tags": tags,
    });
    // Whether there is a key the gateway does not know.
    if settings.known_models.check(name).is_err() {
        choice["available"] = json!(false);
    }
    if let Some(reasoning) = facts.reasoning {
        choice["reasoning"] = json!(reasoning);
    }
    if let Some(images) = facts.images {
        let kinds: &[&str] = if images {
            &["text", "image"]
        } else {
            &["text"]
        };
        choice["input"] = json!(kinds);
    }
    choice
}

#[cfg(test)]
mod tests {
    use super::*;
    use openclaw_config::{Environment, Paths};
    use openclaw_settings::Settings;

    #[test]
    fn choice_of_a_provider_that_cannot_be_asked_is_not_available() {
        let environment: Environment = [("HOME", "/home/u")].into_iter().collect();
        let paths = Paths::resolve(&environment).unwrap();
        let document = json!({"models": {"providers": {
            "weird": {"baseUrl": "http://a", "api": "telepathy-v3", "models": [{"id": "w1"}]},
            "fine": {"baseUrl": "http://b", "models": [{"id": "f1"}]},
        }}});
        let settings = Settings::assemble(paths, document, &environment).unwrap();
        let weird = choice("weird/w1", None, &settings);
        assert_eq!(weird["available"], false, "{weird}");
        let fine = choice("fine/f1", None, &settings);
        assert_eq!(fine.get("available"), None, "{fine}");
    }
}
