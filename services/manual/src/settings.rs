//! openclaw.json(5), from the schema that the settings' own keys make.

use serde_json::{Map, Value};

use crate::roff;

/// Steps into settings; none is deeper.
const DEEPEST: usize = 12;

const HEAD: &str = "\
The settings of OpenClaw. Comments, trailing commas and names without quotes are fine (JSON5). \
Every key has a variable that comes before the file: OPENCLAW__AGENTS__DEFAULTS__MAX_TOKENS=9000 \
sets agents.defaults.maxTokens. Files in openclaw.json.d/ come over it in the order of their names. \
${VARIABLE} stands for a variable, $include for another file.";

const TAIL: &str = "\
openclawctl config get shows what holds, and openclawctl config validate what is wrong and what has \
no effect. Keys without a type here are OpenClaw\u{2019}s and have none in this suite; they are left \
out of this page. A change is taken up by itself; what needs a restart is said.";

/// The page.
pub(crate) fn page(schema: &str, date: &str) -> String {
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    let mut text = roff::title("OPENCLAW.JSON", "5", date);
    text.push_str(&roff::section("NAME"));
    text.push_str("openclaw.json \\- settings of OpenClaw\n");
    text.push_str(&roff::section("SYNOPSIS"));
    text.push_str(&roff::escaped("~/.openclaw/openclaw.json"));
    text.push('\n');
    text.push_str(&roff::section("DESCRIPTION"));
    text.push_str(&roff::escaped(HEAD));
    text.push_str("\n.PP\n");
    text.push_str(&roff::escaped(&TAIL.replace('\u{2019}', "'")));
    text.push('\n');
    text.push_str(&roff::section("KEYS"));
    let mut open = Vec::new();
    keys(&schema, &schema, &mut open, &mut text);
    text.push_str(&roff::section("SEE ALSO"));
    text.push_str(&roff::escaped(
        "openclawctl-config(1), openclaw-env(5), openclaw.target(7)\n",
    ));
    text.push('\n');
    text
}

fn keys(root: &Value, node: &Value, open: &mut Vec<String>, text: &mut String) {
    if open.len() > DEEPEST {
        return;
    }
    let node = Value::Object(resolved(root, node));
    let inner = [("properties", None), ("additionalProperties", Some("NAME"))];
    for (place, name) in inner {
        match (node.get(place).and_then(Value::as_object), name) {
            (Some(properties), None) => {
                for (name, property) in properties {
                    key(root, name, property, open, text);
                }
            }
            (Some(_), Some(name)) => {
                open.push(name.to_owned());
                keys(root, &node[place], open, text);
                open.pop();
            }
            (None, _) => {}
        }
    }
}

fn key(root: &Value, name: &str, property: &Value, open: &mut Vec<String>, text: &mut String) {
    open.push(name.to_owned());
    let whole = resolved(root, property);
    let words = described(root, property, &whole);
    // A section has none; one of OpenClaw's that does nothing here, neither.
    if let Some(words) = words {
        text.push_str(&roff::term(&open.join("."), &words));
    }
    keys(root, property, open, text);
    open.pop();
}

fn described(root: &Value, property: &Value, whole: &Map<String, Value>) -> Option<String> {
    let is_section = whole.contains_key("properties");
    let kind = kind(root, whole);
    if is_section || kind.is_empty() {
        return None;
    }
    let description = property
        .get("description")
        .or_else(|| whole.get("description"));
    let mut sentences = Vec::new();
    if let Some(description) = description.and_then(Value::as_str) {
        sentences.push(description.replace('\n', " ").replace('`', ""));
    }
    sentences.push(format!("Type: {kind}."));
    if let Some(words) = whole.get("enum").and_then(Value::as_array) {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        sentences.push(format!("One of {}.", words.join(", ")));
    }
    let default = property.get("default").or_else(|| whole.get("default"));
    if let Some(default) = default.filter(|it| !it.is_null()) {
        sentences.push(format!(
            "Default: {}.",
            default.to_string().trim_matches('"')
        ));
    }
    for (name, words) in [("minimum", "At least"), ("maximum", "At most")] {
        if let Some(bound) = whole.get(name) {
            sentences.push(format!("{words} {bound}."));
        }
    }
    Some(sentences.join("\n"))
}

fn kind(root: &Value, whole: &Map<String, Value>) -> String {
    let mut kinds: Vec<String> = Vec::new();
    match whole.get("type") {
        Some(Value::String(kind)) => kinds.push(kind.clone()),
        Some(Value::Array(list)) => {
            let list = list.iter().filter_map(Value::as_str);
            kinds.extend(list.filter(|kind| *kind != "null").map(str::to_owned));
        }
        _ => {}
    }
    for place in ["anyOf", "oneOf"] {
        for one in whole
            .get(place)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let one = kind(root, &resolved(root, one));
            if !one.is_empty() && one != "null" && !kinds.contains(&one) {
                kinds.push(one);
            }
        }
    }
    kinds.join(" or ")
}

/// The node with what it refers to; what it says itself comes first.
fn resolved(root: &Value, node: &Value) -> Map<String, Value> {
    let own = node.as_object().cloned().unwrap_or_default();
    let name = own.get("$ref").and_then(Value::as_str);
    let Some(name) = name.and_then(|it| it.strip_prefix("#/$defs/")) else {
        return own;
    };
    let mut whole = root["$defs"][name].as_object().cloned().unwrap_or_default();
    whole.extend(own);
    whole
}
