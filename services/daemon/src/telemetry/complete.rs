//! Errors that libraries log get what ours have (seed 002, property 25).

use std::fmt::{Debug, Write as _};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use crate::failure;

/// Makes an error record that lacks the operation or the stack trace into one
/// that has both, before it is written anywhere.
pub(super) struct Complete;

impl<S: Subscriber> Layer<S> for Complete {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        let metadata = event.metadata();
        let has = |name| metadata.fields().field(name).is_some();
        if *metadata.level() != Level::ERROR || (has("operation") && has("stack_trace")) {
            return true;
        }
        let mut text = Text::default();
        event.record(&mut text);
        let Text { message, fields } = text;
        failure::record(metadata.target(), &format!("{message}{fields}"));
        false
    }
}

/// The message, and the other fields behind it.
#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}
