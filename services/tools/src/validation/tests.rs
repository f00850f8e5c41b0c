use serde_json::json;

use super::*;

fn message(schema: Value, arguments: Value) -> String {
    let error = Arguments::compile(&schema)
        .unwrap()
        .check(&arguments)
        .unwrap_err();
    assert_eq!(error.kind, FailureKind::INVALID_ARGUMENTS);
    error.message
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "prose"},
            "mode": {"enum": ["fast", "slow"]},
            "limit": {"type": "integer", "minimum": 1}
        },
        "required": ["path"],
        "additionalProperties": false
    })
}

#[test]
fn a_wrong_type_names_path_value_and_what_is_allowed() {
    let message = message(schema(), json!({"path": "a", "limit": "soon"}));
    assert!(message.contains("/limit"), "{message}");
    assert!(message.contains("\"soon\""), "{message}");
    assert!(message.contains(r#""type":"integer""#), "{message}");
}

#[test]
fn an_enum_lists_its_options() {
    let message = message(schema(), json!({"path": "a", "mode": "warp"}));
    assert!(message.contains("/mode"), "{message}");
    assert!(message.contains(r#"["fast","slow"]"#), "{message}");
}

#[test]
fn missing_and_unknown_properties_are_named_beside_the_known_ones() {
    let message = message(schema(), json!({"paht": "a"}));
    for needle in ["\"path\" is a required", "paht", "limit", "mode"] {
        assert!(message.contains(needle), "{needle} in {message}");
    }
    assert!(!message.contains("prose"), "{message}");
}

#[test]
fn a_huge_value_is_quoted_in_part() {
    let message = message(schema(), json!({"path": ["x".repeat(9000)]}));
    assert!(message.len() < 1200, "{} bytes", message.len());
}

#[test]
fn a_broken_schema_is_an_error_not_a_panic() {
    let error = Arguments::compile(&json!({"type": 7})).err().unwrap();
    assert!(error.contains("schema"), "{error}");
}

/// Schemas with values that fit them and values that do not.
fn cases() -> Vec<(Value, Vec<Value>)> {
    let numbers = || [0, 1, 2, 5, 6].map(Value::from).to_vec();
    let mut more = numbers();
    more.extend([
        json!(1.0),
        json!(1.5),
        json!(-3),
        json!(0.3),
        json!("1"),
        json!(u64::MAX),
    ]);
    let lists = || {
        vec![
            json!([]),
            json!([1]),
            json!([1, "a"]),
            json!([1, 1.0]),
            json!([1, 2, 3]),
            json!("no"),
        ]
    };
    let objects = || {
        vec![
            json!({}),
            json!({"a": 1}),
            json!({"a": "x", "b": 2}),
            json!({"b": 1}),
            json!({"ab": 1, "c": null}),
            json!({"a/b~": true}),
            json!([{"a": 1}]),
        ]
    };
    vec![
        (json!({}), more.clone()),
        (json!({"type": "integer"}), more.clone()),
        (json!({"type": ["string", "null"]}), more.clone()),
        (
            json!({"type": "number", "minimum": 1, "maximum": 5}),
            more.clone(),
        ),
        (
            json!({"exclusiveMinimum": 1, "exclusiveMaximum": 5.5}),
            more.clone(),
        ),
        (json!({"multipleOf": 0.1}), more.clone()),
        (json!({"multipleOf": 2}), more.clone()),
        (json!({"enum": [1, "1", null]}), more.clone()),
        (json!({"const": 1.0}), more.clone()),
        (json!({"not": {"type": "integer"}}), more.clone()),
        (
            json!({"if": {"minimum": 2}, "then": {"maximum": 5}, "else": {"const": 1}}),
            numbers(),
        ),
        (
            json!({"anyOf": [{"maximum": 1}, {"minimum": 5}]}),
            more.clone(),
        ),
        (
            json!({"oneOf": [{"maximum": 2}, {"minimum": 2}]}),
            more.clone(),
        ),
        (json!({"allOf": [{"maximum": 2}, {"minimum": 2}]}), more),
        (
            json!({"minLength": 2, "maxLength": 3}),
            vec![json!("ä"), json!("äö"), json!("äöüß"), json!(1)],
        ),
        (
            json!({"pattern": "^[a-c]+$"}),
            vec![json!("abc"), json!("abd"), json!("")],
        ),
        (json!({"items": {"type": "integer"}}), lists()),
        (
            json!({"items": [{"type": "integer"}, {"type": "string"}], "additionalItems": false}),
            lists(),
        ),
        (
            json!({"minItems": 1, "maxItems": 2, "uniqueItems": true}),
            lists(),
        ),
        (json!({"contains": {"type": "string"}}), lists()),
        (json!({"items": false}), lists()),
        (
            json!({"required": ["a"], "properties": {"a": {"type": "integer"}}}),
            objects(),
        ),
        (
            json!({"properties": {"a": true, "b": false}, "additionalProperties": false}),
            objects(),
        ),
        (
            json!({"additionalProperties": {"type": "string"}}),
            objects(),
        ),
        (
            json!({"patternProperties": {"^a": {"type": "integer"}}, "additionalProperties": false}),
            objects(),
        ),
        (json!({"propertyNames": {"maxLength": 1}}), objects()),
        (json!({"minProperties": 1, "maxProperties": 1}), objects()),
        (
            json!({"dependencies": {"a": ["b"], "b": {"required": ["c"]}}}),
            objects(),
        ),
        (
            json!({"definitions": {"a/b": {"type": "object"}}, "$ref": "#/definitions/a~1b"}),
            objects(),
        ),
        (
            json!({"definitions": {"a": {"required": ["a"]}}, "$ref": "#/definitions/a", "minProperties": 9}),
            objects(),
        ),
        (
            json!({"properties": {"a": {"$ref": "#"}}, "type": "object"}),
            vec![json!({"a": {"a": {}}}), json!({"a": {"a": 1}})],
        ),
        (
            json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "$ref": "#/$defs/a", "minProperties": 2,
                "$defs": {"a": {"required": ["a"]}}, "dependentRequired": {"a": ["b"]}}),
            objects(),
        ),
        (
            json!({"$schema": "https://json-schema.org/draft/2020-12/schema",
                "prefixItems": [{"type": "integer"}], "items": {"type": "string"}, "contains": true, "minContains": 2}),
            lists(),
        ),
    ]
}

#[test]
fn values_are_judged_as_the_published_validator_does() {
    let mut wrong = Vec::new();
    for (schema, values) in cases() {
        let arguments = Arguments::compile(&schema).unwrap();
        let published = match schema.get("$schema") {
            Some(_) => jsonschema::validator_for(&schema).unwrap(),
            None => jsonschema::draft7::new(&schema).unwrap(),
        };
        for value in values {
            let said = arguments.check(&value).err().map(|error| error.message);
            if said.is_none() != published.is_valid(&value) {
                wrong.push(format!("{schema} {value}: {said:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn schema_with_something_else_at_a_keyword_is_broken() {
    for schema in [
        json!(7),
        json!({"type": "text"}),
        json!({"type": []}),
        json!({"properties": {"a": {"minimum": "1"}}}),
        json!({"properties": []}),
        json!({"required": "a"}),
        json!({"items": {"pattern": "("}}),
        json!({"patternProperties": {"(": {}}}),
        json!({"minLength": -1}),
        json!({"anyOf": []}),
        json!({"allOf": [{"enum": 1}]}),
        json!({"$ref": "#/definitions/missing"}),
        json!({"additionalProperties": 1}),
        json!({"uniqueItems": "yes"}),
    ] {
        assert!(jsonschema::draft7::new(&schema).is_err(), "{schema}");
        let error = Arguments::compile(&schema).err();
        assert!(
            error.is_some_and(|error| error.contains("is broken: at ")),
            "{schema}"
        );
    }
    // What only others know is theirs to look at.
    for schema in [
        json!({"$ref": "https://example.org/x"}),
        json!({"$ref": "#anchor"}),
    ] {
        Arguments::compile(&schema)
            .unwrap()
            .check(&json!(1))
            .unwrap();
    }
}

#[test]
fn schema_without_end_is_told_and_ends() {
    let schema =
        json!({"definitions": {"a": {"$ref": "#/definitions/a"}}, "$ref": "#/definitions/a"});
    let told = message(schema, json!({}));
    assert!(told.contains("no end"), "{told}");
}

#[test]
fn limits_of_draft_4_may_say_that_they_are_none_themselves() {
    let schema = json!({"minimum": 1, "exclusiveMinimum": true});
    let arguments = Arguments::compile(&schema).unwrap();
    arguments.check(&json!(2)).unwrap();
    arguments.check(&json!(1)).unwrap_err();
}
