//! The backend that would answer an agent's next message, for a status: chosen as for a turn.

use openclaw_backends::choice::{self, Choice, Plan};
use openclaw_proto::wire::runner as wire;
use openclaw_sandbox::Level;
use openclaw_settings::{AgentSettings, Backend, RunnerSettings};

/// The backend that would answer `agent`, and its models that cannot. `held`: the sandbox's verdict
/// on the agent.
pub(crate) fn of(
    settings: &RunnerSettings,
    agent: &AgentSettings,
    held: &Held,
) -> wire::AgentModel {
    let choice = choice::choose(settings, agent, None, held.barred.as_deref());
    let (provider, model) = match &choice.plan {
        Ok(plan) => (plan.provider().to_owned(), plan.model().to_owned()),
        Err(_) => Default::default(),
    };
    wire::AgentModel {
        agent_id: agent.id.clone(),
        backend: match choice.plan {
            Ok(_) => choice.backend.to_owned(),
            Err(_) => String::new(),
        },
        provider,
        model,
        problems: problems(settings, agent, &choice),
        auth_profiles: settings
            .profile_ids(&agent.id)
            .into_iter()
            .map(str::to_owned)
            .collect(),
        sandbox_level: held.level.map(Level::name).unwrap_or_default().to_owned(),
        ask: held
            .level
            .map(|level| agent.ask(level.has_namespaces()).name())
            .unwrap_or_default()
            .to_owned(),
    }
}

/// The sandbox's verdict on an agent.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// The level of its turns; `None`: none is started.
    pub(crate) level: Option<Level>,
    /// Why no CLI may be it.
    pub(crate) barred: Option<String>,
}

fn problems(
    settings: &RunnerSettings,
    agent: &AgentSettings,
    choice: &Choice,
) -> Vec<wire::ModelProblem> {
    let unusable = choice::unusable(settings, agent);
    let is_native = |plan: &Plan| matches!(plan, Plan::Native { .. });
    let by_model = |is_fatal: bool| {
        let told = unusable
            .iter()
            .map(move |(place, why)| (*place, why.clone(), is_fatal));
        told.map(|(place, problem, is_fatal)| wire::ModelProblem {
            key: model_key(settings, agent, place),
            problem,
            is_fatal,
        })
    };
    match &choice.plan {
        // Another of the configured models answers.
        Ok(plan) if is_native(plan) => by_model(false).collect(),
        // Memory answers, where a model was to.
        Ok(Plan::Offline) if agent.backend == Backend::Auto => by_model(true).collect(),
        // A CLI asks the models it knows, and never a fallback.
        Ok(_) => Vec::new(),
        Err(_) if agent.backend == Backend::Native && !unusable.is_empty() => {
            by_model(true).collect()
        }
        Err(why) => vec![wire::ModelProblem {
            key: match agent.backend {
                Backend::Native => model_key(settings, agent, 0),
                // Its model is another provider's.
                _ if asks_for_another(settings, agent) => model_key(settings, agent, 0),
                _ => agent.backend_key.clone(),
            },
            problem: why.clone(),
            is_fatal: true,
        }],
    }
}

fn asks_for_another(settings: &RunnerSettings, agent: &AgentSettings) -> bool {
    let model = settings.model_of(&agent.id);
    model.is_some_and(|model| agent.asks(model).is_err())
}

/// The key of the model at `place` among the configured ones: the first, then
/// those that may take its place.
fn model_key(settings: &RunnerSettings, agent: &AgentSettings, place: usize) -> String {
    let key = &agent.model_key;
    let is_general = agent.model.is_none() && settings.default_model.is_some();
    match place.checked_sub(1) {
        Some(index) => format!("{key}.fallbacks[{index}]"),
        None if is_general => "models.default".to_owned(),
        None if agent.fallbacks.is_empty() => key.clone(),
        None => format!("{key}.primary"),
    }
}

#[cfg(test)]
mod tests {
    use openclaw_config::Environment;
    use openclaw_settings::Origin;

    use super::*;

    fn answering(file: &str, id: &str, variables: &[(&str, &str)]) -> wire::AgentModel {
        let state = tempfile::tempdir().unwrap();
        std::fs::write(state.path().join("openclaw.json"), file).unwrap();
        let text = state.path().to_str().unwrap().to_owned();
        let environment: Environment = variables
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()))
            .chain([("OPENCLAW_STATE_DIR", text)])
            .collect();
        let settings = openclaw_backends::settings::load(&environment, Origin::File).unwrap();
        of(&settings, settings.agent(id).unwrap(), &Held::default())
    }

    fn told(answering: &wire::AgentModel) -> Vec<(&str, bool)> {
        let problems = answering.problems.iter();
        problems
            .map(|problem| (problem.key.as_str(), problem.is_fatal))
            .collect()
    }

    #[test]
    fn model_of_an_unknown_provider_is_told_with_its_key() {
        for backend in ["auto", "native"] {
            let file = format!(
                "{{agents: {{defaults: {{backend: '{backend}', model: 'nosuch/m'}},
                  list: [{{id: 'main'}}, {{id: 'work', model: 'elsewhere/m'}}]}}}}"
            );
            let main = answering(&file, "main", &[]);
            assert_eq!(told(&main), [("agents.defaults.model", true)], "{backend}");
            assert!(main.problems[0].problem.contains("models.providers"));
            let work = answering(&file, "work", &[]);
            assert_eq!(told(&work), [("agents.list[1].model", true)], "{backend}");
        }
        let general = answering("{models: {default: 'nosuch/m'}}", "main", &[]);
        assert_eq!(told(&general), [("models.default", true)]);
    }

    #[test]
    fn model_that_lacks_its_key_is_told_and_one_that_has_it_is_not() {
        let file = "{agents: {defaults: {backend: 'native', model: 'openai/gpt-5'}}}";
        let without = answering(file, "main", &[]);
        assert_eq!(told(&without), [("agents.defaults.model", true)]);
        assert!(without.problems[0].problem.contains("OPENAI_API_KEY"));
        let with = answering(file, "main", &[("OPENAI_API_KEY", "k")]);
        assert_eq!(told(&with), []);
        assert_eq!((&*with.backend, &*with.model), ("native", "gpt-5"));
    }

    #[test]
    fn fallback_that_cannot_answer_is_told_and_stops_nothing() {
        let file = "{agents: {defaults: {backend: 'native', model: {primary: 'ollama/m',
                     fallbacks: ['openai/m', 'nosuch/m']}}}}";
        let main = answering(file, "main", &[]);
        let keys = [
            ("agents.defaults.model.fallbacks[0]", false),
            ("agents.defaults.model.fallbacks[1]", false),
        ];
        assert_eq!(told(&main), keys);
        assert_eq!(main.provider, "ollama");
    }

    #[test]
    fn cli_that_is_missing_is_told_with_the_key_of_the_backend() {
        let file = "{agents: {defaults: {backend: 'claude-cli', claudeCliPath: '/no/such'}}}";
        let main = answering(file, "main", &[]);
        assert_eq!(told(&main), [("agents.defaults.backend", true)]);
        assert_eq!(main.backend, "");
    }

    #[test]
    fn model_that_its_cli_does_not_ask_is_told_with_its_key() {
        let file = "{agents: {entries: {main: {}, c: {backend: 'claude-cli', \
                     claudeCliPath: '/bin/true', model: 'ollama/qwen3'}}}}";
        let c = answering(file, "c", &[("ANTHROPIC_API_KEY", "k")]);
        assert_eq!((&*c.backend, &*c.model), ("", ""));
        assert_eq!(told(&c), [("agents.entries.c.model", true)]);
        let problem = &c.problems[0].problem;
        assert!(
            problem.contains("ollama/qwen3 is not one that Claude Code asks"),
            "{problem}"
        );
    }

    #[test]
    fn memory_alone_is_no_problem_where_no_model_was_wanted() {
        assert_eq!(told(&answering("{}", "main", &[])), []);
        let file = "{agents: {defaults: {backend: 'offline', model: 'nosuch/m'}}}";
        assert_eq!(told(&answering(file, "main", &[])), []);
    }
}
