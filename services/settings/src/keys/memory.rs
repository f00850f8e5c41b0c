//! `memory`, and how the memory of an agent is searched.
//!
//! The sections are OpenClaw's: `memory.search` for everybody,
//! `agents.defaults.memorySearch` over it, and an agent's own `memorySearch`
//! over that.

use openclaw_config::secret::Secret;
use serde::{Deserialize, Serialize};

use crate::chosen::Chosen;
use crate::section::sections;

/// The most passages given with a turn unasked.
pub(crate) const RECALLED: u32 = 3;

sections! {
    /// `memory`, as written.
    pub struct Memory {
        /// The default agent's workspace.
        workspace_path: Option<String>,
        /// The most tokens of a request: instructions, tools, what memory found, history,
        /// and the message.
        #[cfg_attr(test, schemars(range(min = 1)))]
        // Seed 002.
        max_context_tokens: Chosen<u64> = Chosen::by_default(100_000),
        /// In days.
        #[cfg_attr(test, schemars(extend("exclusiveMinimum" = 0)))]
        // Seed 002.
        temporal_decay_half_life: f64 = 7.0,
        /// What holds for every agent.
        #[serde(skip_serializing)]
        search: Search,
    }

    /// `memory.search` and `memorySearch`, as written.
    pub struct Search {
        /// Whether there is anything to search.
        enabled: bool = true,
        /// `memory` and `sessions`.
        sources: Vec<String> = vec!["memory".to_owned(), "sessions".to_owned()],
        /// Whether what was said in one conversation is found in another; unless
        /// set, where `session.dmScope` is `main`.
        remember_across_conversations: Option<bool>,
        /// Further files and folders of Markdown.
        #[cfg_attr(test, schemars(with = "Option<Vec<ExtraPath>>"))]
        extra_paths: Vec<ExtraPath>,
        /// `static`, `none`, or the id of a provider of models.
        provider: String = "static".to_owned(),
        /// The provider's embedding model.
        model: Option<String>,
        /// Where and how the provider is asked, when not as for its other models.
        remote: Remote,
        /// How changes are seen.
        sync: Sync,
        /// How results are ranked.
        query: Query,
        /// What is given with a turn unasked.
        recall: Recall,
    }

    /// `remote`.
    pub struct Remote {
        /// Where its API is.
        base_url: Option<String>,
        /// Its key.
        #[serde(skip_serializing)]
        api_key: Option<Secret>,
    }
}

/// One of `extraPaths`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
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
    /// The file or folder.
    pub(crate) fn path(&self) -> &str {
        match self {
            Self::Path(path) | Self::Chosen { path } => path,
        }
    }
}

sections! {
    /// `sync`.
    pub struct Sync {
        /// Whether files are watched.
        watch: bool = true,
    }

    /// `query`.
    pub struct Query {
        /// How many results a search gives.
        #[cfg_attr(test, schemars(range(min = 1, max = 50)))]
        // As in OpenClaw. A model reads no more than the most.
        max_results: u32 = 6,
        /// Results below it are left out; 0 to 1.
        #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
        min_score: f64 = 0.0,
        /// Keywords and vectors together.
        hybrid: Hybrid,
    }

    /// `query.hybrid`.
    pub struct Hybrid {
        /// What vectors weigh.
        #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
        vector_weight: Option<f64>,
        /// What keywords weigh.
        #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
        text_weight: Option<f64>,
        /// Diversity.
        mmr: Mmr,
        /// Age.
        temporal_decay: Decay,
    }

    /// `query.hybrid.mmr`.
    pub struct Mmr {
        /// Whether results are made diverse.
        enabled: bool = true,
        /// 1: relevance alone.
        #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
        // OpenClaw's weight of relevance against diversity.
        lambda: f64 = 0.7,
    }

    /// `query.hybrid.temporalDecay`.
    pub struct Decay {
        /// Whether older passages count less.
        enabled: bool = true,
        /// In days.
        #[cfg_attr(test, schemars(extend("exclusiveMinimum" = 0)))]
        half_life_days: Option<f64>,
        /// What the oldest still count, as a part of 1.
        #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
        // Age breaks ties and lifts what is recent, and never buries the only
        // answer: without a floor decay costs three quarters of the recall.
        floor: f64 = 0.9,
    }

    /// `recall`.
    pub struct Recall {
        /// Whether anything is given unasked.
        enabled: bool = true,
        /// At most this many passages.
        // OpenClaw's trigger recall; no more are given, whatever is set.
        max_passages: u32 = RECALLED,
        /// At most this many tokens together.
        // About what three notes say.
        max_tokens: u32 = 800,
    }
}
