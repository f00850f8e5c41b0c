//! The use of models, by the transcripts.

use std::path::{Path, PathBuf};

use openclaw_proto::sessions::{Archived, Query};
use openclaw_sessions::Error;
use openclaw_sessions::transcript::{AssistantMessage, Line, LineRead, Lines, Message, Usage};
use openclaw_settings::SessionSettings;

use super::Sessions;
use super::read::blocking;
use crate::refusal::Refusal;

/// One answer of a model's.
#[derive(Debug, Clone)]
pub struct Answered {
    /// Unix milliseconds.
    pub at_ms: i64,
    /// Tokens.
    pub usage: Usage,
    /// US dollars by kind of token; None when the price is not known.
    pub cost: Option<Cost>,
}

/// US dollars.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// For what was read anew.
    pub input: f64,
    /// For what was written.
    pub output: f64,
    /// For what the provider had read before.
    pub cache_read: f64,
    /// For what the provider keeps.
    pub cache_write: f64,
}

impl Sessions {
    /// The answers since `since_ms`, of all sessions that are not deleted. A
    /// transcript that cannot be read is left out.
    pub async fn answered(&self, since_ms: i64) -> Result<Vec<Answered>, Refusal> {
        let query = Query {
            archived: Archived::Also,
            ..Query::default()
        };
        let page = self.list(query).await?;
        let changed = page
            .sessions
            .into_iter()
            .filter(|session| session.updated_at_ms >= since_ms);
        let paths: Vec<PathBuf> = changed
            .map(|session| PathBuf::from(session.transcript_path))
            .collect();
        let settings = self.configuration.settings();
        let read = move || {
            let answers = paths.iter().filter_map(|path| {
                answers(path, since_ms, &settings.session)
                    .inspect_err(|error| tracing::debug!(%error, "a transcript is left out"))
                    .ok()
            });
            Ok(answers.flatten().collect())
        };
        blocking(read).await
    }
}

fn answers(path: &Path, since_ms: i64, settings: &SessionSettings) -> Result<Vec<Answered>, Error> {
    let mut answers = Vec::new();
    for line in Lines::open(path)? {
        let LineRead::Whole(Line::Message(entry)) = line? else {
            continue;
        };
        if let Message::Assistant(answer) = &entry.message
            && answer.timestamp >= since_ms
            && answer.usage.total_tokens > 0
        {
            answers.push(Answered {
                at_ms: answer.timestamp,
                usage: answer.usage.clone(),
                cost: cost(answer, settings),
            });
        }
    }
    Ok(answers)
}

fn cost(answer: &AssistantMessage, settings: &SessionSettings) -> Option<Cost> {
    let model = format!("{}/{}", answer.provider, answer.model);
    let price = settings.prices.get(&model)?;
    Some(Cost {
        input: price.input * answer.usage.input as f64,
        output: price.output * answer.usage.output as f64,
        cache_read: price.cache_read * answer.usage.cache_read as f64,
        cache_write: price.cache_write * answer.usage.cache_write as f64,
    })
}
