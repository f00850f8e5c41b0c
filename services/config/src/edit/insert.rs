//! Puts something new into an object or a list.

use serde_json::Value;

use super::{Change, layout};
use crate::syntax::{self, Member, Node};

/// The changes that add `key` with `value` to an object.
pub(super) fn member(
    text: &str,
    root: &Node,
    (object, members): (&Node, &[Member]),
    key: &str,
    value: &Value,
) -> Vec<Change> {
    let spans: Vec<_> = members
        .iter()
        .map(|member| (member.key_span.start, member.value.span.end))
        .collect();
    let key = layout::key(text, root, object, key);
    element(text, root, object, &spans, |base, unit| {
        format!("{key}: {}", layout::rendered(value, base, unit))
    })
}

/// The changes that add `value` to the end of a list.
pub(super) fn item(
    text: &str,
    root: &Node,
    (list, items): (&Node, &[Node]),
    value: &Value,
) -> Vec<Change> {
    let spans: Vec<_> = items
        .iter()
        .map(|item| (item.span.start, item.span.end))
        .collect();
    element(text, root, list, &spans, |base, unit| {
        layout::rendered(value, base, unit)
    })
}

fn element(
    text: &str,
    root: &Node,
    container: &Node,
    spans: &[(usize, usize)],
    written: impl Fn(&str, &str) -> String,
) -> Vec<Change> {
    let unit = layout::unit(text, root);
    let base = layout::indentation(text, container.span.start);
    let (Some((first, _)), Some((_, last))) = (spans.first(), spans.last()) else {
        return vec![alone(text, container, base, unit, written)];
    };
    let comma = syntax::skip_trivia(text, *last);
    let comma = text[comma..].starts_with(',').then_some(comma);
    let mut changes = Vec::new();
    if comma.is_none() {
        changes.push((*last..*last, ",".to_owned()));
    }
    let end = comma.map_or("", |_| ",");
    let behind = comma.map_or(*last, |comma| comma + 1);
    if layout::is_first_of_line(text, *first) {
        let indent = layout::indentation(text, *first);
        let at = behind + remark(&text[behind..]);
        let new = format!("\n{indent}{}{end}", written(indent, unit));
        changes.push((at..at, new));
    } else {
        let new = format!(" {}{end}", written(base, unit));
        changes.push((behind..behind, new));
    }
    merged(changes)
}

/// Two changes at the same place are one.
fn merged(changes: Vec<Change>) -> Vec<Change> {
    match changes.as_slice() {
        [(one, comma), (other, new)] if one == other => {
            vec![(one.clone(), format!("{comma}{new}"))]
        }
        _ => changes,
    }
}

/// The first element of a container; the comments in it stay in front.
fn alone(
    text: &str,
    container: &Node,
    base: &str,
    unit: &str,
    written: impl Fn(&str, &str) -> String,
) -> Change {
    let inner = container.span.start + 1..container.span.end - 1;
    let comments = text[inner.clone()].trim_end();
    let indent = format!("{base}{unit}");
    let new = written(&indent, unit);
    (inner, format!("{comments}\n{indent}{new}\n{base}"))
}

/// The length of the comment that stands behind something on its line, with
/// the space before it.
fn remark(behind: &str) -> usize {
    let line = behind.split('\n').next().unwrap_or_default().trim_end();
    let inner = line.trim_start();
    let whole = inner.starts_with("//") || (inner.starts_with("/*") && inner.ends_with("*/"));
    if whole { line.len() } else { 0 }
}
