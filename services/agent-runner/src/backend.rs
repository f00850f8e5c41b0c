//! Which backend answers a turn, and why.

use std::path::PathBuf;

use openclaw_config::auth::Profile;
use openclaw_config::programs;
use openclaw_config::provider::Provider;
use openclaw_config::settings::{AgentSettings, Backend, Settings};
use openclaw_proto::event::Code;

use crate::cli::{CLAUDE, CODEX, Cli};

/// Taken when Anthropic is usable and no model is configured.
const ANTHROPIC_MODEL: &str = "claude-sonnet-5";
/// Taken when only OpenAI has a key and no model is configured.
const OPENAI_MODEL: &str = "gpt-5";
/// What is looked for, in this order, where no model is configured.
const KNOWN_MODELS: [(&str, &str); 2] = [("anthropic", ANTHROPIC_MODEL), ("openai", OPENAI_MODEL)];
/// What to do when there is no model, and none is configured.
const HINT: &str = "No model is connected. Install and log in to the Claude Code CLI or Codex, or set \
     ANTHROPIC_API_KEY, OPENAI_API_KEY or models.default (for example \"ollama/llama3.2\") in \
     openclaw.json; `openclawctl status` shows what was found.";
/// Why our own loop has no model where none is configured.
const NOTHING: &str = "no model is configured and no key was found: set ANTHROPIC_API_KEY, \
     OPENAI_API_KEY or models.default";

const NATIVE: &str = "native";
const OFFLINE: &str = "offline";

/// A backend with what it needs.
#[derive(Debug, Clone)]
pub(crate) enum Plan {
    /// A CLI that is not ours, at this path.
    Cli {
        cli: &'static dyn Cli,
        program: PathBuf,
        /// `--model`, when one is configured.
        model: Option<String>,
    },
    /// Our own loop.
    Native {
        provider: Provider,
        model: String,
        /// Who answers when that one cannot.
        fallbacks: Vec<(Provider, String)>,
        /// What the user should know of the choice.
        note: Option<String>,
    },
    /// Answers from memory.
    Offline,
}

impl Plan {
    pub(crate) fn provider(&self) -> &str {
        match self {
            Self::Cli { cli, .. } => cli.provider(),
            Self::Native { provider, .. } => &provider.id,
            Self::Offline => "openclaw",
        }
    }

    pub(crate) fn model(&self) -> &str {
        match self {
            Self::Cli { model, .. } => model.as_deref().unwrap_or_default(),
            Self::Native { model, .. } => model,
            Self::Offline => "memory",
        }
    }
}

/// A backend that was looked at.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) backend: &'static str,
    /// What it needs, or why it cannot be used and what to do.
    pub(crate) plan: Result<Plan, String>,
    /// How a turn fails that is to use it and cannot.
    pub(crate) failure: Code,
    /// Why it can be used.
    pub(crate) found: String,
}

/// The decision.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    pub(crate) backend: &'static str,
    /// The backend with what it needs, or why it cannot be used.
    pub(crate) plan: Result<Plan, String>,
    /// How a turn fails where it cannot.
    pub(crate) failure: Code,
    /// Why this one.
    pub(crate) reason: String,
    pub(crate) candidates: Vec<Candidate>,
}

impl Choice {
    /// What to do where no model answers.
    pub(crate) fn hint(&self) -> String {
        let native = self.candidates.iter().find(|one| one.backend == NATIVE);
        match native.map(|candidate| &candidate.plan) {
            Some(Err(why)) if why != NOTHING => {
                format!("No model is connected: {why}; `openclawctl status` shows what was found.")
            }
            _ => HINT.to_owned(),
        }
    }
}

/// Chooses the backend of `agent`: the configured one, else the first usable
/// one of claude-cli, native, codex-cli and offline: a login of the Codex CLI
/// answers where nothing else would. `wish` is the model that the user chose
/// for the session; nobody else answers then, memory neither.
pub(crate) fn choose(settings: &Settings, agent: &AgentSettings, wish: Option<&str>) -> Choice {
    let candidates = vec![
        other(CLAUDE, settings, agent, wish),
        native(settings, agent, wish),
        other(CODEX, settings, agent, wish),
        offline(),
    ];
    let wanted = match agent.backend {
        Backend::Auto => None,
        configured => Some(configured.name()),
    };
    let is_there = |candidate: &&Candidate| match (wanted, wish) {
        (Some(backend), _) => candidate.backend == backend,
        (None, Some(_)) => candidate.plan.is_ok() && candidate.backend != OFFLINE,
        (None, None) => candidate.plan.is_ok(),
    };
    let instead = match wish {
        // It says what the model lacks.
        Some(_) => NATIVE,
        None => OFFLINE,
    };
    let chosen = candidates
        .iter()
        .find(is_there)
        .or_else(|| candidates.iter().find(|one| one.backend == instead))
        .cloned()
        .unwrap_or_else(offline);
    let reason = match (wanted, wish) {
        (Some(_), _) => "configured".to_owned(),
        (None, Some(model)) if chosen.plan.is_err() => format!("{model} was chosen"),
        (None, _) => format!("found: {}", chosen.found),
    };
    let advise = |why| match wish {
        Some(_) => format!(
            "{why}; to go back to the agent's own model, say /model default in a client, or use \
             `openclawctl sessions patch SESSION --set model=`"
        ),
        None => why,
    };
    Choice {
        backend: chosen.backend,
        plan: chosen.plan.map_err(advise),
        failure: chosen.failure,
        reason,
        candidates,
    }
}

/// The providers that a turn of `agent` may ask.
pub(crate) fn providers(
    settings: &Settings,
    agent: &AgentSettings,
    wish: Option<&str>,
) -> Vec<String> {
    let Some(first) = first_model(settings, agent, wish) else {
        return KNOWN_MODELS.map(|(provider, _)| provider.to_owned()).into();
    };
    let others: &[String] = match wish {
        Some(_) => &[],
        None => &agent.fallbacks,
    };
    let others = others.iter().map(|name| named(name));
    let mut providers: Vec<String> = std::iter::once(first)
        .chain(others)
        .map(|(provider, _)| provider.to_owned())
        .collect();
    providers.dedup();
    providers
}

/// What of the models that `agent` is configured with cannot be asked by our own
/// loop, each with its place among them (the first is 0) and why.
pub(crate) fn unusable(settings: &Settings, agent: &AgentSettings) -> Vec<(usize, String)> {
    let first = first_model(settings, agent, None);
    let others = agent.fallbacks.iter().map(|name| named(name));
    let all = first.map(|first| std::iter::once(first).chain(others));
    let judged = all.into_iter().flatten().enumerate();
    judged
        .filter_map(|(place, (id, model))| {
            let refused = usable_provider(settings, agent, id, model).err()?;
            Some((place, refused))
        })
        .collect()
}

/// The model that is wished for, else the one the agent is configured with, as
/// (provider, model).
fn first_model<'a>(
    settings: &'a Settings,
    agent: &'a AgentSettings,
    wish: Option<&'a str>,
) -> Option<(&'a str, &'a str)> {
    let configured = agent.model.as_deref().or(settings.default_model.as_deref());
    wish.or(configured).map(named)
}

/// Seed 002 names Anthropic's models without the provider.
fn named(name: &str) -> (&str, &str) {
    name.split_once('/').unwrap_or(("anthropic", name))
}

/// A CLI that is not ours.
fn other(
    cli: &'static dyn Cli,
    settings: &Settings,
    agent: &AgentSettings,
    wish: Option<&str>,
) -> Candidate {
    let refused = |why: String| Candidate {
        backend: cli.name(),
        plan: Err(why),
        failure: Code::BackendMissing,
        found: String::new(),
    };
    let Some(program) = find(cli, settings, agent) else {
        return refused(format!(
            "the {} CLI {:?} is not on the PATH; {}",
            cli.title(),
            cli.program(agent),
            cli.installation()
        ));
    };
    let model = first_model(settings, agent, wish);
    // A configured CLI may have been given another way to a model of that name.
    let is_judged = wish.is_some() || agent.backend == Backend::Auto;
    if let Some((provider, model)) = model.filter(|_| is_judged)
        && provider != cli.provider()
    {
        let whose = if wish.is_some() {
            "chosen"
        } else {
            "configured"
        };
        return refused(format!(
            "the {whose} model {provider}/{model} is not one that {} asks",
            cli.title()
        ));
    }
    // Its own login must not take the place of the profile that a session chose.
    if settings.is_pinned(cli.provider())
        && let Some(provider) = settings.provider(&agent.id, cli.provider())
        && let Some(fault) = provider.fault
    {
        return refused(fault);
    }
    let Some(way_in) = cli.way_in(settings, &agent.id) else {
        return Candidate {
            failure: Code::NotLoggedIn,
            ..refused(format!(
                "{} is there but not logged in; {}",
                program.display(),
                cli.connection()
            ))
        };
    };
    Candidate {
        backend: cli.name(),
        found: format!("{} with {way_in}", program.display()),
        plan: Ok(Plan::Cli {
            cli,
            program,
            model: model.map(|(_, model)| model.to_owned()),
        }),
        failure: Code::BackendMissing,
    }
}

/// The CLI on the PATH, or where its installers put it: a service's PATH does
/// not have the user's own folders.
fn find(cli: &dyn Cli, settings: &Settings, agent: &AgentSettings) -> Option<PathBuf> {
    let name = cli.program(agent);
    let found = programs::on_path(name, &settings.environment);
    if found.is_some() || name.contains('/') {
        return found;
    }
    let home = settings.paths.home.as_deref()?;
    cli.folders()
        .iter()
        .map(|folder| home.join(folder).join(name))
        .find(|path| path.is_file())
}

fn native(settings: &Settings, agent: &AgentSettings, wish: Option<&str>) -> Candidate {
    match native_plan(settings, agent, wish) {
        Ok(plan) => Candidate {
            backend: NATIVE,
            found: found(&plan),
            plan: Ok(plan),
            failure: Code::Auth,
        },
        Err(why) => Candidate {
            backend: NATIVE,
            plan: Err(why),
            failure: Code::Auth,
            found: String::new(),
        },
    }
}

fn found(plan: &Plan) -> String {
    match plan {
        Plan::Native {
            provider, model, ..
        } => match &provider.key {
            Some(_) => format!("{}/{model} with {}", provider.id, provider.key_source),
            None => format!("{}/{model} at {}", provider.id, provider.base_url),
        },
        _ => String::new(),
    }
}

fn native_plan(
    settings: &Settings,
    agent: &AgentSettings,
    wish: Option<&str>,
) -> Result<Plan, String> {
    let Some(first) = first_model(settings, agent, wish) else {
        return known_plan(settings, agent);
    };
    let others: &[String] = match wish {
        Some(_) => &[],
        None => &agent.fallbacks,
    };
    let others = others.iter().map(|name| named(name));
    let mut usable = Vec::new();
    let mut refused = None;
    for (id, model) in std::iter::once(first).chain(others) {
        match usable_provider(settings, agent, id, model) {
            Ok(provider) => usable.push((provider, model.to_owned())),
            Err(why) => _ = refused.get_or_insert(why),
        }
    }
    let is_first = |(provider, model): &(Provider, String)| first == (&provider.id, model);
    let mut usable = usable.into_iter();
    let Some(chosen) = usable.next() else {
        return Err(refused.unwrap_or_default());
    };
    let note = (!is_first(&chosen))
        .then(|| refused.map(|why| format!("{why}; {}/{} answers", chosen.0.id, chosen.1)));
    Ok(Plan::Native {
        provider: chosen.0,
        model: chosen.1,
        fallbacks: usable.collect(),
        note: note.flatten(),
    })
}

fn usable_provider(
    settings: &Settings,
    agent: &AgentSettings,
    id: &str,
    model: &str,
) -> Result<Provider, String> {
    let provider = settings.provider(&agent.id, id).ok_or_else(|| {
        let known: Vec<&str> = settings.providers.keys().map(String::as_str).collect();
        format!(
            "the model {id}/{model} names no known provider; known are {}, others go in \
             models.providers",
            known.join(", ")
        )
    })?;
    if let Some(fault) = provider.fault {
        return Err(format!("the model {id}/{model} cannot be asked: {fault}"));
    }
    // A server that needs no key is not asked without the login meant for it.
    let expired = settings
        .expired_login(&agent.id, id)
        .filter(|_| provider.key.is_none());
    match (expired, provider.is_usable()) {
        (Some(login), _) => Err(expired_login(login, &provider)),
        (None, true) => Ok(provider),
        (None, false) => Err(format!(
            "the model {id}/{model} needs a key: set {}",
            provider.key_source
        )),
    }
}

/// A login is renewed by the program that made it, which alone knows how.
fn expired_login(login: &Profile, provider: &Provider) -> String {
    format!(
        "{} has expired: log in again with the program that made it, or set {}",
        login.source, provider.key_source
    )
}

/// Where no model is configured.
fn known_plan(settings: &Settings, agent: &AgentSettings) -> Result<Plan, String> {
    for (id, model) in KNOWN_MODELS {
        if let Ok(provider) = usable_provider(settings, agent, id, model) {
            return Ok(Plan::Native {
                provider,
                model: model.to_owned(),
                fallbacks: Vec::new(),
                note: None,
            });
        }
    }
    let expired = ["anthropic", "openai"].iter().find_map(|id| {
        let login = settings.expired_login(&agent.id, id)?;
        Some(expired_login(login, &settings.provider(&agent.id, id)?))
    });
    if let Some(expired) = expired {
        return Err(expired);
    }
    Err(NOTHING.to_owned())
}

fn offline() -> Candidate {
    Candidate {
        backend: OFFLINE,
        plan: Ok(Plan::Offline),
        failure: Code::BackendMissing,
        found: "no model is connected, memory answers".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use openclaw_config::{Environment, Origin};

    use super::*;

    fn chosen(file: &str, variables: &[(&str, &str)]) -> Choice {
        let state = tempfile::tempdir().unwrap();
        std::fs::write(state.path().join("openclaw.json"), file).unwrap();
        for name in ["claude", "codex"] {
            let program = state.path().join(name);
            std::fs::write(&program, "").unwrap();
            let mut permissions = program.metadata().unwrap().permissions();
            std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
            std::fs::set_permissions(&program, permissions).unwrap();
        }
        let state_text = state.path().to_str().unwrap();
        let environment: Environment = variables
            .iter()
            .map(|(name, value)| (*name, value.replace("STATE", state_text)))
            .chain([("OPENCLAW_STATE_DIR", state_text.to_owned())])
            .collect();
        let settings = crate::settings::load(&environment, Origin::File).unwrap();
        choose(&settings, settings.agent("main").unwrap(), None)
    }

    #[test]
    fn nobody_answers_for_a_model_that_was_chosen() {
        let state = tempfile::tempdir().unwrap();
        let variables = [("OPENCLAW_STATE_DIR", state.path().to_str().unwrap())];
        let environment: Environment = variables.into_iter().collect();
        let settings = crate::settings::load(&environment, Origin::File).unwrap();
        for wish in ["foo/bar", "anthropic/claude-sonnet-5"] {
            let choice = choose(&settings, settings.agent("main").unwrap(), Some(wish));
            let why = choice.plan.unwrap_err();
            assert!(why.contains(wish), "{why}");
        }
    }

    #[test]
    fn a_configured_cli_does_not_pass_on_a_chosen_model_of_others() {
        let state = tempfile::tempdir().unwrap();
        std::fs::write(
            state.path().join("openclaw.json"),
            "{agents: {defaults: {backend: 'claude-cli', claudeCliPath: '/bin/true'}}}",
        )
        .unwrap();
        let variables = [
            ("OPENCLAW_STATE_DIR", state.path().to_str().unwrap()),
            ("ANTHROPIC_API_KEY", "k"),
        ];
        let environment: Environment = variables.into_iter().collect();
        let settings = crate::settings::load(&environment, Origin::File).unwrap();
        let main = settings.agent("main").unwrap();
        let why = choose(&settings, main, Some("openai/gpt-5")).plan;
        assert!(why.unwrap_err().contains("openai/gpt-5"));
        let own = choose(&settings, main, Some("anthropic/claude-opus-4"));
        assert!(own.plan.is_ok(), "{:?}", own.plan);
    }

    #[test]
    fn the_hint_names_what_a_configured_model_lacks() {
        let nothing = chosen("", &[]).hint();
        assert!(nothing.contains("Install and log in"), "{nothing}");
        let unknown = chosen("{models: {default: 'foo/bar'}}", &[]);
        assert_eq!(unknown.backend, OFFLINE);
        let hint = unknown.hint();
        assert!(hint.contains("foo/bar names no known provider"), "{hint}");
    }

    #[test]
    fn nothing_there_is_offline() {
        let choice = chosen("", &[]);
        assert_eq!(choice.backend, "offline");
        assert!(
            choice.candidates[..3]
                .iter()
                .all(|candidate| candidate.plan.is_err())
        );
    }

    #[test]
    fn a_key_is_native_and_the_cli_with_it_comes_first() {
        let native = chosen("", &[("ANTHROPIC_API_KEY", "k")]);
        assert_eq!(native.backend, "native");
        assert!(
            native.reason.contains("ANTHROPIC_API_KEY"),
            "{}",
            native.reason
        );
        let cli = chosen("", &[("ANTHROPIC_API_KEY", "k"), ("PATH", "STATE")]);
        assert_eq!(cli.backend, "claude-cli");
        let not_logged_in = chosen("", &[("PATH", "STATE")]);
        assert_eq!(not_logged_in.backend, "offline");
    }

    #[test]
    fn a_login_that_has_expired_is_named() {
        let state = tempfile::tempdir().unwrap();
        let folder = state.path().join("agents/main/auth");
        std::fs::create_dir_all(&folder).unwrap();
        let credential = r#"{"type": "oauth", "accessToken": "a", "expiresAt": 1}"#;
        let profile =
            format!(r#"{{"id": "me", "provider": "anthropic", "credential": {credential}}}"#);
        std::fs::write(folder.join("login.json"), profile).unwrap();
        let variables = [("OPENCLAW_STATE_DIR", state.path().to_str().unwrap())];
        for file in [
            "",
            "{models: {default: 'anthropic/claude-sonnet-5'}}",
            // Such a server needs no key.
            "{models: {providers: {anthropic: {baseUrl: 'http://127.0.0.1:9'}}}}",
        ] {
            std::fs::write(state.path().join("openclaw.json"), file).unwrap();
            let environment: Environment = variables.into_iter().collect();
            let settings = crate::settings::load(&environment, Origin::File).unwrap();
            let choice = choose(&settings, settings.agent("main").unwrap(), None);
            let native = choice.candidates.iter().find(|one| one.backend == "native");
            let why = native.unwrap().plan.as_ref().unwrap_err();
            assert!(
                why.starts_with("an auth profile for anthropic (login) has expired"),
                "{why}"
            );
        }
    }

    #[test]
    fn another_providers_model_is_not_for_the_cli() {
        let variables = [("ANTHROPIC_API_KEY", "k"), ("PATH", "STATE")];
        let choice = chosen("{models: {default: 'ollama/llama3.2'}}", &variables);
        assert_eq!(choice.backend, "native");
        assert_eq!(choice.plan.unwrap().model(), "llama3.2");
    }

    #[test]
    fn the_second_cli_answers_where_nothing_else_would_or_where_it_is_asked_for() {
        let key = [("CODEX_API_KEY", "k"), ("PATH", "STATE")];
        let alone = chosen("", &key);
        assert_eq!(alone.backend, "codex-cli");
        assert!(alone.reason.contains("CODEX_API_KEY"), "{}", alone.reason);
        let both = [("OPENAI_API_KEY", "k"), ("PATH", "STATE")];
        assert_eq!(chosen("", &both).backend, "native");
        let file = "{agents: {defaults: {backend: 'codex-cli', model: 'openai/gpt-x'}}}";
        let configured = chosen(file, &both);
        assert_eq!(configured.backend, "codex-cli");
        assert_eq!(configured.plan.unwrap().model(), "gpt-x");
        let why = chosen(file, &[("PATH", "STATE")]).plan.unwrap_err();
        assert!(why.contains("not logged in; run `codex login`"), "{why}");
    }

    #[test]
    fn the_configured_backend_stays_even_when_it_cannot_be_used() {
        let choice = chosen("{agents: {defaults: {backend: 'native'}}}", &[]);
        assert_eq!(choice.backend, "native");
        assert!(choice.plan.unwrap_err().contains("ANTHROPIC_API_KEY"));
    }
}
