//! Greeting a server and asking it for its tools.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{PaginatedRequestParams, Tool};
use rmcp::service::{Peer, RunningService, ServiceError};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleClient, ServiceExt as _};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use super::answering::Answering;
use super::cut::{self, Cut, Refused};
use super::{Listener, StartError};

/// Tools after which a server is not asked for more: far more than one may
/// have, so that those which the policy takes away do not count against it.
const TOOLS: usize = 1024;

/// Pages after which it is not asked for another. A page may be empty, and
/// name a next one for ever.
const PAGES: usize = 64;

/// For the list of tools, when a server says that it has others.
const LIST_LIMIT: Duration = Duration::from_secs(120);

/// After such a list, before the server is asked for the next one, however often it
/// says that it has others meanwhile.
const LIST_PAUSE: Duration = Duration::from_secs(1);

/// Greets the server at the other end of its standard output and input, and asks
/// it for its tools. `refused` hears why it is not listened to any more.
pub(crate) async fn greet<R, W>(
    (stdout, stdin): (R, W),
    listener: Listener,
    refused: &Refused,
) -> Result<(RunningService<RoleClient, Listener>, Vec<Tool>), StartError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let lines = AsyncRwTransport::new_client(Cut::new(stdout, Arc::clone(refused)), stdin);
    let lines = lines.with_max_line_length(cut::LINE_BYTES);
    let service = listener
        .serve(Answering::new(lines))
        .await
        .map_err(Box::new)?;
    let tools = list(&service).await?;
    Ok((service, tools))
}

/// Its tools, as far as it comes to an end with them.
pub(crate) async fn list(peer: &Peer<RoleClient>) -> Result<Vec<Tool>, ServiceError> {
    let mut tools = Vec::new();
    let mut page = PaginatedRequestParams::default();
    for _ in 0..PAGES {
        let listed = peer.list_tools(Some(page)).await?;
        tools.extend(listed.tools);
        if listed.next_cursor.is_none() || tools.len() >= TOOLS {
            break;
        }
        page = PaginatedRequestParams::default().with_cursor(listed.next_cursor);
    }
    tools.truncate(TOOLS);
    Ok(tools)
}

/// Hands over the tools of a server whenever it says by `changes` that it has others.
/// One that does not say which keeps those that it had.
pub(crate) async fn follow(
    peer: &Peer<RoleClient>,
    changes: &Notify,
    mut has: impl FnMut(Vec<Tool>),
) -> Infallible {
    loop {
        changes.notified().await;
        if let Ok(Ok(tools)) = timeout(LIST_LIMIT, list(peer)).await {
            has(tools);
        }
        sleep(LIST_PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use serde_json::{Value, json};
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, duplex};

    use super::*;

    /// Answers as a server that has `on_a_page` tools on each of its pages, which
    /// have no end; counts them.
    async fn answer(ends: DuplexStream, on_a_page: usize, pages: Arc<AtomicUsize>) {
        let (reader, mut writer) = tokio::io::split(ends);
        let mut lines = BufReader::new(reader).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let request: Value = serde_json::from_str(&line).unwrap();
            let result = match request["method"].as_str() {
                Some("initialize") => json!({
                    "protocolVersion": "2025-06-18",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "s", "version": "1"},
                }),
                Some("tools/list") => {
                    let page = pages.fetch_add(1, Ordering::Relaxed);
                    let tool = |n| json!({"name": format!("t{page}-{n}"), "inputSchema": {}});
                    let tools: Vec<Value> = (0..on_a_page).map(tool).collect();
                    json!({"tools": tools, "nextCursor": "more"})
                }
                _ => continue,
            };
            let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
            writer
                .write_all(format!("{answer}\n").as_bytes())
                .await
                .unwrap();
        }
    }

    /// Lists of tools after which a server that always has others says no more.
    const ENOUGH: usize = 100;

    /// Answers as a server that has one tool, and others again whenever it was asked.
    async fn never_settle(ends: DuplexStream, asked: Arc<AtomicUsize>) {
        let (reader, mut writer) = tokio::io::split(ends);
        let mut lines = BufReader::new(reader).lines();
        let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
        while let Ok(Some(line)) = lines.next_line().await {
            let request: Value = serde_json::from_str(&line).unwrap();
            let mut said = String::new();
            if let Some("tools/list") = request["method"].as_str() {
                let number = asked.fetch_add(1, Ordering::Relaxed);
                // Of who does not pause it has enough some time.
                if number > ENOUGH {
                    continue;
                }
                let name = format!("t{number}");
                let result = json!({"tools": [{"name": name, "inputSchema": {}}]});
                let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
                said = format!("{answer}\n") + &format!("{changed}\n").repeat(20);
            } else if request["method"] == "initialize" {
                let result = json!({
                    "protocolVersion": "2025-06-18",
                    "capabilities": {"tools": {"listChanged": true}},
                    "serverInfo": {"name": "s", "version": "1"},
                });
                said = json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string();
                said.push('\n');
            }
            writer.write_all(said.as_bytes()).await.unwrap();
        }
    }

    /// The first change is heard of at once, and of a storm of them one a pause.
    #[tokio::test(start_paused = true)]
    async fn listing_of_tools_that_always_change_pauses() {
        let (ours, theirs) = duplex(1 << 16);
        let asked = Arc::<AtomicUsize>::default();
        tokio::spawn(never_settle(theirs, Arc::clone(&asked)));
        let changes = Arc::new(Notify::new());
        let listener = Listener(Arc::clone(&changes));
        let ends = tokio::io::split(ours);
        let (service, _) = greet(ends, listener, &Refused::default()).await.unwrap();
        let (mut heard, pauses) = (Vec::new(), 10);
        let following = follow(&service, &changes, |tools| {
            heard.push(tools[0].name.to_string())
        });
        let long = LIST_PAUSE * pauses - LIST_PAUSE / 2;
        assert!(timeout(long, following).await.is_err(), "it has no end");
        let expected: Vec<String> = (1..=pauses).map(|number| format!("t{number}")).collect();
        assert_eq!(heard, expected);
        assert_eq!(asked.load(Ordering::Relaxed), 1 + heard.len());
    }

    /// How many tools such a server comes to, and how many pages it was asked for.
    async fn listed(on_a_page: usize) -> (usize, usize) {
        let (ours, theirs) = duplex(1 << 16);
        let pages = Arc::<AtomicUsize>::default();
        tokio::spawn(answer(theirs, on_a_page, Arc::clone(&pages)));
        let ends = tokio::io::split(ours);
        let listener = Listener(Arc::default());
        let (_service, tools) = greet(ends, listener, &Refused::default()).await.unwrap();
        (tools.len(), pages.load(Ordering::Relaxed))
    }

    #[tokio::test]
    async fn listing_of_tools_ends_where_the_server_does_not_end_it() {
        assert_eq!(listed(0).await, (0, PAGES));
        assert_eq!(listed(300).await, (TOOLS, 4));
    }
}
