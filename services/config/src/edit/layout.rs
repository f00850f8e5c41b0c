//! How new text fits to the text around it.

use serde_json::Value;

use super::Change;
use crate::syntax::{Kind, Node};

/// What JSON is indented with where the file does not show it.
const INDENT: &str = "  ";

/// A file of nothing but comments, with an object to put things into.
pub(super) fn with_empty_object(text: &str) -> String {
    match text.trim_end() {
        "" => "{}\n".to_owned(),
        comments => format!("{comments}\n{{}}\n"),
    }
}

/// Another value in the place of `node`.
pub(super) fn replacement(text: &str, root: &Node, node: &Node, value: &Value) -> Change {
    let base = indentation(text, node.span.start);
    (node.span.clone(), rendered(value, base, unit(text, root)))
}

/// The white space that the line of `at` begins with.
pub(super) fn indentation(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = &text[start..];
    let length = line.len() - line.trim_start_matches([' ', '\t']).len();
    &line[..length]
}

/// What one level of the file is indented with.
pub(super) fn unit<'a>(text: &'a str, root: &Node) -> &'a str {
    match &root.kind {
        Kind::Object(members) => members
            .iter()
            .map(|member| member.key_span.start)
            .filter(|at| is_first_of_line(text, *at))
            .map(|at| indentation(text, at))
            .find(|indent| !indent.is_empty())
            .unwrap_or(INDENT),
        _ => INDENT,
    }
}

/// Whether only white space is before `at` on its line.
pub(super) fn is_first_of_line(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches([' ', '\t']);
    before.is_empty() || before.ends_with('\n')
}

/// The value as JSON, its further lines indented for a place that is indented
/// by `base`.
pub(super) fn rendered(value: &Value, base: &str, unit: &str) -> String {
    let mut lines = format!("{value:#}");
    if unit != INDENT {
        lines = lines
            .lines()
            .map(|line| {
                let inner = line.trim_start_matches(' ');
                let levels = (line.len() - inner.len()) / INDENT.len();
                format!("{}{inner}", unit.repeat(levels))
            })
            .collect::<Vec<_>>()
            .join("\n");
    }
    // JSON escapes line ends in strings, so every one is the layout's.
    lines.replace('\n', &format!("\n{base}"))
}

/// The key as the keys beside it are written.
pub(super) fn key(text: &str, root: &Node, siblings: &Node, key: &str) -> String {
    let first = [siblings, root]
        .into_iter()
        .find_map(|node| match &node.kind {
            Kind::Object(members) => members.first(),
            _ => None,
        });
    let bare = first.is_some_and(|member| !text[member.key_span.clone()].starts_with(['"', '\'']));
    if bare && is_name(key) {
        key.to_owned()
    } else {
        Value::from(key).to_string()
    }
}

/// Whether it can be written without quotes everywhere.
fn is_name(key: &str) -> bool {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_' || c == '$';
    key.starts_with(first) && key.chars().all(|c| first(c) || c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn value_is_indented_as_its_place_is() {
        let value = json!({"a": {"b": [1, {"c": "x\ny"}]}});
        for (base, unit, levels) in [
            ("", "  ", ["", "  ", "    ", "      ", "        "]),
            (
                "\t",
                "\t",
                ["\t", "\t\t", "\t\t\t", "\t\t\t\t", "\t\t\t\t\t"],
            ),
            (
                "  ",
                "    ",
                [
                    "  ",
                    "      ",
                    "          ",
                    "              ",
                    "                  ",
                ],
            ),
        ] {
            let [zero, one, two, three, four] = levels;
            let expected = format!(
                "{{\n{one}\"a\": {{\n{two}\"b\": [\n{three}1,\n{three}{{\n{four}\"c\": \"x\\ny\"\n\
                 {three}}}\n{two}]\n{one}}}\n{zero}}}"
            );
            assert_eq!(rendered(&value, base, unit), expected);
        }
    }

    #[test]
    fn names_are_written_without_quotes_where_they_can_be() {
        for name in ["a", "_", "$", "a1_$", "A"] {
            assert!(is_name(name), "{name}");
        }
        for other in ["", "1a", "a-b", "a b", "a.b", "\u{e4}"] {
            assert!(!is_name(other), "{other}");
        }
    }

    #[test]
    fn layout_only_blanks_are_before_what_is_first_of_its_line() {
        let text = "{\n \ta: 1, b: 2}";
        let at = |what: &str| is_first_of_line(text, text.find(what).unwrap());
        assert!(at("{") && at("a") && !at("1") && !at("b"));
    }
}
