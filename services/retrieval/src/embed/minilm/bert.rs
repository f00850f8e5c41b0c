//! BERT's encoder (Devlin et al., 2018), for one text at a time: without
//! padding there is nothing to mask.

use std::collections::HashMap;

use candle_core::{D, Error, Result, Tensor};
use candle_nn::ops;

/// MiniLM's numbers.
const HEADS: usize = 12;
const HIDDEN: usize = 384;
/// `layer_norm_eps`.
const EPSILON: f32 = 1e-12;

/// The encoder.
#[derive(Debug)]
pub(super) struct Bert {
    words: Tensor,
    /// Of positions, with that of the first of two texts added.
    positions: Tensor,
    norm: Norm,
    layers: Vec<Layer>,
}

#[derive(Debug)]
struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    joined: Linear,
    attention_norm: Norm,
    wide: Linear,
    narrow: Linear,
    norm: Norm,
}

#[derive(Debug)]
struct Linear {
    weight: Tensor,
    bias: Tensor,
}

#[derive(Debug)]
struct Norm {
    weight: Tensor,
    bias: Tensor,
}

impl Bert {
    /// The encoder with `tensors`, for a vocabulary of `pieces`.
    pub(super) fn new(tensors: HashMap<String, Tensor>, pieces: usize) -> Result<Self> {
        let source = Source(tensors);
        let words = source.tensor("embeddings.word_embeddings.weight", &[pieces, HIDDEN])?;
        let kinds = source.any("embeddings.token_type_embeddings.weight")?;
        let positions = source.any("embeddings.position_embeddings.weight")?;
        let mut layers = Vec::new();
        while source.has(&format!(
            "encoder.layer.{}.output.dense.weight",
            layers.len()
        )) {
            layers.push(Layer::new(&source, layers.len())?);
        }
        if layers.is_empty() {
            return Err(Error::Msg("it has no encoder.layer.0".to_owned()));
        }
        Ok(Self {
            words,
            positions: positions.broadcast_add(&kinds.get(0)?)?,
            norm: Norm::new(&source, "embeddings.LayerNorm")?,
            layers,
        })
    }

    /// A vector for each of `pieces`.
    pub(super) fn run(&self, pieces: &Tensor) -> Result<Tensor> {
        let words = self.words.index_select(pieces, 0)?;
        let positions = self.positions.narrow(0, 0, pieces.dim(0)?)?;
        let mut states = self.norm.run(&(words + positions)?)?;
        for layer in &self.layers {
            states = layer.run(&states)?;
        }
        Ok(states)
    }
}

impl Layer {
    fn new(source: &Source, number: usize) -> Result<Self> {
        let linear = |name: &str| Linear::new(source, &format!("encoder.layer.{number}.{name}"));
        let norm = |name: &str| Norm::new(source, &format!("encoder.layer.{number}.{name}"));
        Ok(Self {
            query: linear("attention.self.query")?,
            key: linear("attention.self.key")?,
            value: linear("attention.self.value")?,
            joined: linear("attention.output.dense")?,
            attention_norm: norm("attention.output.LayerNorm")?,
            wide: linear("intermediate.dense")?,
            narrow: linear("output.dense")?,
            norm: norm("output.LayerNorm")?,
        })
    }

    fn run(&self, states: &Tensor) -> Result<Tensor> {
        let attended = self.joined.run(&self.attend(states)?)?;
        let states = self.attention_norm.run(&(attended + states)?)?;
        let wide = self.wide.run(&states)?.gelu_erf()?;
        self.norm.run(&(self.narrow.run(&wide)? + states)?)
    }

    fn attend(&self, states: &Tensor) -> Result<Tensor> {
        let query = heads(&self.query.run(states)?)?;
        let key = heads(&self.key.run(states)?)?;
        let value = heads(&self.value.run(states)?)?;
        let scale = 1.0 / ((HIDDEN / HEADS) as f64).sqrt();
        let scores = (query.matmul(&key.transpose(1, 2)?.contiguous()?)? * scale)?;
        let attended = ops::softmax_last_dim(&scores)?.matmul(&value)?;
        attended
            .transpose(0, 1)?
            .contiguous()?
            .flatten_from(D::Minus2)
    }
}

/// From a row for each piece to one for each head and piece.
fn heads(states: &Tensor) -> Result<Tensor> {
    let pieces = states.dim(0)?;
    let split = states.reshape((pieces, HEADS, HIDDEN / HEADS))?;
    split.transpose(0, 1)?.contiguous()
}

impl Linear {
    fn new(source: &Source, name: &str) -> Result<Self> {
        let weight = source.any(&format!("{name}.weight"))?.t()?.contiguous()?;
        let bias = source.tensor(&format!("{name}.bias"), &[weight.dim(1)?])?;
        Ok(Self { weight, bias })
    }

    fn run(&self, states: &Tensor) -> Result<Tensor> {
        states.matmul(&self.weight)?.broadcast_add(&self.bias)
    }
}

impl Norm {
    fn new(source: &Source, name: &str) -> Result<Self> {
        Ok(Self {
            weight: source.tensor(&format!("{name}.weight"), &[HIDDEN])?,
            bias: source.tensor(&format!("{name}.bias"), &[HIDDEN])?,
        })
    }

    fn run(&self, states: &Tensor) -> Result<Tensor> {
        ops::layer_norm(&states.contiguous()?, &self.weight, &self.bias, EPSILON)
    }
}

/// The tensors of a file.
struct Source(HashMap<String, Tensor>);

impl Source {
    fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    fn any(&self, name: &str) -> Result<Tensor> {
        let tensor = self.0.get(name);
        let tensor = tensor.ok_or_else(|| Error::Msg(format!("it has no tensor {name}")))?;
        tensor.to_dtype(candle_core::DType::F32)
    }

    fn tensor(&self, name: &str, shape: &[usize]) -> Result<Tensor> {
        let tensor = self.any(name)?;
        if tensor.dims() != shape {
            let found = tensor.dims();
            return Err(Error::Msg(format!(
                "tensor {name} is {found:?}, not {shape:?}"
            )));
        }
        Ok(tensor)
    }
}
