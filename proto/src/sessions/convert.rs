//! Between these types and the wire.

use super::{
    Archived, Change, Deleted, Excerpt, Findings, Item, Mention, Mentions, Preview, PreviewItem,
    Query, Reading, Said, Session, SessionMatch, State, Tokens,
};
use crate::invalid::Invalid;
use crate::wire::gateway as wire;

impl From<wire::Session> for Session {
    fn from(session: wire::Session) -> Self {
        Self {
            state: session.state().into(),
            key: session.key,
            id: session.id,
            agent_id: session.agent_id,
            created_at_ms: session.created_at_ms,
            updated_at_ms: session.updated_at_ms,
            transcript_path: session.transcript_path,
            message_count: session.message_count,
            label: session.label,
            chat_type: session.chat_type,
            last_channel: session.last_channel,
            last_interaction_at_ms: session.last_interaction_at_ms,
            model_provider: session.model_provider,
            model: session.model,
            model_override: session.model_override,
            thinking_level: session.thinking_level,
            tokens: Tokens {
                input: session.input_tokens,
                output: session.output_tokens,
                cache_read: session.cache_read_tokens,
                cache_write: session.cache_write_tokens,
                context: session.context_tokens,
            },
            cost_usd: session.cost_usd,
            compaction_count: session.compaction_count,
            archived_at_ms: session.archived_at_ms,
            spawned_by: session.spawned_by,
            spawn_depth: session.spawn_depth,
            last_status: session.last_status,
        }
    }
}

impl From<Session> for wire::Session {
    fn from(session: Session) -> Self {
        Self {
            key: session.key,
            id: session.id,
            agent_id: session.agent_id,
            created_at_ms: session.created_at_ms,
            updated_at_ms: session.updated_at_ms,
            transcript_path: session.transcript_path,
            message_count: session.message_count,
            state: wire::SessionState::from(session.state).into(),
            label: session.label,
            chat_type: session.chat_type,
            last_channel: session.last_channel,
            last_interaction_at_ms: session.last_interaction_at_ms,
            model_provider: session.model_provider,
            model: session.model,
            model_override: session.model_override,
            thinking_level: session.thinking_level,
            input_tokens: session.tokens.input,
            output_tokens: session.tokens.output,
            cache_read_tokens: session.tokens.cache_read,
            cache_write_tokens: session.tokens.cache_write,
            context_tokens: session.tokens.context,
            cost_usd: session.cost_usd,
            compaction_count: session.compaction_count,
            archived_at_ms: session.archived_at_ms,
            spawned_by: session.spawned_by,
            spawn_depth: session.spawn_depth,
            last_status: session.last_status,
        }
    }
}

impl From<wire::SessionState> for State {
    fn from(state: wire::SessionState) -> Self {
        use wire::SessionState as W;
        match state {
            W::Unspecified | W::Created => Self::Created,
            W::Active => Self::Active,
            W::Idle => Self::Idle,
            W::Compacting => Self::Compacting,
            W::Archived => Self::Archived,
        }
    }
}

impl From<State> for wire::SessionState {
    fn from(state: State) -> Self {
        match state {
            State::Created => Self::Created,
            State::Active => Self::Active,
            State::Idle => Self::Idle,
            State::Compacting => Self::Compacting,
            State::Archived => Self::Archived,
        }
    }
}

impl From<wire::ListSessionsRequest> for Query {
    fn from(request: wire::ListSessionsRequest) -> Self {
        let archived = match request.archived() {
            wire::Archived::Unspecified => Archived::No,
            wire::Archived::Only => Archived::Only,
            wire::Archived::Also => Archived::Also,
        };
        Self {
            agent_id: request.agent_id,
            limit: request.limit,
            offset: request.offset,
            search: request.search,
            archived,
            active_minutes: request.active_minutes,
            spawned_by: request.spawned_by,
        }
    }
}

impl From<Query> for wire::ListSessionsRequest {
    fn from(query: Query) -> Self {
        let archived = match query.archived {
            Archived::No => wire::Archived::Unspecified,
            Archived::Only => wire::Archived::Only,
            Archived::Also => wire::Archived::Also,
        };
        Self {
            agent_id: query.agent_id,
            limit: query.limit,
            offset: query.offset,
            search: query.search,
            archived: archived.into(),
            active_minutes: query.active_minutes,
            spawned_by: query.spawned_by,
        }
    }
}

impl From<Change> for wire::FieldChange {
    fn from(change: Change) -> Self {
        Self {
            name: change.name,
            value: change.value,
        }
    }
}

impl From<wire::FieldChange> for Change {
    fn from(change: wire::FieldChange) -> Self {
        Self {
            name: change.name,
            value: change.value,
        }
    }
}

impl From<Deleted> for wire::DeleteSessionResponse {
    fn from(deleted: Deleted) -> Self {
        Self {
            key: deleted.key,
            archive_path: deleted.archive_path.unwrap_or_default(),
        }
    }
}

impl From<wire::DeleteSessionResponse> for Deleted {
    fn from(response: wire::DeleteSessionResponse) -> Self {
        Self {
            key: response.key,
            archive_path: Some(response.archive_path).filter(|path| !path.is_empty()),
        }
    }
}

impl From<Item> for wire::ReadItem {
    fn from(item: Item) -> Self {
        use wire::read_item::Kind as W;
        let kind = match item.said {
            Said::User { text } => W::User(text),
            Said::Assistant { text } => W::Assistant(text),
            Said::Tool { name, argument } => W::Tool(wire::ToolUse { name, argument }),
            Said::Result { name, error } => W::Result(wire::ToolOutcome {
                name,
                is_error: error,
            }),
            Said::Reset => W::Reset(true),
            Said::Compaction { summary } => W::Compaction(summary),
        };
        Self {
            at_ms: item.at_ms,
            kind: Some(kind),
        }
    }
}

impl TryFrom<wire::ReadItem> for Item {
    type Error = Invalid;

    fn try_from(item: wire::ReadItem) -> Result<Self, Invalid> {
        use wire::read_item::Kind as W;
        let kind = item.kind.ok_or(Invalid::missing("ReadItem", "kind"))?;
        let said = match kind {
            W::User(text) => Said::User { text },
            W::Assistant(text) => Said::Assistant { text },
            W::Tool(wire::ToolUse { name, argument }) => Said::Tool { name, argument },
            W::Result(wire::ToolOutcome { name, is_error }) => Said::Result {
                name,
                error: is_error,
            },
            W::Reset(_) => Said::Reset,
            W::Compaction(summary) => Said::Compaction { summary },
        };
        Ok(Self {
            at_ms: item.at_ms,
            said,
        })
    }
}

impl From<Reading> for wire::ReadSessionResponse {
    fn from(reading: Reading) -> Self {
        Self {
            key: reading.key,
            id: reading.id,
            items: reading.items.into_iter().map(Into::into).collect(),
            has_more: reading.has_more,
            entries_json: reading
                .entries
                .iter()
                .map(serde_json::Value::to_string)
                .collect(),
            total_messages: reading.total_messages.unwrap_or_default(),
            corrupt_lines: reading.corrupt_lines,
            corrupt_copy: reading.corrupt_copy.unwrap_or_default(),
        }
    }
}

impl TryFrom<wire::ReadSessionResponse> for Reading {
    type Error = Invalid;

    fn try_from(response: wire::ReadSessionResponse) -> Result<Self, Invalid> {
        let items = response.items.into_iter().map(Item::try_from);
        let entries = response.entries_json.iter();
        let entries = entries.map(|entry| serde_json::from_str(entry));
        let entries: Vec<_> = entries.collect::<Result<_, _>>().map_err(|error| {
            Invalid::because("ReadSessionResponse", "entries_json", error.to_string())
        })?;
        Ok(Self {
            key: response.key,
            id: response.id,
            corrupt_lines: response.corrupt_lines,
            corrupt_copy: Some(response.corrupt_copy).filter(|path| !path.is_empty()),
            items: items.collect::<Result<_, _>>()?,
            has_more: response.has_more,
            total_messages: Some(response.total_messages).filter(|_| !entries.is_empty()),
            entries,
        })
    }
}

impl From<Preview> for wire::Preview {
    fn from(preview: Preview) -> Self {
        let items = preview.items.into_iter();
        Self {
            key: preview.key,
            found: preview.found,
            items: items
                .map(|item| wire::PreviewItem {
                    role: item.role,
                    text: item.text,
                })
                .collect(),
        }
    }
}

impl From<wire::Preview> for Preview {
    fn from(preview: wire::Preview) -> Self {
        let items = preview.items.into_iter();
        Self {
            key: preview.key,
            found: preview.found,
            items: items
                .map(|item| PreviewItem {
                    role: item.role,
                    text: item.text,
                })
                .collect(),
        }
    }
}

impl From<SessionMatch> for wire::FoundSession {
    fn from(found: SessionMatch) -> Self {
        Self {
            agent_id: found.agent_id,
            id: found.id,
            key: found.key,
            transcript_path: found.transcript_path,
            cwd: found.cwd,
            started_at_ms: found.started_at_ms,
            modified_at_ms: found.modified_at_ms,
            lines: found.lines,
            first_user_message: found.first_user_message,
            last_user_messages: found.last_user_messages,
            matched: found.matched,
        }
    }
}

impl From<wire::FoundSession> for SessionMatch {
    fn from(found: wire::FoundSession) -> Self {
        Self {
            agent_id: found.agent_id,
            id: found.id,
            key: found.key,
            transcript_path: found.transcript_path,
            cwd: found.cwd,
            started_at_ms: found.started_at_ms,
            modified_at_ms: found.modified_at_ms,
            lines: found.lines,
            first_user_message: found.first_user_message,
            last_user_messages: found.last_user_messages,
            matched: found.matched,
        }
    }
}

impl From<Mentions> for wire::FindWordsResponse {
    fn from(mentions: Mentions) -> Self {
        Self {
            mentions: mentions.files.into_iter().map(Into::into).collect(),
            in_tables: mentions.in_tables,
            forgotten: mentions.forgotten,
            jobs: mentions.jobs,
        }
    }
}

impl From<wire::FindWordsResponse> for Mentions {
    fn from(wire: wire::FindWordsResponse) -> Self {
        Self {
            files: wire.mentions.into_iter().map(Into::into).collect(),
            in_tables: wire.in_tables,
            forgotten: wire.forgotten,
            jobs: wire.jobs,
        }
    }
}

impl From<Mention> for wire::Mention {
    fn from(mention: Mention) -> Self {
        let excerpts = mention.excerpts.into_iter().map(|excerpt| wire::Excerpt {
            entry_id: excerpt.entry_id,
            role: excerpt.role,
            at_ms: excerpt.at_ms,
            text: excerpt.text,
        });
        Self {
            agent_id: mention.agent_id,
            session_key: mention.session_key,
            path: mention.path,
            matches: mention.matches,
            excerpts: excerpts.collect(),
        }
    }
}

impl From<wire::Mention> for Mention {
    fn from(wire: wire::Mention) -> Self {
        let excerpts = wire.excerpts.into_iter().map(|excerpt| Excerpt {
            entry_id: excerpt.entry_id,
            role: excerpt.role,
            at_ms: excerpt.at_ms,
            text: excerpt.text,
        });
        Self {
            agent_id: wire.agent_id,
            session_key: wire.session_key,
            path: wire.path,
            matches: wire.matches,
            excerpts: excerpts.collect(),
        }
    }
}

impl From<Findings> for wire::FindSessionsResponse {
    fn from(findings: Findings) -> Self {
        Self {
            sessions: findings.sessions.into_iter().map(Into::into).collect(),
            searched: findings.searched,
            problems: findings.problems,
        }
    }
}

impl From<wire::FindSessionsResponse> for Findings {
    fn from(response: wire::FindSessionsResponse) -> Self {
        Self {
            sessions: response.sessions.into_iter().map(Into::into).collect(),
            searched: response.searched,
            problems: response.problems,
        }
    }
}
