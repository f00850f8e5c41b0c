//! OpenAI's embeddings: texts that share words are alike.

use serde_json::{Value, json};

/// Numbers in a vector.
const DIMENSIONS: usize = 128;

/// The answer to a request, or what is wrong with it.
pub(crate) fn answer(body: &Value) -> Result<Value, String> {
    let model = body["model"].as_str().ok_or("model: a text is wanted")?;
    let texts: Vec<&str> = match &body["input"] {
        Value::String(text) => vec![text],
        Value::Array(texts) => texts.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if texts.is_empty() || texts.iter().any(|text| text.is_empty()) {
        return Err("input: texts that are not empty are wanted".to_owned());
    }
    let data = texts.iter().enumerate().map(
        |(index, text)| json!({"object": "embedding", "index": index, "embedding": vector(text)}),
    );
    // Backwards: clients are to go by the index.
    let data: Vec<Value> = data.rev().collect();
    let tokens: usize = texts.iter().map(|text| text.len() / 4).sum();
    Ok(json!({
        "object": "list",
        "data": data,
        "model": model,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens}
    }))
}

/// Words counted in the places that their letters add up to.
fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0; DIMENSIONS];
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        let sum = word.bytes().fold(7_u32, |sum, byte| {
            sum.wrapping_mul(31)
                .wrapping_add(u32::from(byte.to_ascii_lowercase()))
        });
        if !word.is_empty() {
            vector[sum as usize % DIMENSIONS] += 1.0;
        }
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embeddings_every_text_has_its_vector() {
        let asked = json!({"model": "m", "input": ["a cat", "A cat"]});
        let answer = answer(&asked).unwrap();
        assert_eq!(answer["data"][0]["index"], 1);
        assert_eq!(
            answer["data"][0]["embedding"],
            answer["data"][1]["embedding"]
        );
        assert!(super::answer(&json!({"model": "m", "input": []})).is_err());
    }
}
