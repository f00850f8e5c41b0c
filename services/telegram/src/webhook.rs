//! The way in by being called: a webhook, never beside a poller.

use std::convert::Infallible;
use std::fs;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use openclaw_channel::spool::Spool;
use openclaw_proto::channel::Connection;
use serde_json::{Value, json};
use subtle::ConstantTimeEq as _;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use crate::api::Api;
use crate::batch::{Problem, connecting, keep, problem, update};
use crate::bot::Bot;
use crate::read::KINDS;

/// The header that the secret comes in.
const HEADER: &str = "X-Telegram-Bot-Api-Secret-Token";
/// Bytes of one call: an update is far smaller.
const BODY_LIMIT: usize = 1024 * 1024;
/// Calls at a time; Telegram makes forty.
const CALLS_AT_ONCE: usize = 64;
/// How long a caller may take to say what it wants.
const HEAD_DEADLINE: Duration = Duration::from_secs(10);
/// How often Telegram is asked whether it can call.
const LOOK: Duration = Duration::from_secs(30);
/// The file into which the gateway writes the secret that the configuration has
/// (`doors/src/channels/token.rs`).
const SET: &str = "webhook-secret-set";
/// That of the one which this daemon made.
const MADE: &str = "webhook-secret";
/// What names the webhook that this daemon set.
const OWN: &str = "webhook";

/// Removes the webhook that an earlier configuration had; one of somebody else's
/// is not touched.
pub(crate) async fn leave(bot: &Bot, api: &Api) -> Result<(), Problem> {
    let unreachable = |error| problem(bot, &error);
    let info = api
        .call("getWebhookInfo", &json!({}))
        .await
        .map_err(unreachable)?;
    let url = info["url"].as_str().unwrap_or_default();
    let path = bot.folder.join(OWN);
    if url.is_empty() {
        return Ok(());
    }
    let is_own = fs::read_to_string(&path).is_ok_and(|own| own.trim() == url);
    if !is_own {
        return Err(Problem::of(
            Connection::Conflict,
            format!(
                "another program has set the webhook {url} for this bot, and there may be one \
                 receiver only: set channels.telegram.webhookUrl to it if it leads here, or remove \
                 it (deleteWebhook of the Bot API), or use a bot of its own"
            ),
        ));
    }
    api.call("deleteWebhook", &json!({}))
        .await
        .map_err(unreachable)?;
    let _ = fs::remove_file(path);
    Ok(())
}

/// Sets the webhook and takes its calls, until the token is another bot's; an error
/// says why that ended.
pub(crate) async fn receive(bot: &Bot, api: &Api, spool: &Arc<Spool>) -> Result<(), Problem> {
    let options = bot.reader().options.clone();
    let address = (options.webhook_host.as_str(), options.webhook_port);
    let listener = TcpListener::bind(address).await.map_err(|error| {
        let (host, port) = address;
        connecting(format!(
            "cannot listen on {host}:{port} for the webhook: {error}"
        ))
    })?;
    let unkept =
        |error: io::Error| connecting(format!("cannot keep the webhook's secret: {error}"));
    let known = secret(bot).map_err(unkept)?;
    let url = options.webhook_url.clone().unwrap_or_default();
    let wanted = json!({"url": url, "secret_token": known, "allowed_updates": KINDS});
    fs::write(bot.folder.join(OWN), &url).map_err(unkept)?;
    api.call("setWebhook", &wanted)
        .await
        .map_err(|error| problem(bot, &error))?;
    bot.board.receives();
    let door = Arc::new(Endpoint {
        path: options.webhook_path.clone(),
        secret: known,
        api: api.clone(),
        spool: Arc::clone(spool),
        calls: Semaphore::new(CALLS_AT_ONCE),
    });
    let mut connections = JoinSet::new();
    let mut next = Instant::now();
    loop {
        tokio::select! {
            accepted = listener.accept(), if connections.len() < CALLS_AT_ONCE => {
                if let Ok((stream, _)) = accepted {
                    let door = Arc::clone(&door);
                    connections.spawn(serve(stream, door));
                }
            }
            Some(_) = connections.join_next() => {}
            () = sleep_until(next) => {
                if bot.api().is_ok_and(|now| now.bot_id() != api.bot_id()) {
                    return Ok(());
                }
                next = Instant::now() + look(bot, api).await?;
                if secret(bot).is_ok_and(|now| now != door.secret) {
                    return Err(connecting("the webhook's secret was changed; setting it again"));
                }
            }
        }
    }
}

/// Asks Telegram whether it can call; after how long to ask again.
async fn look(bot: &Bot, api: &Api) -> Result<Duration, Problem> {
    let info = match api.call("getWebhookInfo", &json!({})).await {
        Ok(info) => info,
        // It calls all the same, or as soon as it is there.
        Err(error) if error.is_passing() => {
            if error.retry_after().is_none()
                && let Some((state, words)) = problem(bot, &error).told
            {
                bot.board.problem(state, &words);
            }
            return Ok(error.retry_after().unwrap_or_default().max(LOOK));
        }
        Err(error) => return Err(problem(bot, &error)),
    };
    let url = info["url"].as_str().unwrap_or_default();
    if bot.reader().options.webhook_url.as_deref() != Some(url) {
        return Err(connecting(
            "the webhook was changed by another program; setting it again",
        ));
    }
    let waits = info["pending_update_count"].as_u64().unwrap_or_default();
    match info["last_error_message"].as_str() {
        Some(words) if waits > 0 => {
            let words = format!("Telegram cannot call the webhook {url}: {words}");
            bot.board.problem(Connection::Connecting, &words);
        }
        _ => bot.board.receives(),
    }
    Ok(LOOK)
}

/// The secret that Telegram is to show: the configuration's, else one that is made once.
fn secret(bot: &Bot) -> io::Result<String> {
    match fs::read_to_string(bot.folder.join(SET)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        set => return set,
    }
    let path = bot.folder.join(MADE);
    if let Ok(secret) = fs::read_to_string(&path) {
        return Ok(secret);
    }
    let half = || uuid::Uuid::new_v4().simple().to_string();
    let secret = half() + &half();
    fs::write(&path, &secret)?;
    Ok(secret)
}

struct Endpoint {
    path: String,
    secret: String,
    api: Api,
    spool: Arc<Spool>,
    calls: Semaphore,
}

async fn serve(stream: tokio::net::TcpStream, door: Arc<Endpoint>) {
    let service = service_fn(|request| {
        let door = Arc::clone(&door);
        async move { Ok::<_, Infallible>(door.answer(request).await) }
    });
    // A caller that leaves calls again.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_DEADLINE)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

impl Endpoint {
    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let status = self.take(request).await.err().unwrap_or(StatusCode::OK);
        let mut response = Response::new(Full::default());
        *response.status_mut() = status;
        response
    }

    async fn take(&self, request: Request<Incoming>) -> Result<(), StatusCode> {
        if request.uri().path() != self.path {
            return Err(StatusCode::NOT_FOUND);
        }
        if request.method() != Method::POST {
            return Err(StatusCode::METHOD_NOT_ALLOWED);
        }
        let shown = request
            .headers()
            .get(HEADER)
            .map(|it| it.as_bytes().to_owned());
        let is_telegram = shown.is_some_and(|it| it.ct_eq(self.secret.as_bytes()).into());
        if !is_telegram {
            return Err(StatusCode::UNAUTHORIZED);
        }
        let _call = self.calls.acquire().await;
        let body = Limited::new(request.into_body(), BODY_LIMIT)
            .collect()
            .await;
        let body = body.map_err(|_| StatusCode::BAD_REQUEST)?.to_bytes();
        let raw: Value = serde_json::from_slice(&body).map_err(|_| StatusCode::BAD_REQUEST)?;
        let Some(update) = update(&self.api, &raw) else {
            return Err(StatusCode::BAD_REQUEST);
        };
        self.spool.room().await;
        // Telegram calls again until it is told that it is kept.
        let kept = keep(&self.spool, vec![update], None).await;
        kept.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)
    }
}
