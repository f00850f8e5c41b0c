//! The arguments of the CLI.

use std::ffi::OsString;

use openclaw_agent_clis::codex::CodexTools;
use openclaw_handoff::proxies::MODEL_URL;
use serde_json::json;

use crate::cli::Start;

/// The prefix of paths at the proxy.
pub(super) const MOUNT: &str = "/v1";

/// The variable in which it finds the turn's token.
pub(super) const TOKEN: &str = "OPENCLAW_MODEL_TOKEN";
/// Where git looks for a repository. The CLI asks git about the workspace in each turn, and
/// git runs what filters the repository there names, which the agent can write: so there is
/// none for the CLI itself. The model's commands, which are judged, have no such variable.
pub(super) const REPOSITORY: &str = "GIT_DIR";
/// What it is to do without: what would outlive the turn, ask where nobody is
/// asked, bring settings of its own, or look for hosts that are not there.
const OFF: [&str; 20] = [
    "apps",
    "browser_use",
    "computer_use",
    "goals",
    "guardian_approval",
    "hooks",
    "image_generation",
    "in_app_browser",
    "multi_agent",
    "plugin_sharing",
    "plugins",
    "remote_plugin",
    "shell_snapshot",
    "skill_mcp_dependency_install",
    "skill_search",
    "sleep_tool",
    "tool_suggest",
    "unbounded_connection_retries",
    "workspace_dependencies",
    "worktrees",
];
/// Further settings. The files of instructions are in the prompt already.
const SET: [&str; 10] = [
    // A login shell runs what an earlier turn left in the agent's home.
    "allow_login_shell=false",
    "analytics.enabled=false",
    "check_for_update_on_startup=false",
    "history.persistence=\"none\"",
    // It asks its model without our tools when they take longer than a second, unless it
    // is to wait for as long as they may take to start.
    "mcp_optional_startup_grace_ms=0",
    "project_doc_max_bytes=0",
    "skills.bundled.enabled=false",
    "skills.include_instructions=false",
    // It keeps a user waiting no longer than the other CLI does.
    "model_providers.openclaw.request_max_retries=3",
    "model_providers.openclaw.stream_max_retries=2",
];
/// Where it has its databases where the turn has a memory of its own: it makes them anew in each,
/// which takes longer on a disk. Their content is in the sessions too.
const SQLITE: &str = "/dev/shm";
/// The longest start of our tools, in seconds.
const TOOLS_START: u64 = 30;

/// Its arguments: TOML, of which JSON's strings and lists are a part.
pub(super) fn arguments(start: &Start<'_>, own: &CodexTools) -> Vec<OsString> {
    let mut settings: Vec<String> = OFF.map(|name| format!("features.{name}=false")).into();
    settings.extend(SET.map(str::to_owned));
    settings.extend(provider());
    settings.extend(tools(start));
    settings.extend(untrusted(start));
    settings.push(format!(
        "shell_environment_policy.exclude={}",
        json!([REPOSITORY])
    ));
    if start.level.has_namespaces() {
        settings.push(format!("sqlite_home={}", json!(SQLITE)));
    }
    if !own.commands {
        settings
            .extend(["shell_tool", "unified_exec"].map(|name| format!("features.{name}=false")));
    }
    if !own.images {
        settings.push("features.view_image=false".to_owned());
    }
    if !own.search {
        settings.push("web_search=\"disabled\"".to_owned());
    }
    let mut arguments = vec![OsString::from("app-server")];
    for setting in settings {
        arguments.push("-c".into());
        arguments.push(setting.into());
    }
    arguments
}

/// The settings in the workspace are the agent's to write. It trusts a folder that it is to work in
/// without a sandbox, unless told not to; then it does not read them, nor those of folders above.
fn untrusted(start: &Start<'_>) -> [String; 2] {
    let workspace = json!(*start.places.workspace);
    [
        format!("projects={{{workspace}={{trust_level=\"untrusted\"}}}}"),
        "project_root_markers=[]".to_owned(),
    ]
}

fn provider() -> Vec<String> {
    let of = |name: &str, value: String| format!("model_providers.openclaw.{name}={value}");
    vec![
        "model_provider=\"openclaw\"".to_owned(),
        of("name", json!("OpenAI").to_string()),
        of(
            "base_url",
            json!(format!("{MODEL_URL}{}", MOUNT)).to_string(),
        ),
        of("env_key", json!(TOKEN).to_string()),
        of("wire_api", json!("responses").to_string()),
    ]
}

/// Ours, about which this side asks.
fn tools(start: &Start<'_>) -> Vec<String> {
    let of = |name: &str, value: String| format!("mcp_servers.openclaw.{name}={value}");
    let arguments = start
        .tool_server()
        .map(|argument| argument.to_string_lossy());
    vec![
        of("command", json!(start.agent_program).to_string()),
        of("args", json!(arguments).to_string()),
        // Those that must not be made beside others are held up by the server.
        of("supports_parallel_tool_calls", "true".to_owned()),
        of("default_tools_approval_mode", json!("approve").to_string()),
        of("startup_timeout_sec", TOOLS_START.to_string()),
        of(
            "tool_timeout_sec",
            start.agent.timeout.as_secs().to_string(),
        ),
    ]
}
