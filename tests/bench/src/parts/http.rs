//! The OpenAI-compatible API on the gateway's port.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use tokio_stream::StreamExt as _;

use crate::conversation::TEXT;
use crate::home::Backend;
use crate::model::Model;
use crate::sample::Sample;
use crate::socket::Place;
use crate::stage::Stage;
use crate::suite::Suite;
use crate::table::{Table, Unit};

/// Requests before those that count: the connection, the session.
const WARM_UP: usize = 20;
/// Requests that count.
const REQUESTS: usize = 200;
/// OpenClaw 2026.9.6 answered a message of a fake model in 355 ms (p50, the same machine class).
const COMPLETION_TARGET: f64 = 30.0;

pub(super) async fn measure(stage: &Stage, table: &mut Table) -> anyhow::Result<()> {
    let model = Model::start(&stage.programs).await?;
    let home = stage.home("http", Backend::Native, model.url())?;
    let suite = Suite::start(&stage.programs, &home).await?;
    let talked = talk(&suite, table).await;
    talked.with_context(|| format!("the suite's last lines:\n{}", suite.last_lines()))?;
    suite.stop().await
}

async fn talk(suite: &Suite, table: &mut Table) -> anyhow::Result<()> {
    let door = ApiClient::of(suite).await?;
    let health = door.health().await?;
    table.figure(
        "GET /healthz, kept connection, p50",
        Unit::Milliseconds,
        health.p50(),
    );
    let whole = door.completions().await?;
    table.target(
        "POST /v1/chat/completions, native, p50",
        Unit::Milliseconds,
        whole.p50(),
        COMPLETION_TARGET,
    );
    table.figure("the same, p95", Unit::Milliseconds, whole.percentile(95));
    let first = door.first_words().await?;
    table.figure(
        "the same, streamed, first words, p50",
        Unit::Milliseconds,
        first.p50(),
    );
    Ok(())
}

struct ApiClient {
    client: Client,
    address: String,
    token: String,
}

impl ApiClient {
    async fn of(suite: &Suite) -> anyhow::Result<Self> {
        let Place { address, token } = Place::of(suite).await?;
        Ok(Self {
            client: Client::builder()
                .no_proxy()
                .build()
                .context("make a client")?,
            address,
            token,
        })
    }

    async fn health(&self) -> anyhow::Result<Sample> {
        let url = format!("http://{}/healthz", self.address);
        let mut times = Sample::default();
        for n in 0..WARM_UP + REQUESTS {
            let started = Instant::now();
            let answer = self.client.get(&url).send().await?;
            answer.error_for_status()?.bytes().await?;
            if n >= WARM_UP {
                times.add(started.elapsed());
            }
        }
        Ok(times)
    }

    async fn completions(&self) -> anyhow::Result<Sample> {
        let mut times = Sample::default();
        for n in 0..WARM_UP + REQUESTS {
            let started = Instant::now();
            let answer = self.completion(false).send().await?.error_for_status()?;
            let document: Value = serde_json::from_slice(&answer.bytes().await?)?;
            let words = document["choices"][0]["message"]["content"].as_str();
            ensure!(words.is_some_and(|words| !words.is_empty()), "{document}");
            if n >= WARM_UP {
                times.add(started.elapsed());
            }
        }
        Ok(times)
    }

    async fn first_words(&self) -> anyhow::Result<Sample> {
        let mut times = Sample::default();
        for _ in 0..REQUESTS {
            times.add(self.first_word().await?);
        }
        Ok(times)
    }

    async fn first_word(&self) -> anyhow::Result<Duration> {
        let started = Instant::now();
        let answer = self.completion(true).send().await?.error_for_status()?;
        let mut pieces = answer.bytes_stream();
        let (mut said, mut first) = (String::new(), None);
        while let Some(piece) = pieces.next().await {
            said.push_str(&String::from_utf8_lossy(&piece?));
            if first.is_none() && said.matches("\"content\":").count() > 1 {
                first = Some(started.elapsed());
            }
        }
        ensure!(
            said.ends_with("data: [DONE]\n\n"),
            "the stream broke off: {said}"
        );
        first.context("no words in the stream")
    }

    fn completion(&self, stream: bool) -> RequestBuilder {
        let body = json!({
            "model": "openclaw",
            "user": "bench",
            "stream": stream,
            "messages": [{"role": "user", "content": TEXT}],
        });
        self.client
            .post(format!("http://{}/v1/chat/completions", self.address))
            .bearer_auth(&self.token)
            .header("content-type", "application/json")
            .body(body.to_string())
    }
}
