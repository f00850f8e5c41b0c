//! The memory tools, with OpenClaw's parameters and results (docs/concepts/memory-search).

use openclaw_proto::call::{CallError, RefusalCode};
use openclaw_proto::memory::{Hit, Lines, Question, SearchResults};
use openclaw_proto::origin::is_isolated;
use openclaw_turn::HostAnswer;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Tools;

/// What a search gets; below the deadline of the call, so that what was found
/// by then is still told.
const SEARCH_MS: u32 = 25_000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Search {
    #[serde(default)]
    query: String,
    #[serde(default)]
    queries: Vec<String>,
    #[serde(default)]
    max_results: u32,
    #[serde(default)]
    min_score: Option<f64>,
    #[serde(default)]
    corpus: String,
}

#[derive(Deserialize)]
struct Get {
    path: String,
    #[serde(default)]
    from: u32,
    #[serde(default)]
    lines: u32,
}

#[derive(Deserialize)]
struct Write {
    text: String,
}

impl Tools {
    /// `memory_search`.
    pub(super) async fn search(&self, arguments: Value) -> HostAnswer {
        let search: Search = match parsed(arguments) {
            Ok(search) => search,
            Err(answer) => return answer,
        };
        // Without one, all together are the whole of which each is a part.
        let query = match search.query.trim() {
            "" => search.queries.join(" "),
            query => query.to_owned(),
        };
        if query.trim().is_empty() {
            return HostAnswer::failed("validation", "give query or queries");
        }
        for query in std::iter::once(&query).chain(&search.queries) {
            if let Err(why) = self.searches.admit(query) {
                return HostAnswer::failed("limit", why);
            }
        }
        let question = Question {
            agent_id: self.agent_id.clone(),
            text: query,
            others: search.queries,
            limit: search.max_results,
            min_score: search.min_score,
            corpus: corpus(&search.corpus).to_owned(),
            session_id: self.session_id.clone(),
            since_ms: self.received_ms,
            deadline_ms: SEARCH_MS,
            isolated: is_isolated(&self.origin.session_key),
            ..Question::default()
        };
        match self.memory.search(&self.origin, question).await {
            Ok(found) => told(&results(found)),
            Err(error) => refused(&error, json!({ "results": [] })),
        }
    }

    /// `memory_get`.
    pub(super) async fn get(&self, arguments: Value) -> HostAnswer {
        let get: Get = match parsed(arguments) {
            Ok(get) => get,
            Err(answer) => return answer,
        };
        let lines = Lines {
            from: get.from,
            count: get.lines,
        };
        let nothing = json!({ "path": get.path, "text": "" });
        let isolated = is_isolated(&self.origin.session_key);
        let session = (self.session_id.as_str(), isolated);
        let text = self
            .memory
            .get_for(&self.origin, &self.agent_id, &get.path, lines, session);
        match text.await {
            Ok(Some(text)) => {
                let next = text.from + text.lines;
                let is_more = next <= text.total_lines;
                let mut document = json!({
                    "path": text.path,
                    "text": text.text,
                    "from": text.from,
                    "lines": text.lines,
                    "truncated": is_more,
                });
                if is_more {
                    document["nextFrom"] = next.into();
                }
                told(&document)
            }
            Ok(None) => told(&nothing),
            Err(error) => refused(&error, nothing),
        }
    }

    /// `memory_write`.
    pub(super) async fn write(&self, arguments: Value) -> HostAnswer {
        let write: Write = match parsed(arguments) {
            Ok(write) => write,
            Err(answer) => return answer,
        };
        let written = self
            .memory
            .remember(&self.origin, &self.agent_id, &write.text);
        match written.await {
            Ok(noted) => told(&json!({ "path": noted.path, "line": noted.line })),
            Err(error) => HostAnswer::failed("unavailable", error.to_string()),
        }
    }
}

/// The wiki is a plugin of OpenClaw's; what it would hold is among the notes.
fn corpus(name: &str) -> &str {
    match name {
        "wiki" => "memory",
        other => other,
    }
}

fn parsed<T: DeserializeOwned>(arguments: Value) -> Result<T, HostAnswer> {
    serde_json::from_value(arguments)
        .map_err(|error| HostAnswer::failed("validation", error.to_string()))
}

fn told(document: &Value) -> HostAnswer {
    // Indented as OpenClaw does; models read it a little better.
    HostAnswer::done(serde_json::to_string_pretty(document).unwrap_or_default())
}

fn results(found: SearchResults) -> Value {
    let mut document = json!({
        "results": found.hits.iter().map(result).collect::<Vec<_>>(),
        "provider": found.provider,
        "model": found.model,
    });
    if found.partial {
        document["partial"] = true.into();
    }
    if !found.warnings.is_empty() {
        document["warnings"] = found.warnings.into();
    }
    document
}

fn result(hit: &Hit) -> Value {
    let mut result = json!({
        "path": hit.path,
        "startLine": hit.start_line,
        "endLine": hit.end_line,
        "score": rounded(hit.score),
        "vectorScore": rounded(hit.vector_score),
        "textScore": rounded(hit.text_score),
        "snippet": hit.snippet,
        "source": hit.source,
        "kind": hit.kind,
        "answers": hit.answers,
        "citation": format!("{}#L{}-L{}", hit.path, hit.start_line, hit.end_line),
    });
    if let Ok(time) = jiff::Timestamp::from_millisecond(hit.timestamp_ms)
        && hit.timestamp_ms > 0
    {
        result["timestamp"] = time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into();
    }
    if !hit.context.is_empty() {
        result["context"] = hit.context.clone().into();
    }
    if !hit.speaker.is_empty() {
        result["speaker"] = hit.speaker.as_str().into();
        result["messageId"] = hit.message_id.as_str().into();
    }
    result
}

/// More digits cost tokens and say nothing.
fn rounded(score: f64) -> f64 {
    (score * 1e4).round() / 1e4
}

/// A memory that does not answer does not end a turn: the model is told, in
/// OpenClaw's shape, and goes on. What the model can put right is an error.
fn refused(error: &CallError, nothing: Value) -> HostAnswer {
    if error.is_refused(RefusalCode::InvalidArgument) {
        return HostAnswer::failed("validation", error.to_string());
    }
    let mut document = nothing;
    document["disabled"] = true.into();
    document["unavailable"] = true.into();
    document["error"] = error.to_string().into();
    document["action"] =
        "tell the user that memory does not answer; openclawctl status says why".into();
    told(&document)
}

#[cfg(test)]
mod tests {
    use openclaw_proto::call::Broken;

    use super::*;

    #[test]
    fn result_has_openclaws_fields() {
        let hit = Hit {
            path: "sessions/7.jsonl".to_owned(),
            start_line: 3,
            end_line: 3,
            score: 0.629_153_75,
            vector_score: 0.5,
            text_score: 0.75,
            snippet: "Under the pot.".to_owned(),
            source: "sessions".to_owned(),
            timestamp_ms: 1_772_600_767_123,
            message_id: "m1".to_owned(),
            speaker: "assistant".to_owned(),
            kind: "answer".to_owned(),
            ..Hit::default()
        };
        assert_eq!(
            result(&hit),
            json!({
                "path": "sessions/7.jsonl", "startLine": 3, "endLine": 3, "score": 0.6292,
                "vectorScore": 0.5, "textScore": 0.75, "snippet": "Under the pot.",
                "source": "sessions", "kind": "answer", "answers": false, "citation": "sessions/7.jsonl#L3-L3",
                "timestamp": "2026-03-04T05:06:07Z", "speaker": "assistant", "messageId": "m1"
            })
        );
    }

    #[test]
    fn memory_that_is_gone_is_told_and_a_mistake_is_an_error() {
        let lost = Broken::Lost("no socket".to_owned()).into();
        let gone = refused(&lost, json!({ "results": [] }));
        let text = serde_json::to_string(&gone).unwrap();
        assert!(
            text.contains("disabled") && text.contains("no socket"),
            "{text}"
        );
        let mistake = CallError::Refused {
            code: RefusalCode::InvalidArgument,
            message: "0 to 1".to_owned(),
            remedy: None,
        };
        let mistake = refused(&mistake, json!({}));
        let text = serde_json::to_string(&mistake).unwrap();
        assert!(
            text.contains(r#""ok":false"#) && text.contains("validation"),
            "{text}"
        );
    }
}
