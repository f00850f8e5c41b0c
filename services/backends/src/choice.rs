//! Which backend answers a turn, and why.

use std::path::PathBuf;

use openclaw_agent_clis::AgentCli;
use openclaw_config::programs;
use openclaw_credentials::Profile;
use openclaw_proto::event::Code;
use openclaw_settings::provider::Provider;
use openclaw_settings::{AgentSettings, Backend, RunnerSettings};

use crate::claude::Claude;
use crate::cli::Cli;
use crate::codex::Codex;

/// Taken when Anthropic is usable and no model is configured.
const ANTHROPIC_MODEL: &str = "claude-sonnet-5";
/// Taken when only OpenAI has a key and no model is configured.
const OPENAI_MODEL: &str = "gpt-5";
/// The models tried, in this order, where none is configured.
const KNOWN_MODELS: [(&str, &str); 2] = [("anthropic", ANTHROPIC_MODEL), ("openai", OPENAI_MODEL)];
/// The advice when there is no model.
const REMEDY: &str =
    "`openclawctl setup` connects one, and `openclawctl status` shows what was found";
/// Why our own loop has no model where none is configured.
const NOTHING: &str = "no model is configured and no key was found: set ANTHROPIC_API_KEY, \
     OPENAI_API_KEY or models.default";

const NATIVE: &str = "native";
const OFFLINE: &str = "offline";

/// How each agent CLI is found and prepared, those first that are looked for first.
const CLIS: [&dyn Cli; openclaw_agent_clis::ALL.len()] = [&Claude, &Codex];

/// A backend with what it needs.
#[derive(Debug, Clone)]
pub enum Plan {
    /// A CLI that is not ours, at this path.
    Cli {
        /// Which one.
        cli: &'static dyn Cli,
        /// Where its program is.
        program: PathBuf,
        /// `--model`, when one is configured.
        model: Option<String>,
    },
    /// Our own loop.
    Native {
        /// The provider of the model.
        provider: Provider,
        /// The name that the provider gives it.
        model: String,
        /// The models that answer when that one cannot.
        fallbacks: Vec<(Provider, String)>,
        /// A note on the choice for the user.
        note: Option<String>,
    },
    /// Answers from memory.
    Offline,
}

impl Plan {
    /// The provider of the model that answers.
    pub fn provider(&self) -> &str {
        match self {
            Self::Cli { cli, .. } => cli.known().provider,
            Self::Native { provider, .. } => &provider.id,
            Self::Offline => "openclaw",
        }
    }

    /// Which model does; empty: the one that a CLI takes.
    pub fn model(&self) -> &str {
        match self {
            Self::Cli { model, .. } => model.as_deref().unwrap_or_default(),
            Self::Native { model, .. } => model,
            Self::Offline => "memory",
        }
    }
}

/// A backend that was looked at.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Its name.
    pub backend: &'static str,
    /// Its plan, or why it cannot be used and what to do.
    pub plan: Result<Plan, String>,
    /// How a turn fails that is to use it and cannot.
    pub failure: Code,
    /// Why it can be used.
    pub found: String,
}

/// The decision.
#[derive(Debug, Clone)]
pub struct Choice {
    /// Its name.
    pub backend: &'static str,
    /// The backend with what it needs, or why it cannot be used.
    pub plan: Result<Plan, String>,
    /// How a turn fails where it cannot.
    pub failure: Code,
    /// Why this one.
    pub reason: String,
    /// Why our own loop cannot be used; `None`: it can.
    lack: Option<String>,
}

impl Choice {
    /// The choice for a command, which asks no model.
    pub fn of_command() -> Self {
        Self {
            backend: OFFLINE,
            plan: Ok(Plan::Offline),
            failure: Code::Internal,
            reason: "a command asks no model".to_owned(),
            lack: None,
        }
    }

    /// Why the model that is configured cannot be asked; `None`: it can, or none is configured.
    pub fn lack(&self) -> Option<&str> {
        self.lack.as_deref().filter(|why| *why != NOTHING)
    }

    /// The advice where no model answers.
    pub fn remedy(&self) -> String {
        match self.lack() {
            Some(why) => format!("{why}; {REMEDY}"),
            None => REMEDY.to_owned(),
        }
    }
}

/// In which order they are looked at.
fn order() -> impl Iterator<Item = &'static str> {
    let clis = |first| {
        let clis = openclaw_agent_clis::ALL.into_iter();
        clis.filter(move |cli| cli.comes_first == first)
            .map(|cli| cli.backend)
    };
    clis(true)
        .chain([NATIVE])
        .chain(clis(false))
        .chain([OFFLINE])
}

/// All backends as candidates for `agent`; the arguments are those of [`choose`].
pub fn candidates(
    settings: &RunnerSettings,
    agent: &AgentSettings,
    wish: Option<&str>,
    barred: Option<&str>,
) -> Vec<Candidate> {
    let look = |backend| candidate(backend, settings, agent, wish, barred);
    order().map(look).collect()
}

fn candidate(
    backend: &str,
    settings: &RunnerSettings,
    agent: &AgentSettings,
    wish: Option<&str>,
    barred: Option<&str>,
) -> Candidate {
    if let Some(cli) = CLIS.into_iter().find(|it| it.known().backend == backend) {
        return other(cli, settings, agent, wish, barred);
    }
    match backend {
        NATIVE => native(settings, agent, wish),
        _ => offline(),
    }
}

/// Chooses the backend of `agent`: the configured one, else the first usable one of claude-cli,
/// native, codex-cli and offline: a login of the Codex CLI answers where nothing else would. `wish`
/// is the model that the user chose for the session; nobody else answers then, memory neither.
/// `barred`: why the sandbox of this machine lets no CLI run. A CLI is looked for on the disk only
/// where it may be the one: that is done for each message.
pub fn choose(
    settings: &RunnerSettings,
    agent: &AgentSettings,
    wish: Option<&str>,
    barred: Option<&str>,
) -> Choice {
    let look = |backend| candidate(backend, settings, agent, wish, barred);
    let wanted = match agent.backend {
        Backend::Auto => None,
        configured => Some(configured.name()),
    };
    let mut order = order();
    let found = match (wanted, wish) {
        (Some(backend), _) => order.find(|known| *known == backend).map(look),
        (None, Some(_)) => order
            .filter(|backend| *backend != OFFLINE)
            .map(look)
            .find(|candidate| candidate.plan.is_ok()),
        (None, None) => order.map(look).find(|candidate| candidate.plan.is_ok()),
    };
    let instead = match wish {
        // It says what the model lacks.
        Some(_) => NATIVE,
        None => OFFLINE,
    };
    let chosen = found.unwrap_or_else(|| look(instead));
    let lack = match chosen.backend {
        NATIVE => chosen.plan.as_ref().err().cloned(),
        _ => native_plan(settings, agent, wish).err(),
    };
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
        lack,
    }
}

/// The providers that a turn of `agent` may ask.
pub fn providers(
    settings: &RunnerSettings,
    agent: &AgentSettings,
    wish: Option<&str>,
) -> Vec<String> {
    if let Some(only) = agent.backend.provider() {
        return vec![only.to_owned()];
    }
    let Some(first) = first_model(settings, agent, wish) else {
        return KNOWN_MODELS.map(|(provider, _)| provider.to_owned()).into();
    };
    let others: &[String] = match wish {
        Some(_) => &[],
        None => &agent.fallbacks,
    };
    let others = others.iter().map(|name| agent.named(name));
    let mut providers: Vec<String> = std::iter::once(first)
        .chain(others)
        .map(|(provider, _)| provider.to_owned())
        .collect();
    providers.dedup();
    providers
}

/// The configured models of `agent` that our own loop cannot ask, each with its place (the first is
/// 0) and the reason.
pub fn unusable(settings: &RunnerSettings, agent: &AgentSettings) -> Vec<(usize, String)> {
    let first = first_model(settings, agent, None);
    let others = agent.fallbacks.iter().map(|name| agent.named(name));
    let all = first.map(|first| std::iter::once(first).chain(others));
    let judged = all.into_iter().flatten().enumerate();
    judged
        .filter_map(|(place, (id, model))| {
            let refused = usable_provider(settings, agent, id, model).err()?;
            Some((place, refused))
        })
        .collect()
}

/// The model that is wished for, else the one the agent is configured with, as (provider, model).
fn first_model<'a>(
    settings: &'a RunnerSettings,
    agent: &'a AgentSettings,
    wish: Option<&'a str>,
) -> Option<(&'a str, &'a str)> {
    let configured = agent.model.as_deref().or(settings.default_model.as_deref());
    wish.or(configured).map(|name| agent.named(name))
}

/// A CLI that is not ours.
fn other(
    cli: &'static dyn Cli,
    settings: &RunnerSettings,
    agent: &AgentSettings,
    wish: Option<&str>,
    barred: Option<&str>,
) -> Candidate {
    let known = cli.known();
    let refused = |why: String| Candidate {
        backend: known.backend,
        plan: Err(why),
        failure: Code::BackendMissing,
        found: String::new(),
    };
    let Some(program) = find(known, settings, agent) else {
        return refused(format!(
            "the {} CLI {:?} is not on the PATH; {}",
            known.title,
            agent.cli_paths.program(known),
            known.installation()
        ));
    };
    if let Some(why) = barred {
        return Candidate {
            failure: Code::Sandbox,
            ..refused(format!("{} cannot be confined: {why}", known.title))
        };
    }
    let model = first_model(settings, agent, wish);
    if let Some(why) = model.and_then(|model| of_another(known, model, wish)) {
        return refused(why);
    }
    // Its own login must not take the place of the profile that a session chose.
    if settings.is_pinned(known.provider)
        && let Some(provider) = settings.provider(&agent.id, known.provider)
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
                known.connection
            ))
        };
    };
    Candidate {
        backend: known.backend,
        found: format!("{} with {way_in}", program.display()),
        plan: Ok(Plan::Cli {
            cli,
            program,
            model: model.map(|(_, model)| model.to_owned()),
        }),
        failure: Code::BackendMissing,
    }
}

/// Why a CLI does not ask a model that is not its provider's.
fn of_another(
    cli: &AgentCli,
    (provider, model): (&str, &str),
    wish: Option<&str>,
) -> Option<String> {
    let whose = if wish.is_some() {
        "chosen"
    } else {
        "configured"
    };
    (provider != cli.provider).then(|| {
        format!(
            "the {whose} model {provider}/{model} is not one that {} asks: it asks only models of \
             {}; say backend: \"native\" for the agent, or another model",
            cli.title, cli.provider
        )
    })
}

/// The CLI on the PATH, or where its installers put it: a service's PATH does
/// not have the user's own folders.
fn find(cli: &AgentCli, settings: &RunnerSettings, agent: &AgentSettings) -> Option<PathBuf> {
    let name = agent.cli_paths.program(cli);
    let found = programs::on_path(name, &settings.environment);
    if found.is_some() || name.contains('/') {
        return found;
    }
    let home = settings.paths.home.as_deref()?;
    cli.installed_in
        .iter()
        .map(|folder| home.join(folder).join(name))
        .find(|path| path.is_file())
}

fn native(settings: &RunnerSettings, agent: &AgentSettings, wish: Option<&str>) -> Candidate {
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
    settings: &RunnerSettings,
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
    let others = others.iter().map(|name| agent.named(name));
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
    settings: &RunnerSettings,
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

/// The plan where no model is configured.
fn known_plan(settings: &RunnerSettings, agent: &AgentSettings) -> Result<Plan, String> {
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
mod tests;
