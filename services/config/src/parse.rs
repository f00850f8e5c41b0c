//! Reading a file and parsing it (seed 003 §2.3, step 3).

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use serde_json::{Map, Number, Value};

use crate::error::{Error, SIZE_LIMIT};
use crate::key::KeyPath;
use crate::problem::Problem;
use crate::syntax::{self, DEPTH_LIMIT, Fault, Kind, Node};

/// The file's text; a missing file is an empty one.
pub fn read(path: &Path) -> Result<String, Error> {
    match read_existing(path) {
        Err(Error::Read { source, .. }) if source.kind() == ErrorKind::NotFound => {
            Ok(String::new())
        }
        other => other,
    }
}

/// The file's text; a missing file is an error.
pub fn read_existing(path: &Path) -> Result<String, Error> {
    let failed = |source| Error::Read {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(failed)?;
    let mut text = String::new();
    let size = file
        .take(SIZE_LIMIT + 1)
        .read_to_string(&mut text)
        .map_err(failed)?;
    if size as u64 > SIZE_LIMIT {
        Err(Error::TooLarge(path.to_owned()))
    } else {
        Ok(text)
    }
}

/// The document; a text of nothing but comments is an empty one. Whatever is
/// wrong is said with line and column.
pub fn parse(path: &Path, text: &str) -> Result<Value, Error> {
    match parse_value(path, text)? {
        None => Ok(Value::Object(Map::new())),
        Some(document @ Value::Object(_)) => Ok(document),
        Some(other) => {
            let allowed = "an object { … }".to_owned();
            let problem = Problem::value(KeyPath::default(), &other, allowed, None);
            Err(Error::invalid(path, vec![problem]))
        }
    }
}

/// The value in `text`, whatever it is; `None` when there are only comments.
pub fn parse_value(path: &Path, text: &str) -> Result<Option<Value>, Error> {
    let fault = |at: usize, message: String| {
        let (line, column) = syntax::line_and_column(text, at);
        Error::Syntax {
            path: path.to_owned(),
            line,
            column,
            message,
        }
    };
    let structure = syntax::parse(text);
    match &structure {
        Ok(None) => return Ok(None),
        Err(Fault::TooDeep(at)) => {
            let message = format!("more than {DEPTH_LIMIT} objects and lists in each other");
            return Err(fault(*at, message));
        }
        Ok(Some(node)) => {
            if let Some(at) = unbounded(text, node) {
                let message = "a number has to be one: NaN, Infinity and what is as large are none";
                return Err(fault(at, message.to_owned()));
            }
        }
        Err(Fault::Structure(_)) => {}
    }
    let value: Value = json5::from_str(text).map_err(|error| {
        let message = error
            .code()
            .map_or_else(|| error.to_string(), |code| code.to_string());
        let position = error
            .position()
            .map(|position| (position.line + 1, position.column + 1));
        match (position, structure.as_ref().err()) {
            // The parser has no place for a text that ends too early.
            (None | Some((1, 1)), Some(Fault::Structure(at))) => fault(*at, message),
            (Some((line, column)), _) => Error::Syntax {
                path: path.to_owned(),
                line,
                column,
                message,
            },
            (None, _) => fault(text.len(), message),
        }
    })?;
    match structure {
        Err(Fault::Structure(at)) => {
            let message = "something is missing or does not belong here";
            Err(fault(at, message.to_owned()))
        }
        _ => Ok(Some(whole_numbers(value))),
    }
}

/// Where a number is that has no end or is none. JSON5 has such, JSON does not: they
/// would be read as if nothing were written, so as the default.
fn unbounded(text: &str, node: &Node) -> Option<usize> {
    match &node.kind {
        Kind::Scalar => {
            let written = &text[node.span.clone()];
            let number = written.trim_start_matches(['+', '-']);
            let has_no_end = number == "Infinity" || number == "NaN";
            let begins = number.starts_with(|c: char| c.is_ascii_digit() || c == '.');
            let is_too_large = begins && number.parse::<f64>().is_ok_and(f64::is_infinite);
            (has_no_end || is_too_large).then_some(node.span.start)
        }
        Kind::Array(items) => items.iter().find_map(|item| unbounded(text, item)),
        Kind::Object(members) => members
            .iter()
            .find_map(|member| unbounded(text, &member.value)),
    }
}

/// JSON5 knows one kind of number: 5.0 and 5e0 are 5.
pub fn whole_numbers(value: Value) -> Value {
    /// Up to here every whole number has its own floating-point number.
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) => match number.as_f64() {
            #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() <= LARGEST => {
                Value::Number(Number::from(float as i64))
            }
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(whole_numbers).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(key, value)| (key, whole_numbers(value)))
            .collect::<Map<_, _>>()
            .into(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parsed(text: &str) -> Result<Value, Error> {
        parse(Path::new("/x/openclaw.json"), text)
    }

    #[test]
    fn json5_as_people_write_it() {
        let text =
            "\u{feff}// mine\n{ a: 0x10, 'b': [1.0, .5, +2e1,], /* c */ \"d\": \"\\u0041\" }";
        let expected = json!({"a": 16, "b": [1, 0.5, 20], "d": "A"});
        assert_eq!(parsed(text).unwrap(), expected);
        assert_eq!(parsed(" // nothing\n").unwrap(), json!({}));
    }

    #[test]
    fn numbers_without_an_end_are_refused() {
        for number in ["NaN", "Infinity", "-Infinity", "+NaN", "1e999", "-.5e999"] {
            for text in [
                format!("{{\n a: {number}}}"),
                format!("{{\n a: [1, {number}]}}"),
            ] {
                let refused = parsed(&text).unwrap_err().to_string();
                assert!(
                    refused.contains("NaN") && refused.contains(":2:"),
                    "{text}: {refused}"
                );
            }
        }
        let fine = "{a: 'NaN', Infinity: 1, b: 1e300, c: 0xff, d: -0.5}";
        assert_eq!(parsed(fine).unwrap()["Infinity"], 1);
    }

    #[test]
    fn mistakes_have_line_and_column() {
        for (text, line, column) in [
            ("{\n  agents: {\n    defaults: { a: 'x' ]\n", 3, 24),
            ("{\n a: 'x\n'}", 2, 7),
            ("{ a: 1 } x", 1, 10),
            ("{\n  a: 1\n  b: 2\n}", 3, 3),
        ] {
            let error = parsed(text).unwrap_err();
            let Error::Syntax {
                line: l, column: c, ..
            } = error
            else {
                panic!("{error}");
            };
            assert_eq!((l, c), (line, column), "{text:?}");
        }
    }

    #[test]
    fn comment_without_end_is_not_an_empty_file() {
        let error = parsed("{ a: 1 }\n/* left open").unwrap_err();
        assert!(error.to_string().contains("openclaw.json:2:"), "{error}");
        assert!(parsed("/* left open").is_err());
    }

    #[test]
    fn brackets_without_end_are_refused() {
        let error = parsed(&"[".repeat(1_000_000)).unwrap_err();
        assert!(error.to_string().contains("in each other"), "{error}");
        assert!(parsed("[1]").unwrap_err().to_string().contains("an object"));
    }

    #[test]
    fn files_are_read_up_to_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let most = 4 * 1024 * 1024;
        std::fs::write(&path, "x".repeat(most)).unwrap();
        assert_eq!(read_existing(&path).unwrap().len(), most);
        std::fs::write(&path, "x".repeat(most + 1)).unwrap();
        let error = read_existing(&path).unwrap_err();
        assert!(
            matches!(&error, Error::TooLarge(large) if *large == path),
            "{error}"
        );
        let none = folder.path().join("none");
        assert!(matches!(read_existing(&none), Err(Error::Read { .. })));
        assert_eq!(read(&none).unwrap(), "");
        read(&path.join("below")).unwrap_err();
    }

    #[test]
    fn structure_is_held_to_where_the_parser_is_lenient() {
        let value = |text: &str| parse_value(Path::new("/x"), text);
        assert_eq!(value("// nothing").unwrap(), None);
        assert_eq!(
            value("[1.0, {a: 2e0}]").unwrap(),
            Some(json!([1, {"a": 2}]))
        );
        for text in ["{ a: 1 } }", "{ a: 1 }, 2", "[1] 2", "{,}", "[,]"] {
            let error = value(text).unwrap_err();
            assert!(matches!(error, Error::Syntax { .. }), "{text}: {error}");
        }
    }

    #[test]
    fn numbers_without_a_fraction_are_whole_as_far_as_doubles_count() {
        for (float, whole) in [
            (5.0, json!(5)),
            (-5.0, json!(-5)),
            (0.0, json!(0)),
            (9_007_199_254_740_992.0, json!(9_007_199_254_740_992_i64)),
            (-9_007_199_254_740_992.0, json!(-9_007_199_254_740_992_i64)),
            (0.5, json!(0.5)),
            (1e300, json!(1e300)),
        ] {
            assert_eq!(whole_numbers(json!(float)), whole);
            assert_eq!(
                whole_numbers(json!([{ "a": float }])),
                json!([{ "a": whole }])
            );
        }
        let large = json!(u64::MAX);
        assert_eq!(whole_numbers(large.clone()), large);
    }
}
