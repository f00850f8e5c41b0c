//! Schemas that are generated, and in words what they admit.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::properties::any_json;

/// A schema.
#[derive(Debug, Clone)]
pub(crate) enum Shape {
    Anything,
    Boolean,
    /// At least and at most so much.
    Integer(i64, i64),
    Number(i64, i64),
    /// At least and at most so many characters.
    Text(usize, usize),
    OneOf(Vec<Value>),
    /// At least and at most so many items.
    Array(Box<Self>, usize, usize),
    Object(Object),
    Either(Vec<Self>),
}

#[derive(Debug, Clone)]
pub(crate) struct Object {
    /// The schema of each, and whether it has to be there.
    fields: BTreeMap<String, (Shape, bool)>,
    /// What other fields may be; none: there may be none.
    others: Option<Box<Shape>>,
}

pub(crate) fn shape() -> BoxedStrategy<Shape> {
    let leaf = prop_oneof![
        Just(Shape::Anything),
        Just(Shape::Boolean),
        (-9i64..9, 0i64..9).prop_map(|(least, more)| Shape::Integer(least, least + more)),
        (-9i64..9, 0i64..9).prop_map(|(least, more)| Shape::Number(least, least + more)),
        (0usize..4, 0usize..6).prop_map(|(least, more)| Shape::Text(least, least + more)),
        prop::collection::vec(any_json(), 1..4).prop_map(Shape::OneOf),
    ];
    let nested = leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            (inner.clone(), 0usize..2, 0usize..4).prop_map(|(item, least, more)| Shape::Array(
                Box::new(item),
                least,
                least + more
            )),
            object_of(inner.clone()).prop_map(Shape::Object),
            prop::collection::vec(inner, 1..3).prop_map(Shape::Either),
        ]
    });
    nested.boxed()
}

fn object_of(
    inner: impl Strategy<Value = Shape> + Clone + 'static,
) -> impl Strategy<Value = Object> {
    let fields = prop::collection::btree_map("[a-z]{1,4}", (inner.clone(), any::<bool>()), 0..4);
    (fields, prop::option::of(inner.prop_map(Box::new)))
        .prop_map(|(fields, others)| Object { fields, others })
}

/// The schema of a tool's arguments.
pub(crate) fn arguments_shape() -> impl Strategy<Value = Shape> {
    object_of(shape()).prop_map(Shape::Object)
}

impl Shape {
    pub(crate) fn schema(&self) -> Value {
        match self {
            Self::Anything => json!({}),
            Self::Boolean => json!({"type": "boolean"}),
            Self::Integer(least, most) => {
                json!({"type": "integer", "minimum": least, "maximum": most})
            }
            Self::Number(least, most) => {
                json!({"type": "number", "minimum": least, "maximum": most})
            }
            Self::Text(least, most) => {
                json!({"type": "string", "minLength": least, "maxLength": most})
            }
            Self::OneOf(values) => json!({"enum": values}),
            Self::Array(item, least, most) => json!({
                "type": "array", "items": item.schema(), "minItems": least, "maxItems": most,
            }),
            Self::Object(object) => object.schema(),
            Self::Either(shapes) => {
                let shapes: Vec<Value> = shapes.iter().map(Self::schema).collect();
                json!({"anyOf": shapes})
            }
        }
    }

    /// Whether the schema lets `value` pass, by its own words.
    pub(crate) fn admits(&self, value: &Value) -> bool {
        let within = |least: &i64, most: &i64| {
            value
                .as_f64()
                .is_some_and(|number| (*least as f64..=*most as f64).contains(&number))
        };
        match self {
            Self::Anything => true,
            Self::Boolean => value.is_boolean(),
            // A number without a fraction is one, however it is written.
            Self::Integer(least, most) => {
                within(least, most) && value.as_f64().is_some_and(|number| number.fract() == 0.0)
            }
            Self::Number(least, most) => within(least, most),
            Self::Text(least, most) => value
                .as_str()
                .is_some_and(|text| (*least..=*most).contains(&text.chars().count())),
            Self::OneOf(values) => values.iter().any(|one| is_equal(one, value)),
            Self::Array(item, least, most) => value.as_array().is_some_and(|items| {
                (*least..=*most).contains(&items.len()) && items.iter().all(|one| item.admits(one))
            }),
            Self::Object(object) => value
                .as_object()
                .is_some_and(|fields| object.admits(fields)),
            Self::Either(shapes) => shapes.iter().any(|shape| shape.admits(value)),
        }
    }

    /// Values near the schema, so that both verdicts are common.
    pub(crate) fn near(&self) -> BoxedStrategy<Value> {
        let fits = match self {
            Self::Anything => any_json().boxed(),
            Self::Boolean => any::<bool>().prop_map(Value::from).boxed(),
            Self::Integer(least, most) | Self::Number(least, most) => {
                let whole = (least - 1..=most + 1).prop_map(Value::from);
                let part = (least * 4 - 2..=most * 4 + 2)
                    .prop_map(|quarters| Value::from(quarters as f64 / 4.0));
                prop_oneof![4 => whole, 1 => part].boxed()
            }
            Self::Text(least, most) => {
                let lengths = least.saturating_sub(1)..=most + 1;
                lengths
                    .prop_map(|length| Value::from("ä".repeat(length)))
                    .boxed()
            }
            Self::OneOf(values) => prop::sample::select(values.clone()).boxed(),
            Self::Array(item, least, most) => {
                let lengths = least.saturating_sub(1)..=most + 1;
                prop::collection::vec(item.near(), lengths)
                    .prop_map(Value::from)
                    .boxed()
            }
            Self::Object(object) => object.near(),
            Self::Either(shapes) => prop::sample::select(shapes.clone())
                .prop_flat_map(|shape| shape.near())
                .boxed(),
        };
        prop_oneof![12 => fits, 1 => any_json()].boxed()
    }
}

/// 1 and 1.0 are one number in JSON Schema.
fn is_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(name, a)| b.get(name).is_some_and(|b| is_equal(a, b)))
        }
        (a, b) => a == b,
    }
}

impl Object {
    fn schema(&self) -> Value {
        let properties: Map<String, Value> = self
            .fields
            .iter()
            .map(|(name, (shape, _))| (name.clone(), shape.schema()))
            .collect();
        let required = self
            .fields
            .iter()
            .filter(|(_, (_, is_required))| *is_required);
        let required: Vec<&String> = required.map(|(name, _)| name).collect();
        let others = self
            .others
            .as_ref()
            .map_or(json!(false), |shape| shape.schema());
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": others,
        })
    }

    fn admits(&self, fields: &Map<String, Value>) -> bool {
        let is_whole = self
            .fields
            .iter()
            .all(|(name, (_, is_required))| !is_required || fields.contains_key(name));
        is_whole
            && fields.iter().all(
                |(name, value)| match (self.fields.get(name), &self.others) {
                    (Some((shape, _)), _) => shape.admits(value),
                    (None, Some(others)) => others.admits(value),
                    (None, None) => false,
                },
            )
    }

    fn near(&self) -> BoxedStrategy<Value> {
        let fields = self.fields.iter().map(|(name, (shape, is_required))| {
            let there = if *is_required { 0.95 } else { 0.5 };
            (
                Just(name.clone()),
                prop::option::weighted(there, shape.near()),
            )
        });
        let fields: Vec<_> = fields.collect();
        let other = self
            .others
            .as_ref()
            .map_or(any_json().boxed(), |shape| shape.near());
        let there = if self.others.is_some() { 0.5 } else { 0.1 };
        let other = prop::option::weighted(there, ("other[a-z]", other));
        (fields, other)
            .prop_map(|(fields, other)| {
                let fields = fields
                    .into_iter()
                    .filter_map(|(name, value)| Some((name, value?)));
                Value::Object(fields.chain(other).collect())
            })
            .boxed()
    }
}
