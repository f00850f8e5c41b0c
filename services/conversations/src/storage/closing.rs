//! Closing a run: its last entries, what it cost, what its channel is told.

use openclaw_proto::event::{Code, Failed, Kind};
use openclaw_proto::feed::Entry;
use openclaw_sessions::store::{BackendSession, SessionEntry};
use openclaw_sessions::transcript::{Draft, GATEWAY, Usage};
use openclaw_sessions::{SessionKey, now_ms};

use super::command::{Closing, Reply, SERVER_TOOL_TOKENS, backend_session_of, state_of};
use super::delivery::Answers;
use super::entries::Described;
use super::ledger::{Change, Close, Spent};
use super::session_files::Appended;
use super::staged::Staged;
use super::state_files::StateFiles;
use crate::fault::Fault;

impl StateFiles {
    pub(super) fn close(&mut self, mut closing: Closing, reply: Reply<()>) -> Staged {
        let now = now_ms();
        let charged = closing.resources.as_ref().and_then(|it| it.cost_usd);
        let cost = charged.or_else(|| self.cost(&closing.outcome, &closing.usage));
        let spent = closing.resources.clone().map(|resources| Spent {
            cost_usd: cost,
            resources,
            input_tokens: sent(&closing.usage),
            output_tokens: closing.usage.output,
        });
        let answers = match self.answers(&closing) {
            Ok(answers) => answers,
            Err(fault) => return Staged::new(reply, Err(fault)),
        };
        let (run_id, key) = (closing.run_id.clone(), closing.key.clone());
        let change = move |outcome: Kind, entries: Vec<Entry>| {
            Change::Close(Box::new(Close {
                delivery: answers.as_ref().map(|it| it.with(&outcome)),
                run_id: run_id.clone(),
                key: key.clone(),
                state: state_of(&outcome),
                at_ms: now,
                outcome,
                spent: spent.clone(),
                entries,
            }))
        };
        if closing.messages.is_empty() {
            self.home.answered(&closing.run_id, &closing.key, true, now);
            return Staged::new(reply, Ok(())).changing(change(closing.outcome, Vec::new()));
        }
        let described = Described::of(&closing.messages);
        let messages = std::mem::take(&mut closing.messages);
        let drafts = messages.into_iter().map(Draft::from).collect();
        match self.append(&closing.key, drafts) {
            Ok(Appended { written, ids }) => {
                let noted = if closing.of_command {
                    Ok(())
                } else {
                    self.note_end(&closing, cost, ids.last(), now)
                };
                Staged::new(reply, noted)
                    .touching(written.file)
                    .changing(change(closing.outcome, described.entries(&ids)))
                    .or_else(change(unsaved(), Vec::new()))
            }
            Err(fault) => Staged::new(reply, Err(fault)).or_else(change(unsaved(), Vec::new())),
        }
    }

    /// The reply on the message's channel, if it has a place there.
    fn answers(&mut self, closing: &Closing) -> Result<Option<Answers>, Fault> {
        let Some(reply) = &closing.reply else {
            return Ok(None);
        };
        let entry = self.session_files.store(closing.key.agent())?;
        let entry = entry.get(&closing.key);
        Ok(Answers::of(&closing.run_id, &closing.key, reply, entry))
    }

    /// The last entry that a backend's own session holds after a run. A reply
    /// that broke off is not in it as the user saw it, so it is told again.
    fn seen_through(&self, run_id: &str, outcome: &Kind, last: Option<&String>) -> Option<String> {
        match outcome {
            Kind::Done(_) => last.cloned(),
            _ => {
                let record = self.ledger.by_run_id(run_id).ok().flatten();
                record.map(|record| record.user_entry_id)
            }
        }
    }

    /// Brings the home session's view and the index up to date with the end of a run.
    fn note_end(
        &mut self,
        closing: &Closing,
        cost: Option<f64>,
        last: Option<&String>,
        now: i64,
    ) -> Result<(), Fault> {
        let whole = matches!(closing.outcome, Kind::Done(_));
        self.home
            .answered(&closing.run_id, &closing.key, whole, now);
        let through = self.seen_through(&closing.run_id, &closing.outcome, last);
        let of_servers = closing.resources.as_ref();
        let of_servers = of_servers.and_then(|resources| resources.server_tool_tokens);
        self.note(&closing.key, &closing.outcome, through, now, |entry| {
            entry.add_usage(&closing.usage, closing.context_tokens);
            if let Some(dollars) = cost {
                entry.add_cost(dollars);
            }
            match of_servers {
                Some(0) => entry.clear(SERVER_TOOL_TOKENS),
                Some(tokens) => entry.set(SERVER_TOOL_TOKENS, tokens),
                None => {}
            }
        })
    }

    /// Brings the index up to date with the end of a run.
    fn note(
        &mut self,
        key: &SessionKey,
        outcome: &Kind,
        seen_through: Option<String>,
        now: i64,
        count: impl FnOnce(&mut SessionEntry),
    ) -> Result<(), Fault> {
        let Some(entry) = self.session_files.store(key.agent())?.get_mut(key) else {
            return Ok(());
        };
        entry.touch(now);
        entry.set("endedAt", now);
        entry.set("status", index_status(outcome));
        entry.set("abortedLastRun", matches!(outcome, Kind::Aborted { .. }));
        count(entry);
        if let Kind::Done(done) = outcome
            && (&*done.provider, &*done.model) != GATEWAY
        {
            entry.set("modelProvider", done.provider.clone());
            entry.set("model", done.model.clone());
        }
        if let (Some((backend, id)), Some(through)) = (backend_session_of(outcome), seen_through) {
            let session = BackendSession {
                id: id.to_owned(),
                through_entry_id: through,
            };
            entry.set_backend_session(backend, &session);
        }
        Ok(())
    }

    /// The cost of a turn in US dollars, when the configuration has the price.
    fn cost(&self, outcome: &Kind, usage: &Usage) -> Option<f64> {
        let Kind::Done(done) = outcome else {
            return None;
        };
        let settings = self.session_files.settings();
        let model = format!("{}/{}", done.provider, done.model);
        let price = settings.session.prices.get(&model)?;
        Some(
            price.input * usage.input as f64
                + price.output * usage.output as f64
                + price.cache_read * usage.cache_read as f64
                + price.cache_write * usage.cache_write as f64,
        )
    }
}

/// The outcome of a run whose reply could not be written.
fn unsaved() -> Kind {
    Kind::Failed(Failed {
        code: Code::Internal,
        message: "the reply could not be saved".to_owned(),
        retry_after_ms: None,
        backend_session: None,
        backend: String::new(),
    })
}

/// All tokens that were sent, those of a cache too: they are what is paid for.
fn sent(usage: &Usage) -> u64 {
    let cached = usage.cache_read.saturating_add(usage.cache_write);
    usage.input.saturating_add(cached)
}

/// OpenClaw's word for an outcome.
fn index_status(outcome: &Kind) -> &'static str {
    match outcome {
        Kind::Done(_) => "done",
        Kind::Aborted { .. } => "killed",
        Kind::Failed(failed) if failed.code == Code::Timeout => "timeout",
        _ => "failed",
    }
}
