//! What the agent does, as short lines on standard error.

use openclaw_proto::event::{Kind, ToolResult};
use openclaw_proto::shown::Tools;
use openclaw_terminal::{live, output};

/// Columns of the longest line, which fewer terminals show in one row.
const WIDTH: usize = 78;
/// Less says nothing.
const LEAST: usize = 16;
/// The longest note: it is for the user, and says what to do.
const NOTE_WIDTH: usize = 1000;

/// Which lines are printed for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    Nothing,
    /// Notes, and calls of tools without what came of them.
    Calls,
    Everything,
}

impl Kept {
    /// What the command line asked for comes first, then what the session wants, then what
    /// is `usual`.
    pub(super) fn of(is_verbose: bool, wanted: Tools, usual: Self) -> Self {
        match wanted {
            _ if is_verbose => Self::Everything,
            Tools::Whole => Self::Everything,
            Tools::Calls => Self::Calls,
            Tools::AsAsked => usual,
        }
    }

    pub(super) fn has(self, kind: &Kind) -> bool {
        match self {
            Self::Nothing => false,
            Self::Calls => matches!(kind, Kind::ToolCall { .. } | Kind::Note { .. }),
            Self::Everything => true,
        }
    }
}

/// The line for an event, when it is one the user of a terminal wants to see.
pub(super) fn line(kind: &Kind) -> Option<String> {
    let (columns, _) = live::size();
    within(kind, columns.saturating_sub(1).clamp(LEAST, WIDTH))
}

fn within(kind: &Kind, width: usize) -> Option<String> {
    let text = match kind {
        Kind::ToolCall {
            name, arguments, ..
        } => format!("→ {name} {arguments}"),
        Kind::ToolResult(result) => format!("← {}", outcome(result)),
        Kind::Note { text } => return Some(output::one_line(&format!("· {text}"), NOTE_WIDTH)),
        Kind::ToolOutput { text, .. } => format!("│ {}", text.lines().last()?),
        _ => return None,
    };
    Some(output::one_line(&text, width))
}

fn outcome(result: &ToolResult) -> String {
    if let Some(error) = &result.error {
        return format!("{} failed: {} ({})", error.tool, error.message, error.kind);
    }
    let mut lines = result.output.lines();
    let first = lines.next().unwrap_or("(nothing)");
    match lines.count() {
        0 => first.to_owned(),
        more => format!("[{} lines] {first}", more + 1),
    }
}

#[cfg(test)]
mod tests {
    use openclaw_proto::event::ToolFailure;
    use serde_json::json;

    use super::*;

    fn result(output: &str, error: Option<ToolFailure>) -> Kind {
        Kind::ToolResult(ToolResult {
            call_id: "c".to_owned(),
            success: error.is_none(),
            output: output.to_owned(),
            error,
        })
    }

    #[test]
    fn kept_is_what_was_asked_for_first() {
        let call = Kind::ToolCall {
            id: "c".to_owned(),
            name: "read".to_owned(),
            arguments: json!({}),
        };
        let kept = |is_verbose, wanted, usual| {
            let kept = Kept::of(is_verbose, wanted, usual);
            [kept.has(&call), kept.has(&result("x", None))]
        };
        assert_eq!(kept(false, Tools::AsAsked, Kept::Nothing), [false, false]);
        assert_eq!(kept(false, Tools::AsAsked, Kept::Everything), [true, true]);
        assert_eq!(kept(false, Tools::Calls, Kept::Nothing), [true, false]);
        assert_eq!(kept(false, Tools::Calls, Kept::Everything), [true, false]);
        assert_eq!(kept(false, Tools::Whole, Kept::Nothing), [true, true]);
        assert_eq!(kept(true, Tools::Calls, Kept::Nothing), [true, true]);
    }

    #[test]
    fn calls_and_results_are_one_line_each() {
        let call = Kind::ToolCall {
            id: "c".to_owned(),
            name: "execute_shell".to_owned(),
            arguments: json!({"command": "x".repeat(200)}),
        };
        let line = |kind: &Kind| within(kind, WIDTH);
        let text = line(&call).unwrap();
        assert!(text.starts_with("→ execute_shell {\"command\":\"xxx"));
        assert!(
            text.chars().count() <= WIDTH && text.contains(" left out …] "),
            "{text}"
        );
        assert_eq!(line(&result("one\ntwo", None)).unwrap(), "← [2 lines] one");
        assert_eq!(line(&result("", None)).unwrap(), "← (nothing)");
        let failure = ToolFailure {
            tool: "read_file".to_owned(),
            kind: "not_found".to_owned(),
            message: "there is no a.txt".to_owned(),
        };
        let failed = line(&result("", Some(failure))).unwrap();
        assert_eq!(failed, "← read_file failed: there is no a.txt (not_found)");
    }
}
