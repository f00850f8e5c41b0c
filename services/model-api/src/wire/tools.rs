//! The tools of a request. Most are run by whoever asks; the others by the
//! provider, with what it reaches.

use openclaw_settings::ProviderTool;
use serde_json::{Map, Value};

use super::{Grants, Unfit};

/// What a tool needs to be granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// Nothing: the client runs it.
    Nothing,
    /// This.
    Grant(ProviderTool),
    /// Nobody knows here what it does.
    Unknown,
}

impl Need {
    fn is_met(self, grants: &Grants) -> bool {
        match self {
            Self::Nothing => true,
            Self::Grant(tool) => grants.has(tool),
            Self::Unknown => grants.has_all(),
        }
    }
}

/// Takes out of a request the tools that are not granted. A request that was
/// made for one of them, or has no other, is refused: its answer would be made
/// up. The rest goes on without.
pub(super) fn keep(
    request: &mut Map<String, Value>,
    need: fn(&Map<String, Value>) -> Need,
    grants: &Grants,
) -> Result<(), Unfit> {
    let mut removed = Vec::new();
    match request.get_mut("tools") {
        None | Some(Value::Null) => {}
        Some(Value::Array(tools)) => {
            removed = sift(tools, need, grants)?;
            if tools.is_empty()
                && let Some(first) = removed.first()
            {
                return Err(first.refusal());
            }
        }
        Some(_) => return Err(Unfit::Shape { what: "tools" }),
    }
    let choice = request.get("tool_choice").unwrap_or(&Value::Null);
    match removed.iter().find(|tool| tool.is_named_in(choice)) {
        Some(wanted) => Err(wanted.refusal()),
        None => check_choice(choice, need, grants),
    }
}

/// A tool that was taken out.
struct Removed {
    kind: String,
    name: String,
    need: Need,
}

impl Removed {
    fn refusal(&self) -> Unfit {
        let what = format!("the tool {:?}", self.kind);
        match self.need {
            Need::Grant(tool) => Unfit::NotGranted { what, tool },
            Need::Nothing | Need::Unknown => Unfit::NotPassed { what },
        }
    }

    fn is_named_in(&self, choice: &Value) -> bool {
        let is = |value: &Value| {
            let named = value.as_str().unwrap_or_default();
            !named.is_empty() && (named == self.kind || named == self.name)
        };
        match choice {
            Value::Object(fields) => {
                is(&choice["type"])
                    || is(&choice["name"])
                    || fields.values().any(|inner| self.is_named_in(inner))
            }
            Value::Array(items) => items.iter().any(|inner| self.is_named_in(inner)),
            _ => false,
        }
    }
}

fn sift(
    tools: &mut Vec<Value>,
    need: fn(&Map<String, Value>) -> Need,
    grants: &Grants,
) -> Result<Vec<Removed>, Unfit> {
    let mut removed = Vec::new();
    let mut kept = Vec::with_capacity(tools.len());
    for mut tool in std::mem::take(tools) {
        let Value::Object(fields) = &mut tool else {
            return Err(Unfit::Shape { what: "a tool" });
        };
        let needed = need(fields);
        if !needed.is_met(grants) {
            let text = |name| fields.get(name).and_then(Value::as_str).unwrap_or_default();
            tracing::info!(
                kind = text("type"),
                "a tool of the provider's is not granted and left out"
            );
            removed.push(Removed {
                kind: text("type").to_owned(),
                name: text("name").to_owned(),
                need: needed,
            });
            continue;
        }
        // A namespace has tools of its own.
        if let Some(Value::Array(inner)) = fields.get_mut("tools") {
            removed.extend(sift(inner, need, grants)?);
        }
        kept.push(tool);
    }
    *tools = kept;
    Ok(removed)
}

/// A choice may name a kind of tool that the request does not even have.
fn check_choice(
    choice: &Value,
    need: fn(&Map<String, Value>) -> Need,
    grants: &Grants,
) -> Result<(), Unfit> {
    /// Kinds of choices that are no tools.
    const CHOICES: [&str; 7] = [
        "allowed_tools",
        "any",
        "auto",
        "custom",
        "function",
        "none",
        "tool",
    ];
    let Value::Object(fields) = choice else {
        return Ok(());
    };
    let kind = fields
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let needed = need(fields);
    if CHOICES.contains(&kind) || needed.is_met(grants) {
        Ok(())
    } else {
        Err(Removed {
            kind: kind.to_owned(),
            name: String::new(),
            need: needed,
        }
        .refusal())
    }
}
