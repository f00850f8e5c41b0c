//! One JSON object a line: timestamp, level, message, context (seed 002,
//! property 23), and for errors a stack trace (property 25).

use std::fmt::Debug;
use std::io::Write as _;

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// Makes a line of every record.
pub(super) struct Lines {
    /// Whether it goes to stderr, beside being kept for whoever asks.
    is_written: bool,
}

impl Lines {
    /// To stderr.
    pub(super) fn written() -> Self {
        Self { is_written: true }
    }

    /// Only kept: the log itself goes elsewhere.
    pub(super) fn kept() -> Self {
        Self { is_written: false }
    }
}

/// A span's fields, kept with the span.
struct SpanFields(Map<String, Value>);

impl<S> Layer<S> for Lines
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(SpanFields(fields.0));
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        // Before the lock, which the record of a panic in here takes too.
        values.record(&mut fields);
        if let Some(span) = context.span(id)
            && let Some(SpanFields(kept)) = span.extensions_mut().get_mut()
        {
            kept.append(&mut fields.0);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        let scope = context.event_scope(event).into_iter();
        for span in scope.flat_map(|scope| scope.from_root()) {
            if let Some(SpanFields(kept)) = span.extensions().get() {
                fields.0.extend(kept.clone());
            }
        }
        event.record(&mut fields);
        let line = line(
            event.metadata().level(),
            event.metadata().target(),
            fields.0,
        );
        super::recent::add(&line);
        if self.is_written {
            // Nobody is left to tell when stderr is gone.
            let _ = std::io::stderr().lock().write_all(line.as_bytes());
        }
    }
}

fn line(level: &Level, target: &str, mut context: Map<String, Value>) -> String {
    let mut record = Map::new();
    let now = jiff::Timestamp::now();
    record.insert("timestamp".into(), format!("{now:.3}").into());
    record.insert("level".into(), level.as_str().to_lowercase().into());
    let message = context.remove("message").unwrap_or_default();
    record.insert("message".into(), message);
    if let Some(stack_trace) = context.remove("stack_trace") {
        record.insert("stackTrace".into(), stack_trace);
    }
    context.insert("target".into(), target.into());
    record.insert("context".into(), context.into());
    let mut line = openclaw_escape::json(&Value::Object(record).to_string());
    line.push('\n');
    line
}

#[derive(Default)]
struct Fields(Map<String, Value>);

impl Fields {
    fn put(&mut self, field: &Field, value: impl Into<Value>) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.put(field, format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_has_the_four_fields_and_the_stack_trace_beside_them() {
        let mut context = Map::new();
        context.insert("message".into(), "broke\nhere".into());
        context.insert("by".into(), "\u{9b}2J\u{7f}".into());
        context.insert("openclaw_run".into(), "r1".into());
        context.insert("stack_trace".into(), "0: here".into());
        let text = line(&Level::ERROR, "openclaw_test", context.clone());
        assert_eq!(text.matches('\n').count(), 1);
        assert!(!text.trim_end().contains(char::is_control), "{text:?}");
        let record: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(record["level"], "error");
        assert_eq!(record["message"], "broke\nhere");
        assert_eq!(record["context"]["openclaw_run"], "r1");
        assert!(record["timestamp"].as_str().unwrap().ends_with('Z'));
        assert_eq!(record["stackTrace"], "0: here");
        assert!(record["context"].get("stack_trace").is_none());
        context.remove("stack_trace");
        let info = line(&Level::INFO, "openclaw_test", context);
        assert!(!info.contains("stackTrace"));
    }
}
