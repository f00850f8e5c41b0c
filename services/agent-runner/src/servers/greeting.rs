//! Greeting a server and asking it for its tools.

use rmcp::model::{PaginatedRequestParams, Tool};
use rmcp::service::RunningService;
use rmcp::{RoleClient, ServiceExt as _};
use tokio::io::{AsyncRead, AsyncWrite};

use super::StartError;

/// Tools after which a server is not asked for more: far more than one may
/// have, so that those which the policy takes away do not count against it.
const TOOLS: usize = 1024;

/// Pages after which it is not asked for another. A page may be empty, and
/// name a next one for ever.
const PAGES: usize = 64;

/// A server that has said which tools it has.
pub(super) struct Greeted {
    pub(super) service: RunningService<RoleClient, ()>,
    pub(super) tools: Vec<Tool>,
    /// Whether it is believed which of them only read.
    pub(super) trusted: bool,
}

/// Greets the server at the other end of its standard output and input.
pub(super) async fn greet<R, W>(ends: (R, W), trusted: bool) -> Result<Greeted, StartError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let service = ().serve(ends).await.map_err(Box::new)?;
    let tools = list(&service).await?;
    Ok(Greeted {
        service,
        tools,
        trusted,
    })
}

async fn list(service: &RunningService<RoleClient, ()>) -> Result<Vec<Tool>, StartError> {
    let mut tools = Vec::new();
    let mut page = PaginatedRequestParams::default();
    for _ in 0..PAGES {
        let listed = service.list_tools(Some(page)).await?;
        tools.extend(listed.tools);
        if listed.next_cursor.is_none() || tools.len() >= TOOLS {
            break;
        }
        page = PaginatedRequestParams::default().with_cursor(listed.next_cursor);
    }
    tools.truncate(TOOLS);
    Ok(tools)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
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

    /// How many tools such a server comes to, and how many pages it was asked for.
    async fn listed(on_a_page: usize) -> (usize, usize) {
        let (ours, theirs) = duplex(1 << 16);
        let pages = Arc::<AtomicUsize>::default();
        tokio::spawn(answer(theirs, on_a_page, Arc::clone(&pages)));
        let greeted = greet(tokio::io::split(ours), false).await.unwrap();
        (greeted.tools.len(), pages.load(Ordering::Relaxed))
    }

    #[tokio::test]
    async fn listing_of_tools_ends_where_the_server_does_not_end_it() {
        assert_eq!(listed(0).await, (0, PAGES));
        assert_eq!(listed(300).await, (TOOLS, 4));
    }
}
