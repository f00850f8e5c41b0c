//! What is remembered, how it is searched, and by which embedder.
//!
//! The sections are OpenClaw's: `memory.search` for everybody,
//! `agents.defaults.memorySearch` over it, and an agent's own `memorySearch`
//! over that. Keys we do not use are left alone.

use std::path::PathBuf;

use serde::Deserialize;

use crate::paths::Paths;
use crate::secret::Secret;

/// Seed 002, `memory.maxContextTokens`.
const CONTEXT_TOKENS: u64 = 100_000;
/// Seed 002, `memory.temporalDecayHalfLife`, in days.
pub const HALF_LIFE_DAYS: f64 = 7.0;
/// Age breaks ties and lifts what is recent, and never buries the only answer:
/// without a floor decay costs three quarters of the recall.
const DECAY_FLOOR: f64 = 0.9;
/// OpenClaw's `query.maxResults`.
const RESULTS: u32 = 6;
/// The most results one search gives; a model reads no more.
const RESULTS_LIMIT: u32 = 50;
/// OpenClaw's weight of relevance against diversity.
const DIVERSITY: f64 = 0.7;
/// OpenClaw's trigger recall: passages given with a turn unasked.
const RECALLED: u32 = 3;
/// What they may cost together, in tokens; about what three notes say.
const RECALLED_TOKENS: u32 = 800;
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

/// `memory`, as written.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct Fragment {
    /// The default agent's workspace.
    pub workspace_path: Option<String>,
    /// The most tokens of history and context a turn is given.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub max_context_tokens: Option<u64>,
    /// In days.
    #[cfg_attr(test, schemars(extend("exclusiveMinimum" = 0)))]
    pub temporal_decay_half_life: Option<f64>,
    /// What holds for every agent.
    pub search: SearchFragment,
}

/// `memory.search` and `memorySearch`, as written.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct SearchFragment {
    /// Whether there is anything to search.
    pub enabled: Option<bool>,
    /// `memory` and `sessions`.
    pub sources: Option<Vec<String>>,
    /// Further files and folders of Markdown.
    pub extra_paths: Option<Vec<ExtraPath>>,
    /// `static`, `none`, or the id of a provider of models.
    pub provider: Option<String>,
    /// The provider's embedding model.
    pub model: Option<String>,
    /// Where and how the provider is asked, when not as for its other models.
    pub remote: RemoteFragment,
    /// How changes are seen.
    pub sync: SyncFragment,
    /// How results are ranked.
    pub query: QueryFragment,
    /// What is given with a turn unasked.
    pub recall: RecallFragment,
}

/// `remote`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct RemoteFragment {
    /// Where its API is.
    pub base_url: Option<String>,
    /// Its key.
    pub api_key: Option<Secret>,
}

/// One of `extraPaths`.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ExtraPath {
    /// A file or folder.
    Path(String),
    /// OpenClaw's form, with which of the folder's files are meant.
    Chosen {
        /// A file or folder.
        path: String,
    },
}

impl ExtraPath {
    fn path(&self) -> &str {
        match self {
            Self::Path(path) | Self::Chosen { path } => path,
        }
    }
}

/// `sync`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SyncFragment {
    /// Whether files are watched.
    pub watch: Option<bool>,
}

/// `query`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct QueryFragment {
    /// How many results a search gives.
    #[cfg_attr(test, schemars(range(min = 1, max = 50)))]
    pub max_results: Option<u32>,
    /// Results below it are left out; 0 to 1.
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub min_score: Option<f64>,
    /// Keywords and vectors together.
    pub hybrid: HybridFragment,
}

/// `query.hybrid`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct HybridFragment {
    /// What vectors weigh.
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub vector_weight: Option<f64>,
    /// What keywords weigh.
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub text_weight: Option<f64>,
    /// Diversity.
    pub mmr: MmrFragment,
    /// Age.
    pub temporal_decay: DecayFragment,
}

/// `query.hybrid.mmr`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct MmrFragment {
    /// Whether results are made diverse.
    pub enabled: Option<bool>,
    /// 1: relevance alone.
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub lambda: Option<f64>,
}

/// `query.hybrid.temporalDecay`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct DecayFragment {
    /// Whether older passages count less.
    pub enabled: Option<bool>,
    /// In days.
    #[cfg_attr(test, schemars(extend("exclusiveMinimum" = 0)))]
    pub half_life_days: Option<f64>,
    /// What the oldest still count, as a part of 1.
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub floor: Option<f64>,
}

/// `recall`.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct RecallFragment {
    /// Whether anything is given unasked.
    pub enabled: Option<bool>,
    /// At most this many passages.
    pub max_passages: Option<u32>,
    /// At most this many tokens together.
    pub max_tokens: Option<u32>,
}

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
    /// The most tokens of history and context a turn is given.
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
pub(super) type Problem = (String, String);

/// `over` where it says something, else `under`.
pub(super) fn merged(under: &SearchFragment, over: &SearchFragment) -> SearchFragment {
    fn pick<T: Clone>(over: &Option<T>, under: &Option<T>) -> Option<T> {
        over.clone().or_else(|| under.clone())
    }
    let (hybrid, beneath) = (&over.query.hybrid, &under.query.hybrid);
    SearchFragment {
        enabled: pick(&over.enabled, &under.enabled),
        sources: pick(&over.sources, &under.sources),
        extra_paths: pick(&over.extra_paths, &under.extra_paths),
        provider: pick(&over.provider, &under.provider),
        model: pick(&over.model, &under.model),
        remote: RemoteFragment {
            base_url: pick(&over.remote.base_url, &under.remote.base_url),
            api_key: pick(&over.remote.api_key, &under.remote.api_key),
        },
        sync: SyncFragment {
            watch: pick(&over.sync.watch, &under.sync.watch),
        },
        query: QueryFragment {
            max_results: pick(&over.query.max_results, &under.query.max_results),
            min_score: pick(&over.query.min_score, &under.query.min_score),
            hybrid: HybridFragment {
                vector_weight: pick(&hybrid.vector_weight, &beneath.vector_weight),
                text_weight: pick(&hybrid.text_weight, &beneath.text_weight),
                mmr: MmrFragment {
                    enabled: pick(&hybrid.mmr.enabled, &beneath.mmr.enabled),
                    lambda: pick(&hybrid.mmr.lambda, &beneath.mmr.lambda),
                },
                temporal_decay: merged_decay(&beneath.temporal_decay, &hybrid.temporal_decay),
            },
        },
        recall: RecallFragment {
            enabled: pick(&over.recall.enabled, &under.recall.enabled),
            max_passages: pick(&over.recall.max_passages, &under.recall.max_passages),
            max_tokens: pick(&over.recall.max_tokens, &under.recall.max_tokens),
        },
    }
}

fn merged_decay(under: &DecayFragment, over: &DecayFragment) -> DecayFragment {
    DecayFragment {
        enabled: over.enabled.or(under.enabled),
        half_life_days: over.half_life_days.or(under.half_life_days),
        floor: over.floor.or(under.floor),
    }
}

/// The settings of memory as a whole; `search` is that of all agents.
pub(super) fn whole(fragment: &Fragment, search: &SearchFragment) -> Result<Memory, Problem> {
    Ok(Memory {
        context_tokens: fragment.max_context_tokens.unwrap_or(CONTEXT_TOKENS),
        is_context_set: fragment.max_context_tokens.is_some(),
        embedder: embedder(search)?,
        watch: search.sync.watch.unwrap_or(true),
    })
}

fn embedder(search: &SearchFragment) -> Result<Embedder, Problem> {
    let provider = search.provider.as_deref().unwrap_or("static");
    match provider {
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
            ("model".to_owned(), problem)
        })
}

/// The settings of one agent's search. `half_life` is seed 002's, which holds
/// where the section does not say.
pub(super) fn search(
    fragment: &SearchFragment,
    half_life: Option<f64>,
    paths: &Paths,
) -> Result<MemorySearch, Problem> {
    let (notes, sessions) = sources(fragment.sources.as_deref())?;
    let query = &fragment.query;
    let decay = &query.hybrid.temporal_decay;
    let half_life = days(
        decay.half_life_days.or(half_life),
        "query.hybrid.temporalDecay.halfLifeDays",
    )?;
    let lambda = fraction(
        query.hybrid.mmr.lambda,
        DIVERSITY,
        "query.hybrid.mmr.lambda",
    )?;
    let recalls = fragment.recall.enabled.unwrap_or(true);
    let recalled = fragment.recall.max_passages.unwrap_or(RECALLED);
    Ok(MemorySearch {
        enabled: fragment.enabled.unwrap_or(true),
        notes,
        sessions,
        extra_paths: fragment
            .extra_paths
            .iter()
            .flatten()
            .map(|path| extra_path(path.path(), paths))
            .collect(),
        results: results(query.max_results)?,
        min_score: fraction(query.min_score, 0.0, "query.minScore")?,
        weights: weights(&query.hybrid)?,
        half_life_days: decay.enabled.unwrap_or(true).then_some(half_life),
        decay_floor: fraction(decay.floor, DECAY_FLOOR, "query.hybrid.temporalDecay.floor")?,
        diversity: query.hybrid.mmr.enabled.unwrap_or(true).then_some(lambda),
        recalled: if recalls { recalled.min(RECALLED) } else { 0 },
        recalled_tokens: fragment.recall.max_tokens.unwrap_or(RECALLED_TOKENS),
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

fn sources(names: Option<&[String]>) -> Result<(bool, bool), Problem> {
    let Some(names) = names else {
        return Ok((true, true));
    };
    if let Some(other) = names
        .iter()
        .find(|name| !matches!(name.as_str(), "memory" | "sessions"))
    {
        let problem = format!("has {other:?}; allowed are \"memory\" and \"sessions\"");
        return Err(("sources".to_owned(), problem));
    }
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    Ok((has("memory"), has("sessions")))
}

fn results(value: Option<u32>) -> Result<u32, Problem> {
    match value {
        None => Ok(RESULTS),
        Some(results @ 1..=RESULTS_LIMIT) => Ok(results),
        Some(other) => Err((
            "query.maxResults".to_owned(),
            format!("is {other}; it must be 1 to {RESULTS_LIMIT}"),
        )),
    }
}

fn weights(hybrid: &HybridFragment) -> Result<Option<(f64, f64)>, Problem> {
    if hybrid.text_weight.is_none() && hybrid.vector_weight.is_none() {
        return Ok(None);
    }
    let other = |weight: Option<f64>| 1.0 - weight.unwrap_or(0.5);
    let (text, vector) = (hybrid.text_weight, hybrid.vector_weight);
    let text = fraction(text, other(vector), "query.hybrid.textWeight")?;
    let vector = fraction(vector, 1.0 - text, "query.hybrid.vectorWeight")?;
    if text + vector <= 0.0 {
        let problem = "is 0 and so is vectorWeight; one of them must be more".to_owned();
        return Err(("query.hybrid.textWeight".to_owned(), problem));
    }
    Ok(Some((text, vector)))
}

fn days(value: Option<f64>, key: &str) -> Result<f64, Problem> {
    match value.unwrap_or(HALF_LIFE_DAYS) {
        days if days > 0.0 && days.is_finite() => Ok(days),
        other => Err((
            key.to_owned(),
            format!("is {other}; it must be more than 0 days"),
        )),
    }
}

fn fraction(value: Option<f64>, default: f64, key: &str) -> Result<f64, Problem> {
    match value.unwrap_or(default) {
        value if (0.0..=1.0).contains(&value) => Ok(value),
        other => Err((key.to_owned(), format!("is {other}; it must be 0 to 1"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fragment(json: &str) -> SearchFragment {
        serde_json::from_str(json).unwrap()
    }

    fn paths() -> Paths {
        let environment = [("OPENCLAW_STATE_DIR", "/s")].into_iter().collect();
        Paths::resolve(&environment).unwrap()
    }

    fn searched(json: &str) -> Result<MemorySearch, Problem> {
        search(&fragment(json), None, &paths())
    }

    #[test]
    fn nothing_said_is_enough() {
        let search = searched("{}").unwrap();
        assert!(search.enabled && search.notes && search.sessions);
        assert_eq!(
            (search.half_life_days, search.decay_floor),
            (Some(7.0), 0.9)
        );
        assert_eq!((search.results, search.recalled), (6, 3));
        assert_eq!(search.weights, None);
        let whole = whole(&Fragment::default(), &fragment("{}")).unwrap();
        assert_eq!(whole.embedder, Embedder::Static);
    }

    #[test]
    fn an_agents_own_section_is_over_the_one_of_all() {
        let all = fragment(
            r#"{"sources":["memory"],"extraPaths":["notes"],"query":{"maxResults":9,"hybrid":{"mmr":{"enabled":false}}}}"#,
        );
        let own = fragment(r#"{"extraPaths":["/a"],"query":{"minScore":0.2}}"#);
        let search = search(&merged(&all, &own), Some(3.0), &paths()).unwrap();
        assert!(search.notes && !search.sessions);
        assert_eq!(search.extra_paths, [PathBuf::from("/a")]);
        assert_eq!((search.results, search.min_score), (9, 0.2));
        assert_eq!((search.diversity, search.half_life_days), (None, Some(3.0)));
        let relative = self::search(&all, None, &paths()).unwrap();
        assert_eq!(relative.extra_paths, [PathBuf::from("notes")]);
    }

    #[test]
    fn one_weight_gives_the_other() {
        let search = searched(r#"{"query":{"hybrid":{"vectorWeight":0.25}}}"#).unwrap();
        assert_eq!(search.weights, Some((0.75, 0.25)));
    }

    #[test]
    fn embedders_are_chosen_by_provider() {
        let of = |json| embedder(&fragment(json));
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
            assert_eq!(searched(json).unwrap_err().0, key);
        }
    }
}
