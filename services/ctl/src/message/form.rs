//! How a reply is printed: laid out for a terminal, as text, or as JSON.

use openclaw_terminal::output;

use super::rendered::Rendered;
use super::sink::{Document, Lines, Sink, Text};

/// How a reply is to be printed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    /// As JSON.
    pub(crate) json: bool,
    /// While it comes.
    pub(crate) stream: bool,
    /// With a line for each call of a tool.
    pub(crate) verbose: bool,
    /// As it was written, also at a terminal.
    pub(crate) raw: bool,
}

/// The sink that `form` asks for.
pub(super) fn choose(form: Form) -> Box<dyn Sink> {
    let is_rendered = !form.raw && output::stdout_takes_escapes();
    match (form.json, form.stream) {
        (true, true) => Box::new(Lines),
        (true, false) => Box::new(Document),
        (false, stream) if is_rendered => Box::new(Rendered::new(stream, form.verbose)),
        (false, stream) => Box::new(Text::new(stream, form.verbose)),
    }
}
