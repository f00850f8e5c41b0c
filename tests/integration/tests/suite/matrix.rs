//! Every backend, with the real CLIs, with every kind of tool, in every
//! situation; `integration_tests::matrix` has them.

use integration_tests::matrix::{self, EVENTS};

#[tokio::test]
async fn native_backend() {
    matrix::native(&EVENTS).await;
}

#[tokio::test]
async fn claude_cli() {
    matrix::claude(&EVENTS).await;
}

#[tokio::test]
async fn codex_cli() {
    matrix::codex(&EVENTS).await;
}
