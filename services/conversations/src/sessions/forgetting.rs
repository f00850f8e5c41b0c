//! Looking for words in all conversations, and taking them out for good.

use openclaw_proto::sessions::{Excerpt, Mention, Mentions};
use openclaw_sessions::AgentId;
use openclaw_sessions::forgetting::{self, NotWords, Seen, Words};

use super::Sessions;
use super::read::blocking;
use crate::refusal::Refusal;
use crate::storage::SaidIn;

/// Places that are shown of one file.
const SHOWN: usize = 3;

impl Sessions {
    /// Where the words are: in transcripts, in archives, and in the gateway's tables. With
    /// `forget`, they are taken out there; transcripts that somebody adds to meanwhile go on.
    pub async fn mentions(
        &self,
        text: &str,
        agent: &str,
        forget: bool,
    ) -> Result<Mentions, Refusal> {
        let words = Words::new(text).map_err(|error| match error {
            NotWords::Short => Refusal::Empty {
                what: "what is to be forgotten (three letters or digits at least)",
            },
            NotWords::Long => Refusal::TooLong {
                what: "what is to be forgotten",
                length: text.len(),
                limit: forgetting::LIMIT,
            },
        })?;
        let agent: Option<AgentId> = match agent {
            "" => None,
            id => Some(id.parse()?),
        };
        let is_everybody = agent.is_none();
        let files = self
            .storage
            .said_in(agent)
            .await
            .map_err(Refusal::Unreadable)?;
        let mut mentions = Mentions::default();
        // Not on the storage thread, which messages wait for.
        let looking = words.clone();
        let found = blocking(move || look(files, &looking)).await?;
        for (file, seen) in found {
            if forget {
                let forgotten = self.storage.forget_in(file.clone(), words.clone());
                mentions.forgotten += forgotten.await.map_err(Refusal::NotSaved)?;
            }
            mentions.files.push(mention(&file, seen));
        }
        // They are not one agent's.
        if is_everybody {
            let jobs = self.storage.jobs_with(words.clone()).await;
            mentions.jobs = jobs.map_err(Refusal::Unreadable)?;
            mentions.in_tables = if forget {
                self.storage
                    .forget_in_tables(words)
                    .await
                    .map_err(Refusal::NotSaved)?
            } else {
                self.storage
                    .count_in_tables(words)
                    .await
                    .map_err(Refusal::Unreadable)?
            };
        }
        if forget {
            mentions.forgotten += mentions.in_tables;
            tracing::info!(
                files = mentions.files.len(),
                matches = mentions.forgotten,
                "words were taken out of conversations"
            );
        }
        Ok(mentions)
    }
}

fn look(
    files: Vec<SaidIn>,
    words: &Words,
) -> Result<Vec<(SaidIn, Seen)>, openclaw_sessions::Error> {
    let mut found = Vec::new();
    for file in files {
        let seen = forgetting::look(&file.path, words, SHOWN)?;
        if seen.matches > 0 {
            found.push((file, seen));
        }
    }
    Ok(found)
}

fn mention(file: &SaidIn, seen: Seen) -> Mention {
    let excerpts = seen.excerpts.into_iter().map(|excerpt| Excerpt {
        entry_id: excerpt.entry_id,
        role: excerpt.role,
        at_ms: excerpt.at_ms,
        text: excerpt.text,
    });
    Mention {
        agent_id: file.agent.to_string(),
        session_key: file
            .key
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default(),
        path: file.path.display().to_string(),
        matches: seen.matches,
        excerpts: excerpts.collect(),
    }
}
