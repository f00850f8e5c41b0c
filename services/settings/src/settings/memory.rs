//! What is remembered, how it is searched, and by which embedder.

use std::path::PathBuf;

use openclaw_config::paths::Paths;

use crate::keys::memory::{self as keys, Hybrid, RECALLED, Search};

/// Providers of embeddings with OpenAI's API: the model they are asked for when
/// none is named, and where they are.
const REMOTE: [(&str, &str, &str); 7] = [
    (
        "openai",
        "text-embedding-3-small",
        "https://api.openai.com/v1",
    ),
    ("ollama", "nomic-embed-text", "http://127.0.0.1:11434/v1"),
    (
        "lmstudio",
        "text-embedding-nomic-embed-text-v1.5",
        "http://127.0.0.1:1234/v1",
    ),
    ("mistral", "mistral-embed", "https://api.mistral.ai/v1"),
    ("voyage", "voyage-3.5", "https://api.voyageai.com/v1"),
    (
        "gemini",
        "gemini-embedding-001",
        "https://generativelanguage.googleapis.com/v1beta/openai",
    ),
    (
        "deepinfra",
        "BAAI/bge-m3",
        "https://api.deepinfra.com/v1/openai",
    ),
];

/// What makes vectors of texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Embedder {
    /// Nothing: keywords alone.
    None,
    /// The table that is shipped.
    Static,
    /// An OpenAI-compatible API, asked by the agent-runner.
    Remote {
        /// The provider's id.
        provider: String,
        /// Its embedding model.
        model: String,
    },
}

/// Settings of memory as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    /// The most tokens of a request: instructions, tools, what memory found, history, and
    /// the message.
    pub context_tokens: u64,
    /// Whether somebody has set it.
    pub is_context_set: bool,
    /// One for all agents: vectors of different embedders do not compare.
    pub embedder: Embedder,
    /// Whether files are watched; otherwise they are looked at now and then.
    pub watch: bool,
}

/// How one agent's memory is searched.
#[derive(Debug, Clone, PartialEq)]
pub struct MemorySearch {
    /// Whether there is anything to search.
    pub enabled: bool,
    /// Whether the workspace's notes are searched.
    pub notes: bool,
    /// Whether the sessions' transcripts are searched.
    pub sessions: bool,
    /// Further files and folders of Markdown; relative ones to the workspace.
    pub extra_paths: Vec<PathBuf>,
    /// How many results a search gives that does not say.
    pub results: u32,
    /// Results below it are left out.
    pub min_score: f64,
    /// What keywords and vectors weigh; `None`: as measured.
    pub weights: Option<(f64, f64)>,
    /// After how many days a passage counts half; `None`: never less.
    pub half_life_days: Option<f64>,
    /// What the oldest still count.
    pub decay_floor: f64,
    /// Relevance against diversity; `None`: relevance alone.
    pub diversity: Option<f64>,
    /// Passages given with a turn unasked.
    pub recalled: u32,
    /// What they may cost together, in tokens.
    pub recalled_tokens: u32,
}

/// A key below the section, and what is wrong with its value.
pub(super) type Problem = (&'static str, String);

/// The settings of memory as a whole; `search` is that of all agents.
pub(super) fn whole(keys: &keys::Memory, search: &Search) -> Result<Memory, Problem> {
    Ok(Memory {
        context_tokens: *keys.max_context_tokens.value(),
        is_context_set: keys.max_context_tokens.is_chosen(),
        embedder: embedder(search)?,
        watch: search.sync.watch,
    })
}

fn embedder(search: &Search) -> Result<Embedder, Problem> {
    match search.provider.as_str() {
        // A model of their own has a row in the table of effects.
        "static" | "auto" | "local" => Ok(Embedder::Static),
        "none" => Ok(Embedder::None),
        remote => Ok(Embedder::Remote {
            provider: remote.to_owned(),
            model: remote_model(remote, search.model.as_deref())?,
        }),
    }
}

/// Where the provider `id` of embeddings is, when it is known.
pub(super) fn base_url(id: &str) -> Option<&'static str> {
    let known = REMOTE.iter().find(|known| known.0 == id);
    known.map(|known| known.2)
}

fn remote_model(provider: &str, model: Option<&str>) -> Result<String, Problem> {
    let known = REMOTE.iter().find(|known| known.0 == provider);
    model
        .or_else(|| known.map(|known| known.1))
        .map(str::to_owned)
        .ok_or_else(|| {
            let problem = format!(
                "is missing: say which embedding model {provider:?} is to be asked for; on this \
                 machine there are the providers static and none"
            );
            ("model", problem)
        })
}

/// What holds where the section does not say.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unsaid {
    /// Seed 002's.
    pub(super) half_life_days: f64,
    /// Whether one conversation is found in another: not where people are kept
    /// apart (`session.dmScope`).
    pub(super) across: bool,
}

/// The settings of one agent's search.
pub(super) fn search(
    keys: &Search,
    unsaid: Unsaid,
    paths: &Paths,
) -> Result<MemorySearch, Problem> {
    let (notes, sessions) = sources(&keys.sources)?;
    let across = keys.remember_across_conversations.unwrap_or(unsaid.across);
    let query = &keys.query;
    let (decay, mmr) = (&query.hybrid.temporal_decay, &query.hybrid.mmr);
    let half_life = decay.half_life_days.unwrap_or(unsaid.half_life_days);
    let extra_paths = keys.extra_paths.iter();
    Ok(MemorySearch {
        enabled: keys.enabled,
        notes,
        sessions: sessions && across,
        extra_paths: extra_paths
            .map(|path| extra_path(path.path(), paths))
            .collect(),
        results: query.max_results,
        min_score: query.min_score,
        weights: weights(&query.hybrid)?,
        half_life_days: decay.enabled.then_some(half_life),
        decay_floor: decay.floor,
        diversity: mmr.enabled.then_some(mmr.lambda),
        recalled: if keys.recall.enabled {
            keys.recall.max_passages.min(RECALLED)
        } else {
            0
        },
        recalled_tokens: keys.recall.max_tokens,
    })
}

/// Relative ones are relative to the workspace, as OpenClaw has it.
fn extra_path(path: &str, paths: &Paths) -> PathBuf {
    if path.starts_with("~/") {
        paths.expand(path)
    } else {
        PathBuf::from(path)
    }
}

fn sources(names: &[String]) -> Result<(bool, bool), Problem> {
    if let Some(other) = names
        .iter()
        .find(|name| !matches!(name.as_str(), "memory" | "sessions"))
    {
        let problem = format!("has {other:?}; allowed are \"memory\" and \"sessions\"");
        return Err(("sources", problem));
    }
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    Ok((has("memory"), has("sessions")))
}

fn weights(hybrid: &Hybrid) -> Result<Option<(f64, f64)>, Problem> {
    let (text, vector) = match (hybrid.text_weight, hybrid.vector_weight) {
        (None, None) => return Ok(None),
        (Some(text), vector) => (text, vector.unwrap_or(1.0 - text)),
        (None, Some(vector)) => (1.0 - vector, vector),
    };
    if text + vector <= 0.0 {
        let problem = "is 0 and so is vectorWeight; one of them must be more".to_owned();
        return Err(("query.hybrid.textWeight", problem));
    }
    Ok(Some((text, vector)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::settings::Settings;
    use openclaw_config::environment::Environment;
    use openclaw_config::error::Error;

    fn keys(json: &str) -> Search {
        serde_json::from_str(json).unwrap()
    }

    fn paths() -> Paths {
        let environment = [("OPENCLAW_STATE_DIR", "/s")].into_iter().collect();
        Paths::resolve(&environment).unwrap()
    }

    fn searched(json: &str) -> Result<MemorySearch, Problem> {
        let unsaid = Unsaid {
            half_life_days: 7.0,
            across: true,
        };
        search(&keys(json), unsaid, &paths())
    }

    #[test]
    fn memory_nothing_said_is_enough() {
        let search = searched("{}").unwrap();
        assert!(search.enabled && search.notes && search.sessions);
        assert_eq!(
            (search.half_life_days, search.decay_floor),
            (Some(7.0), 0.9)
        );
        assert_eq!((search.results, search.recalled), (6, 3));
        assert_eq!(search.weights, None);
        let whole = whole(&super::keys::Memory::default(), &keys("{}")).unwrap();
        assert_eq!(whole.embedder, Embedder::Static);
    }

    fn settings(document: serde_json::Value) -> Result<Settings, Error> {
        Settings::assemble(paths(), document, &Environment::default())
    }

    #[test]
    fn agents_own_section_is_over_the_one_of_all() {
        let all = json!({
            "sources": ["memory"], "extraPaths": ["notes"],
            "query": {"maxResults": 9, "hybrid": {"mmr": {"enabled": false}}},
        });
        let own = json!({"extraPaths": ["/a"], "query": {"minScore": 0.2}});
        let settings = settings(json!({
            "memory": {"search": all, "temporalDecayHalfLife": 3.0},
            "agents": {"list": [{"id": "own", "memorySearch": own}]},
        }))
        .unwrap();
        let search = &settings.agents["own"].memory;
        assert!(search.notes && !search.sessions);
        assert_eq!(search.extra_paths, [PathBuf::from("/a")]);
        assert_eq!((search.results, search.min_score), (9, 0.2));
        assert_eq!((search.diversity, search.half_life_days), (None, Some(3.0)));
        let relative = &settings.agents["main"].memory;
        assert_eq!(relative.extra_paths, [PathBuf::from("notes")]);
    }

    #[test]
    fn conversations_are_apart_where_people_are() {
        for (scope, said, is_found) in [
            (None, None, true),
            (Some("main"), None, true),
            (Some("per-peer"), None, false),
            (Some("per-channel-peer"), Some(true), true),
            (None, Some(false), false),
        ] {
            let mut document = json!({"session": {}, "memory": {"search": {}}});
            if let Some(scope) = scope {
                document["session"]["dmScope"] = json!(scope);
            }
            if let Some(said) = said {
                document["memory"]["search"]["rememberAcrossConversations"] = json!(said);
            }
            let settings = settings(document.clone()).unwrap();
            let search = &settings.agents["main"].memory;
            assert_eq!(search.sessions, is_found, "{document}");
            assert!(search.notes, "{document}");
        }
        let own = json!({"id": "own", "memorySearch": {"rememberAcrossConversations": false}});
        let settings = settings(json!({"agents": {"list": [{"id": "main"}, own]}})).unwrap();
        assert!(settings.agents["main"].memory.sessions);
        assert!(!settings.agents["own"].memory.sessions);
    }

    #[test]
    fn memory_one_weight_gives_the_other() {
        let search = searched(r#"{"query":{"hybrid":{"vectorWeight":0.25}}}"#).unwrap();
        assert_eq!(search.weights, Some((0.75, 0.25)));
    }

    #[test]
    fn embedders_are_chosen_by_provider() {
        let of = |json| embedder(&keys(json));
        assert_eq!(of(r#"{"provider":"none"}"#), Ok(Embedder::None));
        assert_eq!(of(r#"{"provider":"local"}"#), Ok(Embedder::Static));
        let Ok(Embedder::Remote { model, .. }) = of(r#"{"provider":"openai"}"#) else {
            panic!("openai is remote");
        };
        assert_eq!(model, "text-embedding-3-small");
        let (key, problem) = of(r#"{"provider":"statik"}"#).unwrap_err();
        assert!(key == "model" && problem.contains("static"), "{problem}");
    }

    #[test]
    fn mistakes_name_the_key_and_what_is_allowed() {
        for (json, key) in [
            (r#"{"sources":["wiki"]}"#, "sources"),
            (r#"{"query":{"maxResults":0}}"#, "query.maxResults"),
            (r#"{"query":{"minScore":1.5}}"#, "query.minScore"),
            (
                r#"{"query":{"hybrid":{"temporalDecay":{"halfLifeDays":0}}}}"#,
                "query.hybrid.temporalDecay.halfLifeDays",
            ),
            (
                r#"{"query":{"hybrid":{"textWeight":0,"vectorWeight":0}}}"#,
                "query.hybrid.textWeight",
            ),
        ] {
            let written: serde_json::Value = serde_json::from_str(json).unwrap();
            let document = json!({"agents": {"defaults": {"memorySearch": written}}});
            let error = settings(document).unwrap_err().to_string();
            assert!(
                error.contains(&format!("agents.defaults.memorySearch.{key}: ")),
                "{error}"
            );
        }
    }
}
