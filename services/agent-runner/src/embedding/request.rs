//! OpenAI's `/v1/embeddings`, which most others speak too.

use std::time::Duration;

use futures_util::StreamExt as _;
use openclaw_daemon::failure;
use openclaw_model_api::upstream::{self, Upstream};
use openclaw_settings::provider::Provider;
use reqwest::{Response, StatusCode};
use serde::{Deserialize, Serialize};

/// The longest that a request may take; somebody may be waiting for it.
const DEADLINE: Duration = Duration::from_secs(60);
/// The largest response, in bytes: twice a batch of the longest vectors there are.
const RESPONSE: usize = 32 << 20;
/// The most characters kept of a refusal.
const REASON: usize = 300;

/// Why there are no vectors.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// It could not be asked.
    #[error(transparent)]
    Upstream(#[from] upstream::Error),
    /// It refused.
    #[error("the provider answered {status}: {reason}")]
    Refused {
        /// The HTTP status.
        status: StatusCode,
        /// The beginning of what it said.
        reason: String,
    },
    /// It did not answer to the end.
    #[error("read the provider's answer")]
    Read(#[source] reqwest::Error),
    /// Its answer is not a list of vectors.
    #[error("the provider's answer is no list of vectors: {0}")]
    Shape(String),
    /// It took too long.
    #[error("the provider did not answer within {DEADLINE:?}")]
    Late,
}

impl Error {
    /// The failure and where to look.
    pub(super) fn to_words(&self, provider: &Provider) -> String {
        match self {
            Self::Upstream(error) => error.to_words(),
            Self::Refused { status, .. } if status.as_u16() == 401 || status.as_u16() == 403 => {
                format!("{self}; check {}", provider.key_source)
            }
            other => failure::chain(other),
        }
    }

    /// Whether the same texts may do another time.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Refused { status, .. } => !matches!(status.as_u16(), 400 | 404 | 413 | 422),
            Self::Shape(_) => false,
            Self::Upstream(_) | Self::Read(_) | Self::Late => true,
        }
    }
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [String],
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    #[serde(default)]
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// The vectors of `texts`, in their order.
pub(super) async fn embed(
    upstream: &Upstream,
    provider: &Provider,
    model: &str,
    texts: &[String],
) -> Result<Vec<Vec<f32>>, Error> {
    let request = Request {
        model,
        input: texts,
        encoding_format: "float",
    };
    let body = serde_json::to_vec(&request).map_err(|error| Error::Shape(error.to_string()))?;
    let asked = async {
        let response = upstream.embeddings(provider, body.into()).await?;
        vectors(response, texts.len()).await
    };
    let asked = tokio::time::timeout(DEADLINE, asked).await;
    asked.unwrap_or(Err(Error::Late))
}

async fn vectors(response: Response, count: usize) -> Result<Vec<Vec<f32>>, Error> {
    let status = response.status();
    let body = read(response).await?;
    if !status.is_success() {
        let reason = String::from_utf8_lossy(&body);
        let reason = reason.trim().chars().take(REASON).collect();
        return Err(Error::Refused { status, reason });
    }
    parsed(&body, count)
}

async fn read(response: Response) -> Result<Vec<u8>, Error> {
    let mut body = Vec::new();
    let mut pieces = response.bytes_stream();
    while let Some(piece) = pieces.next().await {
        body.extend_from_slice(&piece.map_err(Error::Read)?);
        if body.len() > RESPONSE {
            return Err(Error::Shape(format!("more than {} MiB", RESPONSE >> 20)));
        }
    }
    Ok(body)
}

fn parsed(body: &[u8], count: usize) -> Result<Vec<Vec<f32>>, Error> {
    let answer: Answer =
        serde_json::from_slice(body).map_err(|error| Error::Shape(error.to_string()))?;
    let mut data = answer.data;
    // Stable: a provider that gives no index gives them in order.
    data.sort_by_key(|embedding| embedding.index);
    let dimensions = data.first().map_or(0, |first| first.embedding.len());
    let sound = |embedding: &Embedding| {
        embedding.embedding.len() == dimensions
            && embedding.embedding.iter().all(|value| value.is_finite())
    };
    if data.len() != count || dimensions == 0 || !data.iter().all(sound) {
        return Err(Error::Shape(format!(
            "{} vectors of {dimensions} numbers for {count} texts",
            data.len()
        )));
    }
    Ok(data
        .into_iter()
        .map(|embedding| embedding.embedding)
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_come_in_the_order_of_the_texts() {
        let body = br#"{"object":"list","data":[
            {"object":"embedding","index":1,"embedding":[3,4]},
            {"object":"embedding","index":0,"embedding":[1,2.5]}],"model":"m","usage":{}}"#;
        assert_eq!(parsed(body, 2).unwrap(), [vec![1.0, 2.5], vec![3.0, 4.0]]);
    }

    #[test]
    fn request_what_are_no_vectors_of_the_texts_is_refused() {
        for (body, count) in [
            (r#"{"data":[{"embedding":[1]}]}"#, 2),
            (r#"{"data":[{"embedding":[1]},{"embedding":[1,2]}]}"#, 2),
            (r#"{"data":[{"embedding":[]}]}"#, 1),
            (r#"{"data":[{"embedding":"AAAA"}]}"#, 1),
            ("not json", 1),
        ] {
            let error = parsed(body.as_bytes(), count).unwrap_err();
            assert!(!error.may_pass(), "{body}");
        }
    }

    #[test]
    fn request_what_may_pass_is_tried_again() {
        for (status, passes) in [(429, true), (503, true), (401, true), (400, false)] {
            let refused = Error::Refused {
                status: StatusCode::from_u16(status).unwrap(),
                reason: String::new(),
            };
            assert_eq!(refused.may_pass(), passes, "{status}");
        }
    }
}
