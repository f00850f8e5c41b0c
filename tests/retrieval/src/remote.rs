//! Vectors of a model that is served elsewhere, by OpenAI's `/v1/embeddings`.

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

/// Texts of one request.
pub(crate) const BATCH: usize = 32;

/// The model and where it is served.
#[derive(Debug)]
pub(crate) struct Remote {
    /// Names the model.
    pub(crate) model: String,
    url: String,
    client: reqwest::Client,
    runtime: tokio::runtime::Runtime,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [&'a str],
}

#[derive(Deserialize)]
struct Response {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    index: usize,
    embedding: Vec<f32>,
}

impl Remote {
    /// The `model` that is served at `base`, which ends with `/v1`.
    pub(crate) fn new(base: &str, model: &str) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("cannot start what waits for the embedder")?;
        Ok(Self {
            model: model.to_owned(),
            url: format!("{}/embeddings", base.trim_end_matches('/')),
            client: reqwest::Client::new(),
            runtime,
        })
    }

    /// A vector for each of `texts`.
    pub(crate) fn vectors(&self, texts: &[&str]) -> anyhow::Result<Vec<Vec<f32>>> {
        let request = Request {
            model: &self.model,
            input: texts,
        };
        let body = serde_json::to_vec(&request).context("cannot write the request")?;
        let asked = async {
            let request = self.client.post(&self.url);
            let request = request
                .header("Content-Type", "application/json")
                .body(body);
            let response = request.send().await?.error_for_status()?;
            response.bytes().await
        };
        let answer = self.runtime.block_on(asked);
        let answer = answer.with_context(|| format!("cannot ask the embedder at {}", self.url))?;
        let mut response: Response = serde_json::from_slice(&answer)
            .with_context(|| format!("what {} answered is no list of vectors", self.url))?;
        response.data.sort_unstable_by_key(|one| one.index);
        anyhow::ensure!(
            response.data.len() == texts.len(),
            "{} gave {} vectors for {} texts",
            self.url,
            response.data.len(),
            texts.len()
        );
        Ok(response.data.into_iter().map(|one| one.embedding).collect())
    }
}
