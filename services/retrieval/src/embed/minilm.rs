//! all-MiniLM-L6-v2 (Wang et al., 2020; Apache-2.0) on the processor, from a
//! folder with `model.safetensors` and `tokenizer.json`.
//!
//! Milliseconds a text: it scores the best of what the table found.

use std::path::Path;

use candle_core::{Device, Tensor};
use serde_json::Value;

use super::wordpiece::Vocabulary;
use super::{Embedder, chain};
use crate::error::Error;

mod bert;

use bert::Bert;

/// Names its vectors.
pub(crate) const MODEL: &str = "all-MiniLM-L6-v2";
/// What the model was trained for; what is longer is cut. In pieces, the two
/// around the text included.
const PIECES: usize = 256;
const WEIGHTS: &str = "model.safetensors";
const TOKENIZER: &str = "tokenizer.json";

/// The model, in memory: 90 MB.
#[derive(Debug)]
pub(crate) struct MiniLm {
    vocabulary: Vocabulary,
    begin: u32,
    end: u32,
    unknown: u32,
    bert: Bert,
}

impl MiniLm {
    /// Loads the model in `folder`.
    pub(crate) fn open(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(TOKENIZER);
        let text = std::fs::read(&path).map_err(Error::io("read", &path))?;
        let pieces = pieces(&text).ok_or_else(|| Error::Model {
            path: path.clone(),
            reason: "it has no WordPiece vocabulary with numbers from 0".to_owned(),
        })?;
        let vocabulary = Vocabulary::new(pieces.iter().map(String::as_str));
        let special = |piece: &str| {
            vocabulary.number(piece).ok_or_else(|| Error::Model {
                path: path.clone(),
                reason: format!("its vocabulary has no {piece}"),
            })
        };
        let (begin, end, unknown) = (special("[CLS]")?, special("[SEP]")?, special("[UNK]")?);
        let path = folder.join(WEIGHTS);
        // Opened first: what candle says of a file that is missing is no path.
        std::fs::File::open(&path).map_err(Error::io("open", &path))?;
        let wrong = |error: candle_core::Error| Error::Model {
            path: path.clone(),
            reason: chain(&error),
        };
        let tensors = candle_core::safetensors::load(&path, &Device::Cpu).map_err(wrong)?;
        let bert = Bert::new(tensors, vocabulary.len()).map_err(wrong)?;
        Ok(Self {
            vocabulary,
            begin,
            end,
            unknown,
            bert,
        })
    }

    fn vector(&self, text: &str) -> candle_core::Result<Vec<f32>> {
        let mut pieces = vec![self.begin];
        self.vocabulary.pieces(text, |piece| {
            if pieces.len() < PIECES - 1 {
                pieces.push(piece.unwrap_or(self.unknown));
            }
        });
        pieces.push(self.end);
        let pieces = Tensor::new(pieces.as_slice(), &Device::Cpu)?;
        self.bert.run(&pieces)?.mean(0)?.to_vec1()
    }
}

impl Embedder for MiniLm {
    fn model(&self) -> &str {
        MODEL
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Error> {
        let vectors = texts.iter().map(|text| self.vector(text));
        vectors
            .collect::<Result<_, _>>()
            .map_err(|error| Error::Inference {
                model: MODEL,
                reason: chain(&error),
            })
    }
}

/// The pieces of a vocabulary in their order.
fn pieces(tokenizer: &[u8]) -> Option<Vec<String>> {
    let tokenizer: Value = serde_json::from_slice(tokenizer).ok()?;
    let vocabulary = tokenizer.get("model")?.get("vocab")?.as_object()?;
    let mut pieces = vec![String::new(); vocabulary.len()];
    for (piece, number) in vocabulary {
        let place = pieces.get_mut(usize::try_from(number.as_u64()?).ok()?)?;
        place.clone_from(piece);
    }
    Some(pieces)
}
