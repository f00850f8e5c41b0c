//! JSON Schema: what a value breaks of it. Draft 7 and what later drafts have beside it,
//! without formats, and without references to elsewhere and to what no part has evaluated:
//! who offers a tool looks at its arguments, too.

use fancy_regex::Regex;
use serde_json::{Map, Value};

use super::form::Patterns;
use super::value::{canonical, exceeds, is_multiple, is_of_type, names};

/// How deep schemas refer to one another for one value: one that refers to itself has no end.
const DEPTH: usize = 64;

/// What is wrong with a part of a value.
pub(super) struct Problem<'a> {
    /// The schema that it breaks.
    pub(super) schema: &'a Value,
    /// Where it is, as a JSON pointer.
    pub(super) at: String,
    pub(super) value: &'a Value,
    /// What is wrong, said of "the value".
    pub(super) text: String,
}

/// Is told what is wrong.
pub(super) type Sink<'a> = dyn FnMut(Problem<'_>) + 'a;

/// A schema, whose references stay in it.
#[derive(Clone, Copy)]
pub(super) struct Schema<'a> {
    root: &'a Value,
    patterns: &'a Patterns,
}

/// A part of a value, and where it is.
#[derive(Clone, Copy)]
struct Part<'a> {
    value: &'a Value,
    place: &'a Place<'a>,
    depth: usize,
}

enum Place<'a> {
    Root,
    In(&'a Place<'a>, &'a str),
    At(&'a Place<'a>, usize),
}

impl Place<'_> {
    fn pointer(&self) -> String {
        match self {
            Self::Root => String::new(),
            Self::In(outer, name) => {
                let name = name.replace('~', "~0").replace('/', "~1");
                format!("{}/{name}", outer.pointer())
            }
            Self::At(outer, index) => format!("{}/{index}", outer.pointer()),
        }
    }
}

impl<'a> Part<'a> {
    fn other(self, value: &'a Value, place: &'a Place<'a>) -> Self {
        let depth = self.depth;
        Self {
            value,
            place,
            depth,
        }
    }

    fn breaks(self, schema: &Value, text: String, sink: &mut Sink<'_>) {
        sink(Problem {
            schema,
            at: self.place.pointer(),
            value: self.value,
            text,
        });
    }
}

impl Schema<'_> {
    /// Tells all that is wrong with `value`.
    pub(super) fn check(self, value: &Value, sink: &mut Sink<'_>) {
        let part = Part {
            value,
            place: &Place::Root,
            depth: 0,
        };
        self.judge(self.root, part, sink);
    }

    fn judge(self, schema: &Value, part: Part<'_>, sink: &mut Sink<'_>) {
        let Some(keywords) = schema.as_object() else {
            if schema == &Value::Bool(false) {
                part.breaks(schema, "no value is allowed".into(), sink);
            }
            return;
        };
        if part.depth == DEPTH {
            return part.breaks(schema, "its schema has no end".into(), sink);
        }
        let part = Part {
            depth: part.depth + 1,
            ..part
        };
        if let Some(reference) = keywords.get("$ref").and_then(Value::as_str) {
            if let Some(schema) = resolved(self.root, reference) {
                self.judge(schema, part, sink);
            }
            if !self.has_keywords_beside_references() {
                return;
            }
        }
        self.kind(schema, keywords, part, sink);
        self.alternatives(schema, keywords, part, sink);
        match part.value {
            Value::Number(_) => number(schema, keywords, part, sink),
            Value::String(text) => self.string(schema, keywords, text, part, sink),
            Value::Array(items) => self.array(schema, keywords, items, part, sink),
            Value::Object(fields) => self.object(schema, keywords, fields, part, sink),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn fits(self, schema: &Value, part: Part<'_>) -> bool {
        let mut fits = true;
        self.judge(schema, part, &mut |_| fits = false);
        fits
    }

    fn kind(self, schema: &Value, words: &Map<String, Value>, part: Part<'_>, sink: &mut Sink<'_>) {
        if let Some(kinds) = words.get("type") {
            let kinds: Vec<&str> = names(kinds).collect();
            if !kinds.iter().any(|kind| is_of_type(part.value, kind)) {
                let text = match &*kinds {
                    [kind] => format!("the value is not of type \"{kind}\""),
                    kinds => format!("the value is not of types {}", quoted(kinds)),
                };
                part.breaks(schema, text, sink);
            }
        }
        let own = canonical(part.value);
        if let Some(options) = words.get("enum").and_then(Value::as_array)
            && !options.iter().any(|option| canonical(option) == own)
        {
            let options: Vec<String> = options.iter().map(Value::to_string).collect();
            let text = format!("the value is not one of {}", options.join(", "));
            part.breaks(schema, text, sink);
        }
        if let Some(only) = words.get("const")
            && canonical(only) != own
        {
            part.breaks(schema, format!("{only} was expected"), sink);
        }
    }

    fn alternatives(
        self,
        schema: &Value,
        words: &Map<String, Value>,
        part: Part<'_>,
        sink: &mut Sink<'_>,
    ) {
        let list = |word: &str| words.get(word).and_then(Value::as_array);
        for all in list("allOf").into_iter().flatten() {
            self.judge(all, part, sink);
        }
        if let Some(any) = list("anyOf")
            && !any.iter().any(|one| self.fits(one, part))
        {
            let text =
                "the value is not valid under any of the schemas listed in the 'anyOf' keyword";
            part.breaks(schema, text.into(), sink);
        }
        if let Some(one) = list("oneOf") {
            let mut fitting = one.iter().filter(|one| self.fits(one, part));
            let found = (fitting.next().is_some(), fitting.next().is_some());
            let count = match found {
                (false, _) => "any",
                (true, true) => "more than one",
                (true, false) => return self.conditions(schema, words, part, sink),
            };
            let is = if count == "any" { "not valid" } else { "valid" };
            let text = format!(
                "the value is {is} under {count} of the schemas listed in the 'oneOf' keyword"
            );
            part.breaks(schema, text, sink);
        }
        self.conditions(schema, words, part, sink);
    }

    fn conditions(
        self,
        schema: &Value,
        words: &Map<String, Value>,
        part: Part<'_>,
        sink: &mut Sink<'_>,
    ) {
        if let Some(not) = words.get("not")
            && self.fits(not, part)
        {
            part.breaks(schema, format!("{not} is not allowed for the value"), sink);
        }
        if let Some(condition) = words.get("if") {
            let word = if self.fits(condition, part) {
                "then"
            } else {
                "else"
            };
            if let Some(schema) = words.get(word) {
                self.judge(schema, part, sink);
            }
        }
    }

    fn string(
        self,
        schema: &Value,
        words: &Map<String, Value>,
        text: &str,
        part: Part<'_>,
        sink: &mut Sink<'_>,
    ) {
        size(schema, words, "Length", text.chars().count(), part, sink);
        if let Some(pattern) = words.get("pattern").and_then(Value::as_str)
            && self
                .patterns
                .get(pattern)
                .is_some_and(|regex| !finds(regex, text))
        {
            part.breaks(
                schema,
                format!("the value does not match \"{pattern}\""),
                sink,
            );
        }
    }

    fn array(
        self,
        schema: &Value,
        words: &Map<String, Value>,
        items: &[Value],
        part: Part<'_>,
        sink: &mut Sink<'_>,
    ) {
        size(schema, words, "Items", items.len(), part, sink);
        let old = words.get("items").and_then(Value::as_array);
        let first = old.or_else(|| words.get("prefixItems")?.as_array());
        let first = first.map_or(&[][..], Vec::as_slice);
        let rest = words.get(if old.is_some() {
            "additionalItems"
        } else {
            "items"
        });
        for (index, value) in items.iter().enumerate() {
            if let Some(schema) = first.get(index).or(rest) {
                self.judge(
                    schema,
                    part.other(value, &Place::At(part.place, index)),
                    sink,
                );
            }
        }
        if words.get("uniqueItems") == Some(&Value::Bool(true)) {
            let mut all: Vec<String> = items.iter().map(canonical).collect();
            all.sort_unstable();
            if all.windows(2).any(|two| two[0] == two[1]) {
                part.breaks(schema, "the value has non-unique elements".into(), sink);
            }
        }
        if let Some(one) = words.get("contains") {
            let number = |word| words.get(word).and_then(Value::as_u64);
            let found = items
                .iter()
                .filter(|&it| self.fits(one, part.other(it, part.place)));
            let found = found.count() as u64;
            let least = number("minContains").unwrap_or(1);
            if found < least || number("maxContains").is_some_and(|most| found > most) {
                let text = format!("{found} of the value are valid under the given schema");
                part.breaks(schema, text, sink);
            }
        }
    }

    fn object(
        self,
        schema: &Value,
        words: &Map<String, Value>,
        fields: &Map<String, Value>,
        part: Part<'_>,
        sink: &mut Sink<'_>,
    ) {
        size(schema, words, "Properties", fields.len(), part, sink);
        let missing = |name: &str, sink: &mut Sink<'_>| {
            if !fields.contains_key(name) {
                let text = format!("{} is a required property", Value::from(name));
                part.breaks(schema, text, sink);
            }
        };
        for name in words.get("required").into_iter().flat_map(names) {
            missing(name, sink);
        }
        for word in ["dependentRequired", "dependentSchemas", "dependencies"] {
            let all = words
                .get(word)
                .and_then(Value::as_object)
                .into_iter()
                .flatten();
            for (_, needed) in all.filter(|(name, _)| fields.contains_key(*name)) {
                if needed.is_array() {
                    names(needed).for_each(|name| missing(name, sink));
                } else {
                    self.judge(needed, part, sink);
                }
            }
        }
        if let Some(allowed) = words.get("propertyNames") {
            for name in fields.keys() {
                let value = Value::from(name.as_str());
                self.judge(allowed, part.other(&value, part.place), sink);
            }
        }
        self.fields(schema, words, fields, part, sink);
    }

    fn fields(
        self,
        schema: &Value,
        words: &Map<String, Value>,
        fields: &Map<String, Value>,
        part: Part<'_>,
        sink: &mut Sink<'_>,
    ) {
        let object = |word: &str| words.get(word).and_then(Value::as_object);
        let known = object("properties");
        let patterns = object("patternProperties").into_iter().flatten();
        let patterns: Vec<_> = patterns
            .filter_map(|(pattern, schema)| Some((self.patterns.get(pattern)?, schema)))
            .collect();
        let mut unexpected = Vec::new();
        for (name, value) in fields {
            let place = Place::In(part.place, name);
            let part = part.other(value, &place);
            let named = known.and_then(|known| known.get(name));
            let matching = patterns.iter().filter(|(pattern, _)| finds(pattern, name));
            let mut schemas = named.into_iter().chain(matching.map(|(_, schema)| *schema));
            let mut next = schemas.next();
            if next.is_none() {
                match words.get("additionalProperties") {
                    Some(Value::Bool(false)) => unexpected.push(name.as_str()),
                    others => next = others,
                }
            }
            for schema in next.into_iter().chain(schemas) {
                self.judge(schema, part, sink);
            }
        }
        if !unexpected.is_empty() {
            let were = if unexpected.len() == 1 { "was" } else { "were" };
            let names: Vec<String> = unexpected.iter().map(|name| format!("'{name}'")).collect();
            let text = format!(
                "Additional properties are not allowed ({} {were} unexpected)",
                names.join(", ")
            );
            part.breaks(schema, text, sink);
        }
    }
}

impl<'a> Schema<'a> {
    pub(super) fn new(root: &'a Value, patterns: &'a Patterns) -> Self {
        Self { root, patterns }
    }

    /// Keywords beside a reference count from the draft of 2019 on.
    fn has_keywords_beside_references(self) -> bool {
        let draft = self.root.get("$schema").and_then(Value::as_str);
        draft.is_some_and(|draft| draft.contains("/20"))
    }
}

/// What a reference within `root` leads to.
pub(super) fn resolved<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = percent_encoding::percent_decode_str(reference.strip_prefix('#')?);
    root.pointer(&pointer.decode_utf8().ok()?)
}

fn number(schema: &Value, words: &Map<String, Value>, part: Part<'_>, sink: &mut Sink<'_>) {
    // In draft 4 the limit itself is said to be none.
    let without = |word: &str| words.get(word) == Some(&Value::Bool(true));
    for (word, side, is_upper) in [("Maximum", "greater", true), ("Minimum", "less", false)] {
        let exclusive = format!("exclusive{word}");
        let word = word.to_lowercase();
        let beyond = |limit: &Value, is_allowed: bool| {
            let (more, less) = if is_upper {
                (part.value, limit)
            } else {
                (limit, part.value)
            };
            if is_allowed {
                exceeds(more, less)
            } else {
                !exceeds(less, more)
            }
        };
        if let Some(limit) = words.get(&word)
            && beyond(limit, !without(&exclusive))
        {
            let text = format!("the value is {side} than the {word} of {limit}");
            part.breaks(schema, text, sink);
        }
        if let Some(limit) = words.get(&exclusive).filter(|limit| limit.is_number())
            && beyond(limit, false)
        {
            let text = format!("the value is {side} than or equal to the {word} of {limit}");
            part.breaks(schema, text, sink);
        }
    }
    if let Some(factor) = words.get("multipleOf")
        && !is_multiple(part.value, factor)
    {
        part.breaks(
            schema,
            format!("the value is not a multiple of {factor}"),
            sink,
        );
    }
}

/// What takes too long to be looked for is not there.
fn finds(pattern: &Regex, text: &str) -> bool {
    pattern.is_match(text).unwrap_or(false)
}

fn size(
    schema: &Value,
    words: &Map<String, Value>,
    what: &str,
    size: usize,
    part: Part<'_>,
    sink: &mut Sink<'_>,
) {
    let limit = |side: &str| words.get(&format!("{side}{what}")).and_then(Value::as_f64);
    let unit = |limit: f64| match (what, limit == 1.0) {
        ("Items", true) => "item",
        ("Items", false) => "items",
        ("Length", true) => "character",
        ("Length", false) => "characters",
        (_, true) => "property",
        (_, false) => "properties",
    };
    let (short, long) = if what == "Length" {
        ("is shorter than", "is longer than")
    } else {
        ("has less than", "has more than")
    };
    let least = limit("min").filter(|&least| (size as f64) < least);
    let most = limit("max").filter(|&most| size as f64 > most);
    for (is, limit) in [(short, least), (long, most)] {
        if let Some(limit) = limit {
            part.breaks(
                schema,
                format!("the value {is} {limit} {}", unit(limit)),
                sink,
            );
        }
    }
}

fn quoted(kinds: &[&str]) -> String {
    let quoted: Vec<String> = kinds.iter().map(|kind| format!("\"{kind}\"")).collect();
    quoted.join(", ")
}
