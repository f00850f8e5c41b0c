//! Secrets in the file, what is logged, and where models are.

use crate::check::{Check, Severity};
use crate::gateway::found;
use crate::scene::{Scene, at};

use Severity::{Critical, Info, Warn};

const FROM_FILE: &str = "write ${VARIABLE} in the file, and put the value into ~/.openclaw/.env";

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "config.unreadable",
        severity: Critical,
        remedy: "openclawctl config validate says what is wrong; until then nothing of it could be judged",
        find: |it| it.problem.iter().cloned().collect(),
    },
    Check {
        id: "config.secrets.gateway_token_in_config",
        severity: Info,
        remedy: "take it out: the gateway makes one and keeps it in auth.json",
        find: |it| {
            found(
                it.writes_secret("gateway.auth.token"),
                "gateway.auth.token stands in the file",
            )
        },
    },
    Check {
        id: "config.secrets.gateway_password_in_config",
        severity: Warn,
        remedy: FROM_FILE,
        find: |it| {
            found(
                it.writes_secret("gateway.auth.password"),
                "gateway.auth.password stands in the file",
            )
        },
    },
    Check {
        id: "config.secrets.hooks_token_in_config",
        severity: Warn,
        remedy: FROM_FILE,
        find: |it| {
            found(
                it.writes_secret("hooks.token"),
                "hooks.token stands in the file",
            )
        },
    },
    Check {
        id: "config.secrets.provider_key_in_config",
        severity: Warn,
        remedy: "openclawctl auth add keeps it apart, for the agent-runner alone; then take apiKey out",
        find: |it| {
            let providers = at(&it.written, "models.providers")
                .as_object()
                .into_iter()
                .flatten();
            let written = providers.filter(|(_, provider)| {
                let key = provider["apiKey"].as_str().unwrap_or_default();
                !key.is_empty() && !key.contains("${")
            });
            written
                .map(|(name, _)| format!("models.providers.{name}.apiKey stands in the file"))
                .collect()
        },
    },
    Check {
        id: "models.provider_plain_http",
        severity: Critical,
        remedy: "use https: the key and every conversation pass the network in the open",
        find: |it| {
            let plain = providers(it).into_iter().filter(|(_, url)| {
                let host = url.strip_prefix("http://").map(host).unwrap_or_default();
                !host.is_empty() && !is_of_machine(host)
            });
            plain
                .map(|(name, url)| format!("models.providers.{name}.baseUrl is {url}"))
                .collect()
        },
    },
    Check {
        id: "memory.remote_embedder",
        severity: Info,
        remedy: "set agents.defaults.memorySearch.provider to local",
        find: |it| {
            let provider = it.text("agents.defaults.memorySearch.provider");
            let is_remote = !["", "local", "none", "auto"].contains(&provider);
            found(
                is_remote,
                format!("what is remembered is sent to {provider} to be searched"),
            )
        },
    },
    Check {
        id: "logging.content",
        severity: Warn,
        remedy: "set logging.content to false when you have seen what you wanted",
        find: |it| {
            found(
                it.is_on("logging.content"),
                "messages, answers and what tools say are in the log",
            )
        },
    },
    Check {
        id: "logging.silent",
        severity: Warn,
        remedy: "set logging.level to info: nothing says afterwards what happened",
        find: |it| {
            found(
                ["silent", "error", "fatal"].contains(&it.text("logging.level")),
                format!("logging.level is {}", it.text("logging.level")),
            )
        },
    },
    Check {
        id: "env.shell_env",
        severity: Info,
        remedy: "set env.shellEnv to false, and name what is needed in ~/.config/openclaw/env",
        find: |it| {
            found(
                it.at("env.shellEnv") == true || it.is_on("env.shellEnv.enabled"),
                "the login shell is run for variables",
            )
        },
    },
];

fn providers(scene: &Scene) -> Vec<(&str, &str)> {
    let all = scene
        .at("models.providers")
        .as_object()
        .into_iter()
        .flatten();
    all.filter_map(|(name, provider)| Some((name.as_str(), provider["baseUrl"].as_str()?)))
        .collect()
}

fn host(url: &str) -> &str {
    let host = url.split(['/', '?']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    if host.starts_with('[') {
        return host
            .split(']')
            .next()
            .unwrap_or_default()
            .trim_start_matches('[');
    }
    host.split(':').next().unwrap_or_default()
}

fn is_of_machine(host: &str) -> bool {
    host == "localhost"
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|it| it.is_loopback())
}
