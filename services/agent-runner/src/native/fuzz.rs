//! What an agent in the sandbox may write: its event lines, and its requests
//! over the turn socket.

mod http;

use std::time::Duration;

use bytes::Bytes;
use openclaw_proto::event::{Code, Kind};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use super::*;
use crate::fuzz::{Scene, assert_bounded, number};
use crate::translate::Translate as _;

/// For the answers to requests that are whole.
const PATIENCE: Duration = Duration::from_secs(2);

/// What an answer begins with.
const ANSWER: &[u8] = b"HTTP/1.1 ";

/// Any event lines. Each is one event, and says what the line says.
pub fn agent_output(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = Lines {
        backend: "native".to_owned(),
        provider: "anthropic".to_owned(),
        model: "m".to_owned(),
        asking: None,
    };
    for line in text.lines() {
        let kinds = lines.line(line);
        assert_bounded(line, &kinds);
        let value = serde_json::from_str::<Value>(line).unwrap_or_default();
        match kinds.as_slice() {
            [Kind::TextDelta { text } | Kind::Thinking { text }] => {
                assert_eq!(value["text"], **text)
            }
            [Kind::ToolResult(result)] => assert_eq!(value["call_id"], *result.call_id),
            [Kind::Usage(usage)] => {
                assert_eq!(value["output"].as_u64().unwrap_or_default(), usage.output);
            }
            [Kind::Done(done)] => assert_eq!(value["stop_reason"], *done.stop_reason),
            [Kind::Failed(failed)] => {
                let is_own = failed.code == Code::MalformedOutput;
                assert!(is_own || value["message"] == *failed.message);
            }
            [_] => {}
            other => panic!("{other:?}"),
        }
    }
}

/// Any bytes of the agent's side of the turn socket, in two pieces. There is one
/// answer to a request, whole and of JSON, and none to what is no request.
pub fn turn_socket(bytes: &[u8]) {
    let (cut, bytes) = number(bytes);
    let scene = Scene::new();
    let host = socket::Host {
        request: Bytes::from_static(b"{}"),
        asking: None,
        tools: scene.tools(),
        inbox: Inbox::beside(&scene.folder.path().join("r.events")),
    };
    let (first, second) = bytes.split_at(cut % (bytes.len() + 1));
    let requests = http::requests(bytes);
    let answers = scene.runtime.block_on(async {
        let (_sender, turn) = watch::channel(Some(Arc::new(host)));
        let (ours, mut theirs) = tokio::net::UnixStream::pair().expect("a pair");
        let serving = tokio::spawn(socket::serve(ours, turn));
        let mut answers = Vec::new();
        let said = async {
            // It may have heard enough already.
            let _ = theirs.write_all(first).await;
            tokio::task::yield_now().await;
            let _ = theirs.write_all(second).await;
            // Who closes before the answer is there gets none.
            let listening = listen(&mut theirs, &mut answers, requests.whole);
            let _ = timeout(PATIENCE, listening).await;
            let _ = theirs.shutdown().await;
            // A reset ends what was said, too.
            let _ = theirs.read_to_end(&mut answers).await;
        };
        let both = timeout(2 * PATIENCE, said);
        both.await.expect("it answers or closes");
        timeout(PATIENCE, serving)
            .await
            .expect("it ends")
            .expect("it does not crash");
        answers
    });
    let answers = requests.answers(&answers);
    assert!(
        answers.len() <= requests.whole + 1,
        "{answers:?} to {requests:?}"
    );
    assert!(requests.whole == 0 || !answers.is_empty());
    assert!(
        requests
            .first
            .is_none_or(|wanted| answers[0].is_for(wanted)),
        "{answers:?}"
    );
}

/// Reads until there are so many answers, or the connection is closed.
async fn listen(stream: &mut tokio::net::UnixStream, answers: &mut Vec<u8>, wanted: usize) {
    let is_answer = |part: &&[u8]| *part == ANSWER;
    while answers.windows(ANSWER.len()).filter(is_answer).count() < wanted {
        if !matches!(stream.read_buf(answers).await, Ok(1..)) {
            return;
        }
    }
}
