//! Which tools a turn has, and when somebody is asked: from the settings, for whoever runs them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use openclaw_agent_clis::codex::CodexTools;
use openclaw_model_api::wire::Grants;
pub use openclaw_prompt::policy;
use openclaw_proto::approval::{GrantedCommand, Terms};
use openclaw_proto::runner::Purpose;
use openclaw_sandbox::Level;
use openclaw_settings::{
    AgentSettings, Ask, Network, ProviderTool, RunnerSettings, SafeBinProfile, ToolSettings,
};
use openclaw_tools::Policy;
use openclaw_tools::approval::safe::{self, SafeBins};
use openclaw_tools::approval::{self, Form, Grant, Rules, effect};
use openclaw_tools::catalog::{COMMANDS, is_command};
use openclaw_turn::{HostTool, Offer};

use crate::environment;

/// The policy that is left at `level`.
pub fn at(policy: Policy, level: Level) -> Policy {
    match level {
        Level::Text => policy.of_text(),
        Level::Strict | Level::Namespaces | Level::Workspace | Level::Off => policy,
    }
}

/// The rules for calls of the agent at `level`.
pub fn rules(agent: &AgentSettings, level: Level, granted: &[GrantedCommand]) -> Rules {
    Rules {
        ask: match agent.ask(level.has_namespaces()) {
            Ask::Off => approval::Ask::Off,
            Ask::OnMiss => approval::Ask::OnMiss,
            Ask::Always => approval::Ask::Always,
        },
        allowlist: agent.tools.allowlist.clone(),
        granted: still_granted(granted, &terms(agent, level)),
        safe_bins: safe_bins(&agent.tools),
        only_listed: agent.tools.only_listed,
        refuses: agent.tools.refuses,
        // Without a sandbox nothing else is enforced.
        open_network: agent.sandbox.network == Network::Full || level == Level::Off,
    }
}

/// How confined commands of the agent are at `level`.
pub fn terms(agent: &AgentSettings, level: Level) -> Terms {
    let sandbox = &agent.sandbox;
    let hosts = match &sandbox.network {
        Network::Allowlist(hosts) => hosts.iter().map(ToString::to_string).collect(),
        Network::ModelOnly | Network::Full => Vec::new(),
    };
    let tools = sandbox.provider_tools.iter();
    let paths = |paths: &[PathBuf]| -> Vec<String> {
        let paths = paths.iter().map(|path| path.display().to_string());
        paths.collect()
    };
    let mut read_write = paths(&sandbox.read_write);
    read_write.push(agent.workspace.display().to_string());
    Terms {
        level: level.name().to_owned(),
        network: sandbox.network.name().to_owned(),
        hosts,
        provider_tools: tools.map(|tool| tool.name().to_owned()).collect(),
        read_only: paths(&sandbox.read_only),
        read_write,
    }
}

/// What was granted at `now` or where commands could do more. A form that is not known
/// grants nothing.
fn still_granted(granted: &[GrantedCommand], now: &Terms) -> Vec<Grant> {
    let holds = |it: &&GrantedCommand| it.terms.as_ref().is_some_and(|terms| terms.cover(now));
    granted.iter().filter(holds).filter_map(grant).collect()
}

/// The programs that may run as filters, as an agent finds them. Without a word
/// about it there are some only where nothing else runs by itself.
fn safe_bins(tools: &ToolSettings) -> SafeBins {
    let names: Vec<String> = match &tools.safe_bins {
        Some(names) => names.clone(),
        None if tools.only_listed => safe::DEFAULT.map(str::to_owned).to_vec(),
        None => return SafeBins::default(),
    };
    SafeBins::new(&names, &profiles(tools), &tools.trusted_folders)
        .on_path(environment::PATH, |program| Path::new(program).is_file())
}

fn profiles(tools: &ToolSettings) -> BTreeMap<String, safe::Profile> {
    let profile = |(name, written): (&String, &SafeBinProfile)| {
        let profile = safe::Profile {
            min_positional: written.min_positional.unwrap_or_default(),
            max_positional: written.max_positional,
            value_flags: written.allowed_value_flags.clone(),
            denied: written.denied_flags.clone(),
            ..safe::Profile::default()
        };
        (name.trim().to_lowercase(), profile)
    };
    tools.safe_bin_profiles.iter().map(profile).collect()
}

fn grant(granted: &GrantedCommand) -> Option<Grant> {
    Some(Grant {
        form: Form::parse(&granted.form)?,
        command: granted.command.clone(),
        directory: granted.directory.clone(),
    })
}

/// Whether somebody may have to be asked about a call of `tool`, by whichever of
/// its names: it runs commands, changes files, or tells somebody something.
pub(crate) fn is_asked_about(tool: &str, rules: &Rules) -> bool {
    let concerns =
        is_command(tool) || effect::writes(tool) || (rules.open_network && effect::fetches(tool));
    rules.ask != approval::Ask::Off && concerns
}

/// The mistakes in the configuration's lists of tools, in words.
pub(crate) fn warnings(settings: &RunnerSettings) -> Vec<String> {
    let mut warnings: Vec<String> = settings.agents.values().flat_map(unsafe_bins).collect();
    warnings.sort();
    warnings.dedup();
    warnings.extend(mcp_problems(settings));
    warnings
}

/// Programs that the user takes for safe bins, and that are none.
fn unsafe_bins(agent: &AgentSettings) -> Vec<String> {
    let profiles = profiles(&agent.tools);
    let names = agent.tools.safe_bins.iter().flatten();
    let problem = |name: &String| {
        let problem = SafeBins::problem(name, &profiles)?;
        Some(format!("tools.exec.safeBins: {name:?} {problem}"))
    };
    names.filter_map(problem).collect()
}

fn mcp_problems(settings: &RunnerSettings) -> impl Iterator<Item = String> + '_ {
    let problems = settings.mcp_problems.iter();
    problems.map(|(key, problem)| format!("{key} {problem}"))
}

/// The tools that the policy and the rules leave.
pub fn offer(policy: &Policy, rules: &Rules) -> Offer {
    let (tools, denied) = policy.split();
    let gated = tools.iter().filter(|tool| is_asked_about(tool, rules));
    Offer {
        gated: gated.map(|tool| (*tool).to_owned()).collect(),
        tools: tools.into_iter().map(str::to_owned).collect(),
        denied,
        ..Offer::default()
    }
}

/// The tools of an agent that summarises a conversation: what is worth keeping
/// goes into the notes first.
pub fn offer_for_summary() -> Offer {
    Offer {
        tools: vec![HostTool::MemoryWrite.name().to_owned()],
        ..Offer::default()
    }
}

/// The tool of a command that the user has run. The user is not asked about what is
/// the user's, nor bound by what the agent may do.
pub fn offer_for_command(level: Level) -> Offer {
    let runs = level != Level::Text;
    Offer {
        tools: runs.then(|| COMMANDS.to_owned()).into_iter().collect(),
        ..Offer::default()
    }
}

/// The same with the agent's settings for tools.
pub fn offer_of_agent(offer: Offer, agent: &AgentSettings) -> Offer {
    Offer {
        workspace_only: agent.tools.workspace_only,
        command_seconds: agent.tools.command_time.map(|time| time.as_secs()),
        ..offer
    }
}

/// As the policy has them. Commands that only read it runs unasked, so where everything is to be
/// asked about there are ours alone. The provider's search is there where it is granted.
pub(crate) fn of_codex(
    purpose: Purpose,
    policy: &Policy,
    rules: &Rules,
    grants: &Grants,
    workspace_only: bool,
) -> CodexTools {
    let is_there = |name| purpose == Purpose::Message && policy.denies(name).is_none();
    CodexTools {
        commands: is_there(COMMANDS) && rules.ask != approval::Ask::Always,
        // Its own would go anywhere that the sandbox lets them.
        changes: !workspace_only
            && is_there("apply_patch")
            && is_there("write_file")
            && is_there("edit"),
        images: !workspace_only && is_there("read_file"),
        search: is_there("web_search") && grants.has(ProviderTool::WebSearch),
    }
}

#[cfg(test)]
mod tests {
    use openclaw_settings::AgentSandbox;
    use openclaw_tools::Layer;

    use super::*;

    fn with(deny: &[&str], ask: approval::Ask) -> (Policy, Rules) {
        let layer = Layer {
            deny: deny.iter().map(|name| (*name).to_owned()).collect(),
            ..Layer::default()
        };
        let rules = Rules {
            ask,
            allowlist: Vec::new(),
            granted: Vec::new(),
            safe_bins: SafeBins::default(),
            only_listed: false,
            refuses: false,
            open_network: false,
        };
        (Policy::new(vec![layer]), rules)
    }

    #[test]
    fn tools_of_codex_follow_the_policy() {
        let search = Grants::of(&AgentSandbox {
            level: None,
            network: Network::ModelOnly,
            provider_tools: vec![ProviderTool::WebSearch],
            read_only: Vec::new(),
            read_write: Vec::new(),
        });
        let (policy, rules) = with(&["exec", "group:web"], approval::Ask::OnMiss);
        let tools = of_codex(Purpose::Message, &policy, &rules, &search, false);
        assert!(!tools.commands && !tools.search && tools.changes && tools.images);
        let (policy, rules) = with(&["edit"], approval::Ask::Always);
        let tools = of_codex(Purpose::Message, &policy, &rules, &search, false);
        assert!(!tools.commands && !tools.changes && tools.search);
        let (policy, rules) = with(&[], approval::Ask::Off);
        let nothing = Grants::default();
        let tools = of_codex(Purpose::Message, &policy, &rules, &nothing, false);
        assert!(tools.commands && !tools.search);
        assert!(!of_codex(Purpose::Summary, &policy, &rules, &nothing, false).commands);
    }

    #[test]
    fn tools_what_was_granted_holds_where_no_more_can_be_done() {
        let at = |level: Level| Terms {
            level: level.name().to_owned(),
            network: Network::ModelOnly.name().to_owned(),
            ..Terms::default()
        };
        let granted = |terms: Option<Terms>| GrantedCommand {
            form: "line".to_owned(),
            command: "touch a".to_owned(),
            directory: "/ws".to_owned(),
            terms,
        };
        let holds = |given: Option<Level>, now: Level| {
            let granted = [granted(given.map(at))];
            !still_granted(&granted, &at(now)).is_empty()
        };
        assert!(holds(Some(Level::Strict), Level::Strict));
        assert!(holds(Some(Level::Off), Level::Workspace));
        assert!(!holds(Some(Level::Strict), Level::Workspace));
        assert!(!holds(Some(Level::Workspace), Level::Off));
        assert!(!holds(None, Level::Strict), "of before that was noted");
    }

    #[test]
    fn offer_has_what_the_policy_leaves() {
        let (policy, rules) = with(&["group:fs"], approval::Ask::Always);
        let offer = offer(&policy, &rules);
        assert!(!offer.has("read_file") && offer.has("memory_search"));
        assert_eq!(offer.gated, [COMMANDS]);
        let (policy, rules) = with(&[], approval::Ask::OnMiss);
        let gated = super::offer(&policy, &rules).gated;
        assert_eq!(gated, ["write_file", "edit", "apply_patch", COMMANDS]);
        assert!(offer.denied.iter().any(|denial| denial.tool == "edit"));
    }
}
