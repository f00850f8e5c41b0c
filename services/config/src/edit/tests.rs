use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn path(text: &str) -> KeyPath {
    KeyPath::parse(text).unwrap()
}

fn value(text: &str) -> Value {
    match text.trim() {
        "" => json!({}),
        text => json5::from_str(text).unwrap(),
    }
}

#[test]
fn value_is_replaced_where_it_stands() {
    let text = "// mine\n{\n  gateway: { port: 1, /* why */ bind: 'lan' }, // here\n}\n";
    let new = set(text, &path("gateway.port"), &json!(2)).unwrap();
    assert_eq!(new, text.replace("port: 1", "port: 2"));
}

#[test]
fn edit_new_keys_are_written_like_those_beside_them() {
    for (text, key, expected) in [
        ("", "a", "{\n  \"a\": 1\n}\n"),
        ("// only this\n", "a", "// only this\n{\n  \"a\": 1\n}\n"),
        ("{}", "a", "{\n  \"a\": 1\n}"),
        ("{ // empty\n}", "a", "{ // empty\n  \"a\": 1\n}"),
        ("{b: 2}", "a", "{b: 2, a: 1}"),
        ("{b: 2,}", "a", "{b: 2, a: 1,}"),
        ("{\n\t\"b\": 2\n}", "a", "{\n\t\"b\": 2,\n\t\"a\": 1\n}"),
        (
            "{\n    b: 2, // two\n}",
            "a",
            "{\n    b: 2, // two\n    a: 1,\n}",
        ),
        ("{\n  b: 2 // two\n}", "a", "{\n  b: 2, // two\n  a: 1\n}"),
        ("{\n  b: {},\n}", "b.c", "{\n  b: {\n    c: 1\n  },\n}"),
        ("{\n  b: [1],\n}", "b[1]", "{\n  b: [1, 1],\n}"),
        ("{b: null}", "b.c", "{b: {\n  \"c\": 1\n}}"),
        (
            "{\n  b: 2\n}",
            "c.d",
            "{\n  b: 2,\n  c: {\n    \"d\": 1\n  }\n}",
        ),
    ] {
        assert_eq!(
            set(text, &path(key), &json!(1)).unwrap(),
            expected,
            "{text:?}"
        );
    }
}

#[test]
fn edit_what_is_taken_away_leaves_comments() {
    for (text, key, expected) in [
        ("{a: 1, b: 2}", "a", "{b: 2}"),
        ("{a: 1, b: 2}", "b", "{a: 1}"),
        ("{a: 1}", "a", "{}"),
        (
            "{\n  // one\n  a: 1,\n  b: 2,\n}",
            "a",
            "{\n  // one\n  b: 2,\n}",
        ),
        (
            "{\n  a: 1, // one\n  b: 2\n}",
            "a",
            "{\n  // one\n  b: 2\n}",
        ),
        ("{\n  a: 1,\n  b: 2\n}", "b", "{\n  a: 1\n}"),
        ("{a: 1, b: 3, a: 2}", "a", "{b: 3}"),
        ("{a: [1, 2, 3]}", "a[1]", "{a: [1, 3]}"),
    ] {
        assert_eq!(unset(text, &path(key)).unwrap(), expected, "{text:?}");
    }
    assert_eq!(unset("{a: 1}", &path("b")), Err(Error::NotSet(path("b"))));
}

#[test]
fn edit_what_cannot_be_done_is_said() {
    let error = set("{a: 5}", &path("a.b"), &json!(1)).unwrap_err();
    assert_eq!(error, Error::NoContainer(path("a")));
    let error = set("{a: []}", &path("a[3]"), &json!(1)).unwrap_err();
    assert_eq!(error, Error::NoSuchEntry(path("a[3]"), 0));
    let error = set("{\n a: ]", &path("a"), &json!(1)).unwrap_err();
    assert_eq!(error, Error::Broken { line: 2, column: 5 });
}

/// A document as people write them: comments anywhere, either quotes, commas
/// at ends or not, on one line or on many.
fn documents() -> impl Strategy<Value = String> {
    let space = prop_oneof![
        4 => Just(String::new()), 4 => Just(" ".to_owned()), 2 => Just("\n  ".to_owned()),
        1 => Just(" // note, with } and ,\n".to_owned()), 1 => Just("/* } */".to_owned()),
    ];
    let scalar = prop_oneof![
        Just("1"),
        Just("-0x1F"),
        Just("'it\\'s, }'"),
        Just("\"x // y\""),
        Just("true"),
        Just("null"),
    ];
    let leaf = scalar.prop_map(str::to_owned);
    let key = prop_oneof![Just("a"), Just("\"b\""), Just("'c d'"), Just("$e")];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let member = (key.clone(), inner.clone(), space.clone(), space.clone());
        let object = (
            proptest::collection::vec(member, 0..4),
            space.clone(),
            any::<bool>(),
        );
        let list = (
            proptest::collection::vec((inner, space.clone(), space.clone()), 0..4),
            any::<bool>(),
        );
        prop_oneof![
            object.prop_map(|(members, end, comma)| {
                let members: Vec<_> = members
                    .into_iter()
                    .map(|(key, value, one, two)| format!("{one}{key}:{two}{value}"))
                    .collect();
                let comma = if comma && !members.is_empty() {
                    ","
                } else {
                    ""
                };
                format!("{{{}{comma}{end}}}", members.join(","))
            }),
            list.prop_map(|(items, comma)| {
                let items: Vec<_> = items
                    .into_iter()
                    .map(|(value, one, two)| format!("{one}{value}{two}"))
                    .collect();
                let comma = if comma && !items.is_empty() { "," } else { "" };
                format!("[{}{comma}]", items.join(","))
            }),
        ]
    })
    .prop_map(|inner| format!("// head\n{{ root: {inner} }} // tail\n"))
}

fn paths() -> impl Strategy<Value = KeyPath> {
    let part = prop_oneof![
        Just("a"),
        Just("b"),
        Just("c d"),
        Just("$e"),
        Just("0"),
        Just("1"),
        Just("new")
    ];
    proptest::collection::vec(part, 0..4)
        .prop_map(|parts| ["root"].into_iter().chain(parts).collect())
}

/// The comments of a text, in their order.
fn comments(text: &str) -> Vec<&str> {
    ["// head", "// tail", "// note, with } and ,", "/* } */"]
        .iter()
        .flat_map(|comment| text.match_indices(comment))
        .map(|(_, comment)| comment)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn edit_does_what_it_does_to_the_value(text in documents(), path in paths(), new in 0..9i32) {
        let new = json!({"n": new});
        let mut expected = value(&text);
        match set(&text, &path, &new) {
            Ok(edited) => {
                prop_assert!(path.put(&mut expected, new));
                prop_assert_eq!(value(&edited), expected, "{}", edited);
                let before = comments(&text);
                let replaced = path.get(&value(&text)).is_some();
                prop_assert!(replaced || comments(&edited) == before, "{}", edited);
            }
            Err(_) => prop_assert!(!path.put(&mut expected, new)),
        }
    }

    #[test]
    fn unset_does_what_it_does_to_the_value(text in documents(), path in paths()) {
        let mut expected = value(&text);
        match unset(&text, &path) {
            Ok(edited) => {
                prop_assert!(path.take(&mut expected).is_some());
                prop_assert_eq!(value(&edited), expected, "{}", edited);
            }
            Err(_) => prop_assert!(path.take(&mut expected).is_none()),
        }
    }
}

#[test]
fn lists_on_the_way_begin_with_their_first_entries() {
    let begun = |written: &str, document: Value| {
        let is_list = |it: &KeyPath| crate::schema::Schema::shipped().is_list(it);
        with_list(&path(written), json!("v"), (&document, is_list))
    };
    let list = |value: Value| Ok((path("agents.list"), value));
    assert_eq!(
        begun("agents.list[0].id", json!({})),
        list(json!([{"id": "v"}]))
    );
    let deny = json!([{"tools": {"deny": ["v"]}}]);
    assert_eq!(begun("agents.list[0].tools.deny[0]", json!({})), list(deny));
    let named = json!([{"params": {"0": "v"}}]);
    assert_eq!(begun("agents.list[0].params.0", json!({})), list(named));
    let there = json!({"agents": {"list": [{"id": "a"}]}});
    for (written, document) in [
        ("agents.list[0].id", there),
        ("env.vars.0", json!({})),
        ("logging.level", json!({})),
    ] {
        assert_eq!(begun(written, document), Ok((path(written), json!("v"))));
    }
    let second = begun("agents.list[1].id", json!({})).unwrap_err();
    assert_eq!(second, Error::NoSuchEntry(path("agents.list.1"), 0));
    let by_id = begun(
        "agents.list[0].id",
        json!({"agents": {"entries": {"a": {}}}}),
    )
    .unwrap_err();
    assert_eq!(
        by_id,
        Error::ById(path("agents.list"), path("agents.entries.a"))
    );
}
