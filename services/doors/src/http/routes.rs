//! Which path is answered by what.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Response, StatusCode};
use axum::middleware::{self, Next};
use axum::response::IntoResponse as _;
use axum::routing::{get, post};

use super::problem::Problem;
use super::{chat, cli, health, hooks, metrics, models, page, responses};
use crate::doors::Doors;
use crate::front::TcpDoor;

/// What a door answers.
pub(crate) fn router(door: TcpDoor, doors: Arc<Doors>) -> Router {
    let router = match door {
        TcpDoor::Main => main(),
        TcpDoor::Cli => Router::new()
            .route("/message", post(cli::message))
            .route("/session", get(cli::session))
            .route("/history", get(cli::history)),
    };
    router
        .route("/healthz", get(health::live))
        .route("/readyz", get(health::ready))
        .fallback(elsewhere)
        .method_not_allowed_fallback(wrong_method)
        .layer(middleware::from_fn_with_state(
            Arc::clone(&doors),
            caught_up,
        ))
        .with_state(doors)
}

/// A request sees what the configuration's files said when it came.
async fn caught_up(
    State(doors): State<Arc<Doors>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    doors.core.configuration.catch_up().await;
    next.run(request).await
}

fn main() -> Router<Arc<Doors>> {
    Router::new()
        .route("/", get(page::page))
        .route("/health", get(health::live))
        .route("/ready", get(health::ready))
        .route("/metrics", get(metrics::metrics))
        .route("/v1/models", get(models::list))
        .route("/v1/models/{*id}", get(models::one))
        .route("/v1/chat/completions", post(chat::complete))
        .route("/v1/responses", post(responses::create))
}

/// Hooks have a path that can be changed while the gateway runs, so they are not among the routes.
async fn elsewhere(State(doors): State<Arc<Doors>>, request: Request) -> Response<Body> {
    let settings = doors.front.settings();
    let hooks = &settings.gateway.hooks;
    let path = request.uri().path();
    let name = path
        .strip_prefix(hooks.path.as_str())
        .and_then(|rest| rest.strip_prefix('/'))
        .map(str::to_owned);
    match name {
        Some(name) if hooks.enabled => hooks::call(doors, hooks, &name, request).await,
        _ => Problem::not_found(path).into_response(),
    }
}

async fn wrong_method(request: Request) -> Problem {
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        format!(
            "{} is not answered at {}",
            request.method(),
            request.uri().path()
        ),
    )
}
