//! Planning a compaction of a session's transcript.

use std::collections::HashSet;

use openclaw_proto::memory::{Compaction, Conversation, Shortened};
use openclaw_sessions::history::{self, HistoryMessage};

use crate::compact::{self, Budget, Item, Plan, Step, Table};
use crate::error::Error;
use crate::source::TRANSCRIPT;
use crate::store::Store;

/// Of the conversation, in tokens: more is not looked at, because no model that
/// is to summarise it takes more.
const CONVERSATION: usize = 2_000_000;

/// Plans for the conversation as it is on disk. Blocks.
pub(super) fn plan(
    store: &Store,
    table: &Table,
    conversation: &Conversation,
) -> Result<Compaction, Error> {
    let messages = messages(store, conversation)?;
    let tokens = table.tokens()?;
    let steps = compact::steps(messages, &tokens);
    let budget = Budget {
        total: conversation.max_tokens as usize,
        reserved: conversation.reserved_tokens as usize,
    };
    let plan = match conversation.keep_messages {
        Some(keep) => compact::plan_keeping(&steps, budget, keep as usize)?,
        None => compact::plan(&steps, budget)?,
    };
    let kept = compact::kept(&steps, &plan, &tokens);
    let spent: usize = kept.iter().map(|item| item.tokens(&tokens)).sum();
    // The gateway says with the run what came of it.
    tracing::debug!(
        before = plan.before,
        after = budget.reserved + plan.summary + spent,
        summarised = plan.keep_from,
        "planned a compaction"
    );
    Ok(described(&steps, &plan, &kept, budget.reserved + spent))
}

/// The beginning of `text` with at most `limit` tokens, with a mark; all of it
/// when it fits. Blocks.
pub(super) fn shorten(table: &Table, text: &str, limit: usize) -> Result<String, Error> {
    // A token has one byte at least.
    if text.len() <= limit {
        return Ok(text.to_owned());
    }
    let tokens = table.tokens()?;
    if tokens.count(text) <= limit {
        return Ok(text.to_owned());
    }
    Ok(tokens.cut(text, limit))
}

fn messages(
    store: &Store,
    conversation: &Conversation,
) -> Result<Vec<history::Past>, compact::Error> {
    let id = &conversation.session_id;
    if id.is_empty() || id.contains(['/', '\0']) {
        return Err(compact::Error::SessionId { id: id.clone() });
    }
    let path = store.places.transcripts.join(format!("{id}{TRANSCRIPT}"));
    if !path.is_file() {
        return Err(compact::Error::NoTranscript { path });
    }
    let waiting: HashSet<String> = conversation.waiting_run_ids.iter().cloned().collect();
    let history = history::load(&path, CONVERSATION, &waiting);
    Ok(history.map_err(compact::Error::Transcript)?.messages)
}

fn described(steps: &[Step], plan: &Plan, kept: &[Item], spent: usize) -> Compaction {
    let (summarised, rest) = steps.split_at(plan.keep_from.min(steps.len()));
    let ids = summarised.iter().flat_map(|step| &step.items);
    let whole: Vec<&Item> = rest.iter().flat_map(|step| &step.items).collect();
    Compaction {
        fits: plan.fits(),
        tokens_before: number(plan.before),
        tokens_after: number(spent + plan.summary),
        summary_tokens: number(plan.summary),
        summarise: ids.map(|item| item.entry_id.clone()).collect(),
        material: compact::material(summarised),
        first_kept_entry_id: whole
            .first()
            .map_or_else(String::new, |i| i.entry_id.clone()),
        shortened: shortened(&whole, kept),
    }
}

/// The entries that are not kept as they are.
fn shortened(whole: &[&Item], kept: &[Item]) -> Vec<Shortened> {
    let changed = whole.iter().filter(|item| !kept.contains(item));
    changed
        .map(|item| {
            let left = kept.iter().find(|kept| kept.entry_id == item.entry_id);
            let had_calls = has_calls(&item.said);
            Shortened {
                entry_id: item.entry_id.clone(),
                text: left.map_or_else(String::new, |left| words(&left.said)),
                calls_dropped: had_calls && !left.is_some_and(|left| has_calls(&left.said)),
            }
        })
        .collect()
}

fn has_calls(said: &HistoryMessage) -> bool {
    match said {
        HistoryMessage::User { .. } => false,
        HistoryMessage::Tool { .. } => true,
        HistoryMessage::Assistant { calls, .. } => !calls.is_empty(),
    }
}

fn words(said: &HistoryMessage) -> String {
    match said {
        HistoryMessage::User { text } | HistoryMessage::Assistant { text, .. } => text.clone(),
        HistoryMessage::Tool { output, .. } => output.clone(),
    }
}

fn number(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
