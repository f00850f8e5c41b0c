//! Taking files into the index.

use openclaw_daemon::failure;
use openclaw_retrieval::{Body, Document};

use super::{Store, Todo, lock};
use crate::error::Error;
use crate::intake;
use crate::workspace::Workspace;

/// Of one transaction, in bytes of text: what is lost when the daemon is
/// killed, and what is in memory twice.
const BATCH: usize = 1 << 20;
/// Of one transaction, in files.
const BATCH_FILES: usize = 64;

/// What came of a step.
#[derive(Debug, Default)]
pub(crate) struct Step {
    /// Read so soon after a write that the next would look the same.
    pub(crate) young: Vec<Todo>,
    /// Files that could not be read.
    pub(crate) failed: usize,
}

impl Store {
    /// Takes in some of `todo`, from its end on.
    pub(crate) fn take_in(&self, todo: &mut Vec<Todo>) -> Result<Step, Error> {
        let _one = lock(&self.taking_in);
        let mut step = Step::default();
        let mut documents = Vec::new();
        let mut gone = Vec::new();
        let mut size = 0;
        while size < BATCH && documents.len() + gone.len() < BATCH_FILES {
            let Some(file) = todo.pop() else { break };
            let Some(name) = self.places.document(file.place, &file.path) else {
                continue;
            };
            match self.read(file, name.clone(), &mut step) {
                Some(document) => {
                    size += length(&document);
                    documents.push(document);
                }
                None => gone.push(name),
            }
        }
        let engine = self.engine()?;
        if !documents.is_empty() {
            engine.put(&documents)?;
        }
        if !gone.is_empty() {
            let gone: Vec<&str> = gone.iter().map(String::as_str).collect();
            engine.remove(&gone)?;
        }
        Ok(step)
    }

    /// Takes in the document `name` at once, for whoever has just changed it.
    /// Should that fail, the file is still seen to have changed.
    pub(super) fn take_in_named(&self, name: &str) {
        let Some((place, path)) = self.places.find(name) else {
            return;
        };
        let mut todo = vec![Todo {
            place,
            path: path.to_owned(),
            stamp: Default::default(),
        }];
        if let Err(error) = self.take_in(&mut todo) {
            tracing::warn!(
                "{name} is not searched until it is looked at again: {}",
                failure::chain(&error)
            );
        }
    }

    /// The document of a file; None when the file is gone. One that cannot be
    /// read is known without text until it changes, so that this is said once.
    fn read(&self, file: Todo, name: String, step: &mut Step) -> Option<Document> {
        let place = &self.places.all[file.place];
        let root = match place.open() {
            Ok(root) => root?,
            Err(error) => return Some(self.unread(file, name, &error.into(), step)),
        };
        match self.read_in(&root, &file, &name) {
            Ok(Some(read)) => {
                if read.corrupt > 0 {
                    tracing::debug!(path = name, lines = read.corrupt, "lines are no entries");
                }
                if read.stamp.is_young() {
                    step.young.push(file);
                }
                Some(read.document)
            }
            Ok(None) => None,
            Err(error) => Some(self.unread(file, name, &error, step)),
        }
    }

    fn read_in(
        &self,
        root: &Workspace,
        file: &Todo,
        name: &str,
    ) -> Result<Option<intake::Read>, intake::Error> {
        let place = &self.places.all[file.place];
        intake::read(place, root, &file.path, name.to_owned())
    }

    fn unread(&self, file: Todo, name: String, error: &intake::Error, step: &mut Step) -> Document {
        step.failed += 1;
        self.complain(format!("a file is not searched: {}", failure::chain(error)));
        Document {
            path: name,
            source: self.places.all[file.place].source(),
            stamp: file.stamp.to_string(),
            modified_ms: file.stamp.modified_ms(),
            day_ms: None,
            topic: String::new(),
            body: Body::Text(String::new()),
        }
    }
}

fn length(document: &Document) -> usize {
    match &document.body {
        Body::Text(text) => text.len(),
        Body::Messages(messages) => messages.iter().map(|message| message.text.len()).sum(),
    }
}
