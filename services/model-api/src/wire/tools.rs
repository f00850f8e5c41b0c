//! The tools of a request. Most are run by whoever asks; the others by the
//! provider, with what it reaches.

use openclaw_settings::ProviderTool;

use super::body::Said;
use super::tree::{Fields, Tree};
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
    said: &mut Said<'_>,
    need: fn(&Fields<'_>) -> Need,
    grants: &Grants,
) -> Result<(), Unfit> {
    let mut removed = Vec::new();
    match said.get_mut("tools") {
        None | Some(Tree::Null) => {}
        Some(Tree::List(tools)) => {
            removed = sift(tools, need, grants)?;
            if tools.is_empty()
                && let Some(first) = removed.first()
            {
                return Err(first.refusal());
            }
        }
        Some(_) => return Err(Unfit::Shape { what: "tools" }),
    }
    let choice = said.get("tool_choice").unwrap_or(&Tree::Null);
    match removed.iter().find(|tool| tool.is_named_in(choice)) {
        Some(wanted) => Err(wanted.refusal()),
        None => check_choice(choice, need, grants),
    }
}

/// What a call was made with, and what its arguments have to be: no tools of a request's.
const DATA: [&str; 5] = ["arguments", "input", "input_schema", "parameters", "schema"];

/// Takes the tools that are not granted out of what was said before: an item of it may
/// bring tools (the responses API's `additional_tools` and `tool_search_output`).
pub(super) fn keep_within(
    tree: Option<&mut Tree<'_>>,
    need: fn(&Fields<'_>) -> Need,
    grants: &Grants,
) -> Result<(), Unfit> {
    match tree {
        Some(Tree::List(items)) => {
            for item in items {
                keep_within(Some(item), need, grants)?;
            }
        }
        Some(Tree::Object(fields)) => {
            if let Some(Tree::List(tools)) = fields.get_mut("tools") {
                sift(tools, need, grants)?;
            }
            for value in fields.values_mut_but(&DATA) {
                keep_within(Some(value), need, grants)?;
            }
        }
        _ => {}
    }
    Ok(())
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

    fn is_named_in(&self, choice: &Tree<'_>) -> bool {
        let is = |named: &str| !named.is_empty() && (named == self.kind || named == self.name);
        match choice {
            Tree::Object(fields) => {
                is(fields.text("type"))
                    || is(fields.text("name"))
                    || fields.iter().any(|(_, inner)| self.is_named_in(inner))
            }
            Tree::List(items) => items.iter().any(|inner| self.is_named_in(inner)),
            _ => false,
        }
    }
}

fn sift(
    tools: &mut Vec<Tree<'_>>,
    need: fn(&Fields<'_>) -> Need,
    grants: &Grants,
) -> Result<Vec<Removed>, Unfit> {
    let mut removed = Vec::new();
    let mut kept = Vec::with_capacity(tools.len());
    for mut tool in std::mem::take(tools) {
        let Tree::Object(fields) = &mut tool else {
            return Err(Unfit::Shape { what: "a tool" });
        };
        let needed = need(fields);
        if !needed.is_met(grants) {
            tracing::info!(
                kind = fields.text("type"),
                "a tool of the provider's is not granted and left out"
            );
            removed.push(Removed {
                kind: fields.text("type").to_owned(),
                name: fields.text("name").to_owned(),
                need: needed,
            });
            continue;
        }
        // A namespace has tools of its own.
        if let Some(Tree::List(inner)) = fields.get_mut("tools") {
            removed.extend(sift(inner, need, grants)?);
        }
        kept.push(tool);
    }
    *tools = kept;
    Ok(removed)
}

/// A choice may name a kind of tool that the request does not even have.
fn check_choice(
    choice: &Tree<'_>,
    need: fn(&Fields<'_>) -> Need,
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
    let Tree::Object(fields) = choice else {
        return Ok(());
    };
    let kind = fields.text("type");
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
