//! `sessions.list`

use crate::refused::refused;
use openclaw_conversations::Refusal;
use openclaw_conversations::sessions::Sessions;
use openclaw_proto::sessions::{Archived, Page, Query};
use openclaw_protocol::Failure;
use openclaw_protocol::params::Filled;
use openclaw_runs::Core;
use openclaw_sessions::now_ms;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::{Answer, Call};
use crate::session_row::{FIELDS, Rows};
use openclaw_runs::model;

methods! { "sessions.list" => READ, list; }

/// Rows when the client does not say how many.
const DEFAULT_LIMIT: u32 = 100;

/// Rows that are made before others get their turn: a client may want them all.
const ROWS_AT_ONCE: usize = 100;

/// Characters of a title and of a preview.
const PREVIEW_LIMIT: usize = 120;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    limit: Option<u32>,
    offset: Option<u32>,
    active_minutes: Option<u32>,
    agent_id: Option<Filled>,
    search: Option<String>,
    label: Option<Filled>,
    spawned_by: Option<Filled>,
    archived: Option<Value>,
    #[serde(default)]
    include_last_message: bool,
    #[serde(default)]
    include_derived_titles: bool,
}

impl Params {
    fn query(&self) -> Query {
        let text = |text: &Option<Filled>| text.as_deref().unwrap_or_default().to_owned();
        Query {
            agent_id: text(&self.agent_id),
            limit: self.limit.unwrap_or(DEFAULT_LIMIT).max(1),
            offset: self.offset.unwrap_or(0),
            search: self.search.clone().unwrap_or_default(),
            archived: match &self.archived {
                Some(Value::Bool(true)) => Archived::Only,
                Some(Value::String(all)) if all == "all" => Archived::Also,
                _ => Archived::No,
            },
            active_minutes: self.active_minutes.unwrap_or(0),
            spawned_by: text(&self.spawned_by),
        }
    }
}

/// `sessions.list`: the newest first.
async fn list(mut call: Call) -> Result<Answer, Failure> {
    let params: Params = call.params()?;
    let settings = call.context.core.configuration.settings();
    if let Some(id) = &params.agent_id {
        super::super::agents::known(&settings, id)?;
    }
    let query = params.query();
    let (limit, offset) = (query.limit, query.offset);
    let sessions = &call.context.core.sessions;
    let page = match &params.label {
        Some(label) => labelled(sessions, query, label).await,
        None => sessions.list(query).await,
    };
    let page = page.map_err(refused)?;
    let entries = call
        .context
        .core
        .sessions
        .fields(&page.sessions, &FIELDS)
        .await
        .map_err(refused)?;
    let rows = Rows::new(&call.context.core);
    let mut listed = Vec::with_capacity(entries.len());
    for (it, entry) in page.sessions.iter().zip(&entries) {
        listed.push(rows.row(it, entry));
        if listed.len() % ROWS_AT_ONCE == 0 {
            tokio::task::yield_now().await;
        }
    }
    if params.include_last_message || params.include_derived_titles {
        add_words(&call.context.core, &params, &mut listed).await?;
    }
    let next = offset.saturating_add(u32::try_from(listed.len()).unwrap_or(u32::MAX));
    let more = next < page.total;
    let (provider, model) = model::configured(&settings, &settings.default_agent);
    let path = settings.paths.sessions(&settings.default_agent);
    Ok(json!({
        "ts": now_ms(),
        "path": path.join("sessions.json").display().to_string(),
        "count": listed.len(),
        "totalCount": page.total,
        "limitApplied": limit,
        "nextOffset": more.then_some(next),
        "hasMore": more,
        "owners": [],
        "defaults": {
            "modelProvider": provider,
            "model": model,
            "contextTokens": settings.context_window(settings.model_of(&settings.default_agent)),
        },
        "sessions": listed,
    })
    .into())
}

/// The sessions of a query that have this very label.
async fn labelled(sessions: &Sessions, query: Query, label: &str) -> Result<Page, Refusal> {
    let (limit, offset) = (query.limit, query.offset);
    let whole = Query {
        limit: 0,
        offset: 0,
        ..query
    };
    let mut page = sessions.list(whole).await?;
    page.sessions.retain(|session| session.label == label);
    page.total = u32::try_from(page.sessions.len()).unwrap_or(u32::MAX);
    let (limit, offset) = (limit as usize, offset as usize);
    page.sessions = page.sessions.into_iter().skip(offset).take(limit).collect();
    Ok(page)
}

/// Adds the last message and a title made of the first words that are there.
async fn add_words(core: &Core, params: &Params, rows: &mut [Value]) -> Result<(), Failure> {
    for row in rows {
        let text = row["key"].as_str().unwrap_or_default();
        let key = core.key(text, "").map_err(refused)?;
        let previews = core
            .sessions
            .preview(&[key], 2, PREVIEW_LIMIT)
            .await
            .map_err(refused)?;
        let Some(preview) = previews.into_iter().next() else {
            continue;
        };
        if params.include_last_message
            && let Some(last) = preview.items.last()
        {
            row["lastMessagePreview"] = json!(last.text);
        }
        let asked = preview.items.iter().find(|item| item.role == "user");
        if params.include_derived_titles
            && let Some(asked) = asked
        {
            row["derivedTitle"] = json!(asked.text.lines().next().unwrap_or_default());
        }
    }
    Ok(())
}
