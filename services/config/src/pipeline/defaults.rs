//! The values that hold where nothing is set (seed 003 §2.3, step 11).
//!
//! Daemons apply them where settings are validated; here they are a document,
//! to be shown.

use std::time::Duration;

use serde_json::{Value, json};

use super::include::deep_merge;
use crate::environment::Environment;
use crate::error::Error;
use crate::paths::Paths;
use crate::settings::{
    AgentSettings, MAX_TOKENS, MemorySearch, Network, QueueSettings, SandboxLevel, SessionSettings,
    Settings, memory, tools,
};

/// One MiB in bytes.
const MIB: u64 = 1 << 20;

/// Puts the defaults under the document.
pub fn apply(document: Value, paths: &Paths) -> Result<Value, Error> {
    let empty = Value::Object(serde_json::Map::new());
    let settings = Settings::assemble(paths.clone(), empty, &Environment::default())?;
    Ok(under(standard(&settings), document))
}

/// Lists are not put behind each other here: one that is set counts alone.
fn under(mut defaults: Value, document: Value) -> Value {
    remove_lists_of(&document, &mut defaults);
    deep_merge(defaults, document)
}

fn remove_lists_of(document: &Value, defaults: &mut Value) {
    match (document, defaults) {
        (Value::Object(fields), Value::Object(defaults)) => {
            for (key, value) in fields {
                if let Some(below) = defaults.get_mut(key) {
                    remove_lists_of(value, below);
                }
            }
        }
        (Value::Array(_), Value::Array(list)) => list.clear(),
        _ => {}
    }
}

/// Everything that has a value when nothing is set; the test of property 8
/// says what has none.
fn standard(settings: &Settings) -> Value {
    let agent = settings.agents.values().next();
    json!({
        "agents": {"defaults": agent.map(|agent| self::agent(agent, settings)), "list": []},
        "auth": {"order": {}},
        "env": {"vars": {}, "shellEnv": false},
        "gateway": gateway(settings),
        "hooks": {
            "enabled": settings.gateway.hooks.enabled,
            "path": settings.gateway.hooks.path,
            "allowRequestSessionKey": settings.gateway.hooks.allow_request_session_key,
            "presets": [],
            "mappings": [],
        },
        "cron": {"enabled": settings.cron_enabled},
        "logging": {"level": settings.log_level.name()},
        "memory": {
            "maxContextTokens": settings.memory.context_tokens,
            "temporalDecayHalfLife": memory::HALF_LIFE_DAYS,
        },
        "mcp": {"servers": {}, "sessionIdleTtlMs": tools::IDLE_MS},
        "messages": {"queue": queue(&settings.queue)},
        "models": {"mode": "merge", "providers": {}},
        "sandbox": {
            "hosts": [],
            "level": SandboxLevel::Strict.name(),
            "missing": settings.sandbox.missing.name(),
            "network": Network::ModelOnly.name(),
            "paths": {"ro": [], "rw": []},
            "providerTools": [],
            "user": settings.sandbox.user,
        },
        "session": session(&settings.session),
        "tools": tools(),
    })
}

fn tools() -> Value {
    json!({
        "profile": tools::PROFILE,
        "allow": [],
        "alsoAllow": [],
        "deny": [],
        "exec": {
            "safeBinProfiles": {},
            "safeBinTrustedDirs": [],
            "allowlist": [],
            "approvalTimeoutSec": tools::PATIENCE.as_secs(),
        },
    })
}

fn gateway(settings: &Settings) -> Value {
    let gateway = &settings.gateway;
    let limit = &gateway.rate_limit;
    json!({
        "maxConcurrentTurns": settings.concurrent_turns,
        "port": gateway.port,
        "bind": "loopback",
        "auth": {
            "mode": "token",
            "rateLimit": {
                "maxAttempts": limit.attempts,
                "windowMs": milliseconds(limit.window),
                "lockoutMs": milliseconds(limit.lockout),
                "exemptLoopback": limit.exempt_loopback,
            },
        },
        "trustedProxies": [],
        "allowedHosts": [],
        "controlUi": {"allowedOrigins": []},
        "http": {"endpoints": {
            "chatCompletions": {"enabled": gateway.chat_completions},
            "responses": {"enabled": gateway.responses},
            "metrics": {"enabled": gateway.metrics},
        }},
        "control": {"channelUids": []},
        "cli": {"port": gateway.cli.port},
    })
}

fn queue(queue: &QueueSettings) -> Value {
    // Of a channel that nobody configured.
    let channel = "";
    json!({
        "mode": queue.mode(channel).name(),
        "byChannel": {},
        "debounceMs": milliseconds(queue.debounce(channel)),
        "debounceMsByChannel": {},
        "cap": queue.cap,
        "drop": queue.drop.name(),
    })
}

fn session(session: &SessionSettings) -> Value {
    json!({
        "scope": session.scope.name(),
        "dmScope": session.dm_scope.name(),
        "identityLinks": {},
        "reset": {"mode": "none"},
        "resetByType": {},
        "resetByChannel": {},
        "sendPolicy": {"default": "allow", "rules": []},
        "resetTriggers": session.reset_triggers,
        "interrupted": session.interrupted.name(),
    })
}

fn agent(agent: &AgentSettings, settings: &Settings) -> Value {
    let limits = &agent.limits;
    json!({
        "workspace": agent.workspace.display().to_string(),
        "backend": agent.backend.name(),
        "maxTokens": agent.max_tokens.unwrap_or(MAX_TOKENS),
        "timeoutSeconds": agent.timeout.as_secs(),
        "noOutputSeconds": agent.no_output.as_secs(),
        "claudeCliPath": agent.claude_path,
        "codexCliPath": agent.codex_path,
        "cliWarmSeconds": agent.cli_warm.as_secs(),
        "limits": {
            "steps": limits.steps,
            "identicalCalls": limits.identical_calls,
            "addressSpaceMib": limits.address_space / MIB,
            "processes": limits.processes,
            "openFiles": limits.open_files,
            "fileSizeMib": limits.file_size / MIB,
            "cpuSeconds": limits.cpu_seconds,
            "memoryMax": limits.memory_max,
            "tasksMax": limits.tasks_max,
            "cpuQuota": limits.cpu_quota,
            "outputTokens": limits.output_tokens,
            "memorySearches": limits.memory_searches,
            "costPerTurn": limits.cost_per_turn,
            "costPerDay": limits.cost_per_day,
            "retrySeconds": limits.retry_wait.as_secs(),
        },
        "memorySearch": memory_search(&agent.memory, settings.memory.watch),
        "bootstrapMaxChars": agent.bootstrap.file,
        "bootstrapTotalMaxChars": agent.bootstrap.total,
        "skipBootstrap": !agent.bootstrap.templates,
    })
}

fn memory_search(search: &MemorySearch, watch: bool) -> Value {
    json!({
        "enabled": search.enabled,
        "sources": ["memory", "sessions"],
        "extraPaths": [],
        "provider": "static",
        "sync": {"watch": watch},
        "query": {
            "maxResults": search.results,
            "minScore": search.min_score,
            "hybrid": {
                "mmr": {"enabled": search.diversity.is_some(), "lambda": search.diversity},
                "temporalDecay": {"enabled": true, "floor": search.decay_floor},
            },
        },
        "recall": {
            "enabled": search.recalled > 0,
            "maxPassages": search.recalled,
            "maxTokens": search.recalled_tokens,
        },
    })
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Takes away that a value was chosen which is the default.
#[cfg(test)]
pub(crate) fn forget_choices(settings: &mut Settings) {
    settings.memory.is_context_set = false;
    for agent in settings.agents.values_mut() {
        agent.max_tokens = agent.max_tokens.filter(|tokens| *tokens != MAX_TOKENS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;

    fn paths() -> Paths {
        Paths::resolve(&[("HOME", "/home/claw")].into_iter().collect()).unwrap()
    }

    #[test]
    fn the_defaults_are_what_an_empty_file_means() {
        let document = apply(json!({}), &paths()).unwrap();
        assert_eq!(Schema::shipped().check(&document), []);
        let empty = Settings::assemble(paths(), json!({}), &Environment::default()).unwrap();
        let mut full = Settings::assemble(paths(), document, &Environment::default()).unwrap();
        full.gateway.port_is_chosen = false;
        forget_choices(&mut full);
        assert_eq!(empty, full);
    }

    #[test]
    fn what_is_set_counts() {
        let file = json!({"logging": {"level": "warn"}, "sandbox": {"paths": {"ro": ["/a"]}}});
        let document = apply(file, &paths()).unwrap();
        assert_eq!(document["logging"]["level"], "warn");
        assert_eq!(
            document["sandbox"]["paths"],
            json!({"ro": ["/a"], "rw": []})
        );
        assert_eq!(document["agents"]["defaults"]["maxTokens"], 8192);
    }
}
