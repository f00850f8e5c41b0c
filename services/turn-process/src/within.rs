//! What an agent says of itself and of its calls, within bounds. The names that it uses are kept in
//! indexes, shown in lists and logged; its words are said again in each of these places.

use openclaw_proto::event::{Done, Failed, Kind, ToolResult};

/// Bytes of the name of a tool, a model, a provider, or a way to stop.
const NAME: usize = 200;
/// Bytes of what names a call.
const ID: usize = 500;
/// Bytes of what names a conversation of the backend's: a longer one is none that can be taken up.
const SESSION: usize = 500;
/// Bytes of why something failed or ended, and of what the user is to know.
const WORDS: usize = 16 * 1024;

/// `kind`, with as much of it as is kept. What the model and the user said to one another is whole.
pub(crate) fn bounds(kind: Kind) -> Kind {
    match kind {
        Kind::ToolCall {
            id,
            name,
            arguments,
        } => Kind::ToolCall {
            id: begun(id, ID),
            name: begun(name, NAME),
            arguments,
        },
        Kind::ToolOutput { call_id, text } => Kind::ToolOutput {
            call_id: begun(call_id, ID),
            text,
        },
        Kind::ToolResult(result) => Kind::ToolResult(of_result(result)),
        Kind::Note { text } => Kind::Note { text: words(text) },
        Kind::Done(done) => Kind::Done(Done {
            stop_reason: begun(done.stop_reason, NAME),
            provider: begun(done.provider, NAME),
            model: begun(done.model, NAME),
            backend_session: session(done.backend_session),
            backend: done.backend,
        }),
        Kind::Failed(failed) => Kind::Failed(Failed {
            message: words(failed.message),
            backend_session: session(failed.backend_session),
            ..failed
        }),
        Kind::Aborted {
            reason,
            backend_session,
            backend,
        } => Kind::Aborted {
            reason: words(reason),
            backend_session: session(backend_session),
            backend,
        },
        other => other,
    }
}

fn of_result(result: ToolResult) -> ToolResult {
    let error = result.error.map(|mut failure| {
        failure.tool = begun(failure.tool, NAME);
        failure.kind = begun(failure.kind, NAME);
        failure
    });
    ToolResult {
        call_id: begun(result.call_id, ID),
        error,
        ..result
    }
}

/// What names a call, as much of it as is kept: a turn has many that are not over.
pub(crate) fn call_id(id: &str) -> String {
    beginning(id, ID)
}

/// Whether that is all of it.
pub(crate) fn is_call_id(id: &str) -> bool {
    id.len() <= ID
}

/// The name of a tool, likewise.
pub(crate) fn name(name: &str) -> String {
    beginning(name, NAME)
}

fn begun(name: String, limit: usize) -> String {
    if name.len() > limit {
        beginning(&name, limit)
    } else {
        name
    }
}

/// A name's beginning, with a mark where that is not all.
fn beginning(name: &str, limit: usize) -> String {
    let end = (0..=limit.min(name.len()))
        .rev()
        .find(|at| name.is_char_boundary(*at));
    let begins = &name[..end.unwrap_or_default()];
    let mark = if begins.len() < name.len() { "…" } else { "" };
    format!("{begins}{mark}")
}

fn words(words: String) -> String {
    if words.len() > WORDS {
        openclaw_escape::cut(&words, WORDS)
    } else {
        words
    }
}

fn session(id: Option<String>) -> Option<String> {
    id.filter(|id| id.len() <= SESSION)
}

#[cfg(test)]
mod tests {
    use openclaw_proto::event::{Code, ToolFailure};
    use serde_json::json;

    use super::*;

    const LONG: usize = 300_000;

    #[test]
    fn bounds_leave_nothing_that_is_named_or_told_longer_than_its_place() {
        let long = || "ä".repeat(LONG);
        let text = || "said".to_owned();
        let call = Kind::ToolCall {
            id: long(),
            name: long(),
            arguments: json!({}),
        };
        let result = Kind::ToolResult(ToolResult {
            call_id: long(),
            success: false,
            output: text(),
            error: Some(ToolFailure {
                tool: long(),
                kind: long(),
                message: text(),
            }),
        });
        let done = Kind::Done(Done {
            stop_reason: long(),
            provider: long(),
            model: long(),
            backend_session: Some(long()),
            backend: text(),
        });
        let failed = Kind::Failed(Failed {
            code: Code::ModelError,
            message: long(),
            retry_after_ms: None,
            backend_session: Some(long()),
            backend: text(),
        });
        let aborted = Kind::Aborted {
            reason: long(),
            backend_session: Some(long()),
            backend: text(),
        };
        let output = Kind::ToolOutput {
            call_id: long(),
            text: text(),
        };
        let note = Kind::Note { text: long() };
        for kind in [call, result, done, failed, aborted, output, note] {
            let bounded = bounds(kind);
            let written = serde_json::to_string(&bounded).unwrap();
            assert!(written.len() < 2 * WORDS, "{} bytes", written.len());
        }
    }

    #[test]
    fn bounds_keep_what_was_said_and_what_is_short() {
        let said = Kind::TextDelta {
            text: "a".repeat(LONG),
        };
        assert_eq!(bounds(said.clone()), said);
        let done = Kind::Done(Done {
            stop_reason: "stop".to_owned(),
            provider: "anthropic".to_owned(),
            model: "claude".to_owned(),
            backend_session: Some("0b8d4c2e".to_owned()),
            backend: "claude-cli".to_owned(),
        });
        assert_eq!(bounds(done.clone()), done);
        // A call and its result still belong together.
        let id = "i".repeat(LONG);
        let call = bounds(Kind::ToolOutput {
            call_id: id.clone(),
            text: String::new(),
        });
        let Kind::ToolOutput { call_id, .. } = call else {
            panic!("{call:?}")
        };
        let result = bounds(Kind::ToolResult(ToolResult {
            call_id: id,
            success: true,
            output: String::new(),
            error: None,
        }));
        assert!(matches!(result, Kind::ToolResult(result) if result.call_id == call_id));
    }
}
