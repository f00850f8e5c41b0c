//! `logs.tail`: the gateway's own last log lines.

use openclaw_config::Paths;
use openclaw_daemon::telemetry::{self, recent};
use openclaw_protocol::Failure;
use serde::Deserialize;
use serde_json::json;

use super::{Answer, Call};

methods! { "logs.tail" => READ, tail; }

/// Lines when the client does not say how many.
const DEFAULT_LINES: usize = 500;

/// The most it may ask for.
const LINES_LIMIT: usize = 5000;

/// Bytes, when it does not say how many, and the most.
const DEFAULT_BYTES: usize = 250_000;
const BYTES_LIMIT: usize = 1_000_000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    cursor: Option<u64>,
    limit: Option<usize>,
    max_bytes: Option<usize>,
}

/// `logs.tail`: from `cursor` on, or the last lines. The log itself is the
/// journal's, or goes to stderr; what is kept here are its last lines.
async fn tail(mut call: Call) -> Result<Answer, Failure> {
    let params: Params = call.params()?;
    let limit = params.limit.unwrap_or(DEFAULT_LINES).clamp(1, LINES_LIMIT);
    let bytes = params
        .max_bytes
        .unwrap_or(DEFAULT_BYTES)
        .clamp(1, BYTES_LIMIT);
    let settings = call.context.core.configuration.settings();
    let tail = recent::tail(params.cursor, limit, bytes);
    Ok(json!({
        "file": log(&settings.paths, telemetry::is_journal()),
        "cursor": tail.cursor,
        "size": tail.cursor,
        "lines": tail.lines,
        "truncated": tail.truncated,
        "reset": tail.reset,
    })
    .into())
}

/// Where the lines are kept: the journal, the file of `openclawctl run`, or what
/// standard error leads to.
fn log(paths: &Paths, is_journal: bool) -> String {
    let file = paths.run_log();
    if is_journal {
        "journal:openclaw-gateway".to_owned()
    } else if file.is_file() {
        file.display().to_string()
    } else {
        "stderr".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_that_is_named_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
        let paths = Paths::resolve(&environment).unwrap();
        assert_eq!(log(&paths, true), "journal:openclaw-gateway");
        assert_eq!(log(&paths, false), "stderr");
        std::fs::create_dir(folder.path().join("logs")).unwrap();
        std::fs::write(paths.run_log(), "").unwrap();
        assert_eq!(log(&paths, false), format!("{state}/logs/run.jsonl"));
    }
}
