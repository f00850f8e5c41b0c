//! Calling the webhook that was set, until it says that it has each update.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::state::Shared;

/// Between two calls of a webhook that does not take an update.
const AGAIN: Duration = Duration::from_millis(200);

/// Never returns.
pub(crate) async fn run(shared: Arc<Shared>) {
    loop {
        let changed = shared.changed.notified();
        let next = {
            let state = shared.state();
            let update = state.updates.front().cloned();
            update
                .filter(|_| !state.webhook_url().is_empty())
                .map(|update| (update, state.webhook.clone()))
        };
        let Some((update, webhook)) = next else {
            changed.await;
            continue;
        };
        let status = post(&webhook, &update).await;
        if note(&shared, &update, status) {
            shared.changed.notify_waiters();
        } else {
            // Something else may come first.
            let _ = timeout(AGAIN, changed).await;
        }
    }
}

/// Whether the webhook has the update.
fn note(shared: &Shared, update: &Value, status: Option<u16>) -> bool {
    let mut state = shared.state();
    if status == Some(200) {
        state
            .updates
            .retain(|it| it["update_id"] != update["update_id"]);
        return true;
    }
    let words = status.map_or("Connection refused".to_owned(), |code| {
        format!("Wrong response from the webhook: {code}")
    });
    state.webhook["error"] = words.into();
    false
}

/// The status of the webhook's answer; only http:// is called here.
async fn post(webhook: &Value, update: &Value) -> Option<u16> {
    let url = webhook["url"].as_str()?.strip_prefix("http://")?;
    let (host, path) = url.split_once('/').unwrap_or((url, ""));
    let secret = webhook["secret_token"].as_str().unwrap_or_default();
    let body = update.to_string();
    let request = format!(
        "POST /{path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
         X-Telegram-Bot-Api-Secret-Token: {secret}\r\nContent-Length: {}\r\nConnection: close\r\n\
         \r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(host).await.ok()?;
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.ok()?;
    let line = String::from_utf8_lossy(&answer).into_owned();
    line.split(' ').nth(1)?.parse().ok()
}
