//! What runs when a tool is called.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;

use crate::call::FailureKind;

type Running = Pin<Box<dyn Future<Output = Result<String, HandlerError>> + Send>>;

/// A handler with its type erased.
pub(crate) type Handler = Arc<dyn Fn(Context, Value) -> Running + Send + Sync>;

/// Takes what a tool says while it runs: the call's id and a piece of text.
pub(crate) type Listener = Arc<dyn Fn(&str, &str) + Send + Sync>;

pub(crate) fn erase<H, F>(handler: H) -> Handler
where
    H: Fn(Context, Value) -> F + Send + Sync + 'static,
    F: Future<Output = Result<String, HandlerError>> + Send + 'static,
{
    Arc::new(move |context, arguments| Box::pin(handler(context, arguments)))
}

/// What a handler knows of its call.
#[derive(Clone)]
pub struct Context {
    call_id: String,
    listener: Option<Listener>,
}

impl Context {
    pub(crate) fn new(call_id: String, listener: Option<Listener>) -> Self {
        Self { call_id, listener }
    }

    /// The id of the call.
    #[must_use]
    pub fn call_id(&self) -> &str {
        &self.call_id
    }

    /// Tells whoever follows the call what the tool says so far. The result has
    /// it again.
    pub fn say(&self, text: &str) {
        if let Some(listener) = &self.listener {
            listener(&self.call_id, text);
        }
    }

    /// Whether anybody follows the call.
    pub(crate) fn is_followed(&self) -> bool {
        self.listener.is_some()
    }
}

/// A handler's failure; the registry adds the tool's name.
#[derive(Debug, thiserror::Error)]
#[error("{kind}: {message}")]
pub struct HandlerError {
    /// See [`FailureKind`].
    pub kind: FailureKind,
    /// One sentence for the model and the user.
    pub message: String,
    /// What the tool had produced before it failed.
    pub output: String,
}

impl HandlerError {
    /// A failure without output.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            output: String::new(),
        }
    }

    /// Adds what had been produced so far.
    #[must_use]
    pub fn with_output(mut self, output: String) -> Self {
        self.output = output;
        self
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn context_knows_its_call_and_who_follows_it() {
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let sink = Arc::clone(&heard);
        let listener: Listener = Arc::new(move |id, text| {
            sink.lock().unwrap().push(format!("{id} {text}"));
        });
        let followed = Context::new("7".to_owned(), Some(listener));
        assert_eq!(followed.call_id(), "7");
        assert!(followed.is_followed());
        followed.say("a");
        assert_eq!(*heard.lock().unwrap(), ["7 a"]);
        let alone = Context::new("8".to_owned(), None);
        assert!(!alone.is_followed());
        alone.say("b");
        assert_eq!(heard.lock().unwrap().len(), 1);
    }

    #[test]
    fn failure_keeps_what_was_said_before_it() {
        let failure = HandlerError::new(FailureKind::IO, "m").with_output("out".to_owned());
        assert_eq!(failure.kind, FailureKind::IO);
        assert_eq!(
            (failure.message.as_str(), failure.output.as_str()),
            ("m", "out")
        );
    }
}
