//! Templates of `hooks.mappings`: `{{messages[0].subject}}` is a part of what was sent.

use axum::http::HeaderMap;
use jiff::Timestamp;
use serde_json::Value;

/// Marks of what is put in.
const OPEN: &str = "{{";
const CLOSE: &str = "}}";

/// What templates may name.
pub(super) struct Sent<'a> {
    pub(super) payload: &'a Value,
    pub(super) headers: &'a HeaderMap,
    pub(super) query: &'a str,
    /// After the path of hooks.
    pub(super) path: &'a str,
}

impl Sent<'_> {
    /// `template` with what it names; what is not there is nothing.
    pub(super) fn fill(&self, template: &str) -> String {
        let mut filled = String::with_capacity(template.len());
        let mut rest = template;
        while let Some((before, after)) = rest.split_once(OPEN) {
            let Some((name, after)) = after.split_once(CLOSE) else {
                break;
            };
            filled.push_str(before);
            filled.push_str(&self.named(name.trim()));
            rest = after;
        }
        filled.push_str(rest);
        filled
    }

    fn named(&self, name: &str) -> String {
        match name {
            "path" => return self.path.to_owned(),
            "now" => return Timestamp::now().to_string(),
            _ => {}
        }
        if let Some(header) = name.strip_prefix("headers.") {
            let value = self.headers.get(header).and_then(|it| it.to_str().ok());
            return value.unwrap_or_default().to_owned();
        }
        if let Some(wanted) = name.strip_prefix("query.") {
            let pairs = form_urlencoded::parse(self.query.as_bytes());
            let mut found = pairs.filter(|(key, _)| key == wanted);
            return found
                .next()
                .map_or_else(String::new, |(_, value)| value.into_owned());
        }
        let field = name.strip_prefix("payload.").unwrap_or(name);
        look_up(self.payload, field).map_or_else(String::new, words)
    }
}

/// `a.b[0].c` in `value`.
fn look_up<'a>(mut value: &'a Value, path: &str) -> Option<&'a Value> {
    for part in path.split('.') {
        let (name, indices) = part.split_once('[').unwrap_or((part, ""));
        if !name.is_empty() {
            value = value.get(name)?;
        }
        for index in indices.split('[').filter(|index| !index.is_empty()) {
            value = value.get(index.strip_suffix(']')?.parse::<usize>().ok()?)?;
        }
    }
    Some(value)
}

fn words(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn template_what_was_sent_is_put_in() {
        let payload = json!({"messages": [{"from": "a@b", "n": 3, "to": ["x", "y"]}], "none": null,
            "grid": [[1, 2], [3, 4]]});
        let mut headers = HeaderMap::new();
        headers.insert("x-event-type", "push".parse().unwrap());
        let sent = Sent {
            payload: &payload,
            headers: &headers,
            query: "kind=a%20b&kind=c",
            path: "github/x",
        };
        for (template, filled) in [
            ("from {{messages[0].from}}!", "from a@b!"),
            ("{{ payload.messages[0].n }}", "3"),
            ("{{messages[0].to}}", "[\"x\",\"y\"]"),
            ("{{grid[1][0]}}", "3"),
            (
                "{{none}}{{missing.too}}{{messages[7].x}}{{messages[x]}}",
                "",
            ),
            (
                "{{headers.X-Event-Type}} {{query.kind}} {{path}}",
                "push a b github/x",
            ),
            ("{{open", "{{open"),
            ("}}{{path}}{{", "}}github/x{{"),
            ("plain", "plain"),
        ] {
            assert_eq!(sent.fill(template), filled, "{template}");
        }
        assert!(sent.fill("{{now}}").contains('T'));
    }

    #[test]
    fn template_what_is_put_in_is_no_template() {
        let payload = json!({"a": "{{b}}", "b": "secret"});
        let sent = Sent {
            payload: &payload,
            headers: &HeaderMap::new(),
            query: "",
            path: "",
        };
        assert_eq!(sent.fill("{{a}}"), "{{b}}");
    }
}
