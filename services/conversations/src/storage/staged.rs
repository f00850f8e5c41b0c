//! A command that was carried out but is not on disk yet.

use std::path::PathBuf;

use super::command::Reply;
use super::ledger::Change;
use super::state_files::StateFiles;
use crate::fault::Fault;

/// Takes back in memory what could not be written.
pub(super) type Undo = Box<dyn FnOnce(&mut StateFiles)>;

type Answer = Box<dyn FnOnce(Result<(), Fault>)>;

/// Waits for the batch's syncs. Only then is the command answered.
pub(super) struct Staged {
    /// The transcript that must be durable first.
    pub(super) file: Option<PathBuf>,
    /// The changes for the ledger once it is durable.
    pub(super) changes: Vec<Change>,
    /// The change for the ledger if it cannot become durable.
    pub(super) otherwise: Option<Change>,
    pub(super) fault: Option<Fault>,
    /// Whether the index must be on disk first.
    pub(super) writes_index: bool,
    /// Whether the ledger's failure is this command's failure too.
    tells_ledger: bool,
    /// Takes back in memory what is not on disk.
    pub(super) undo: Option<Undo>,
    answer: Answer,
}

impl Staged {
    /// `result` is the answer if all syncs succeed.
    pub(super) fn new<T: 'static, E: From<Fault> + 'static>(
        reply: Reply<T, E>,
        result: Result<T, Fault>,
    ) -> Self {
        let (fault, value) = match result {
            Ok(value) => (None, Some(value)),
            Err(fault) => (Some(fault), None),
        };
        Self {
            fault,
            answer: Box::new(move |synced| {
                let answer = synced.and_then(|()| value.ok_or(Fault::Stopped));
                let answer = answer.map_err(E::from);
                // Whoever asked may be gone; what was done stays done.
                let _ = reply.send(answer);
            }),
            ..Self::unasked(Vec::new(), |_| {})
        }
    }

    /// Nothing was done, because of `error`.
    pub(super) fn refused<T: 'static, E: 'static>(reply: Reply<T, E>, error: E) -> Self {
        Self {
            answer: Box::new(move |_| _ = reply.send(Err(error))),
            ..Self::unasked(Vec::new(), |_| {})
        }
    }

    /// `changes` that nobody asked for; when the ledger cannot be told, `fail` is.
    pub(super) fn unasked(changes: Vec<Change>, fail: impl FnOnce(&Fault) + 'static) -> Self {
        Self {
            file: None,
            changes,
            otherwise: None,
            fault: None,
            writes_index: false,
            tells_ledger: false,
            undo: None,
            answer: Box::new(|synced| _ = synced.map_err(|fault| fail(&fault))),
        }
    }

    pub(super) fn touching(mut self, file: PathBuf) -> Self {
        self.file = Some(file);
        self
    }

    pub(super) fn changing(mut self, change: Change) -> Self {
        self.changes.push(change);
        self
    }

    pub(super) fn or_else(mut self, change: Change) -> Self {
        self.otherwise = Some(change);
        self
    }

    /// The changes that the ledger has not been told yet.
    pub(super) fn take_changes(&mut self) -> Vec<Change> {
        let changes = match self.fault {
            None => std::mem::take(&mut self.changes),
            Some(_) => Vec::from_iter(self.otherwise.take()),
        };
        self.tells_ledger = !changes.is_empty();
        changes
    }

    /// The ledger could not be told.
    pub(super) fn ledger_failed(&mut self, fault: &Fault) {
        if self.tells_ledger {
            self.fault.get_or_insert_with(|| fault.clone());
        }
    }

    /// The undo of a command that did not reach the disk.
    pub(super) fn take_undo(&mut self) -> Option<Undo> {
        let undo = self.undo.take();
        undo.filter(|_| self.fault.is_some())
    }

    pub(super) fn answer(self) {
        (self.answer)(self.fault.map_or(Ok(()), Err));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use openclaw_sessions::{AgentId, SessionKey};
    use tokio::sync::oneshot;

    fn running(run_id: &str) -> Change {
        Change::Running {
            run_id: run_id.to_owned(),
            key: SessionKey::main(&AgentId::main()),
            at_ms: 1,
        }
    }

    fn told(staged: &mut Staged) -> Option<String> {
        match staged.take_changes().pop()? {
            Change::Running { run_id, .. } => Some(run_id),
            other => panic!("not what was staged: {other:?}"),
        }
    }

    #[test]
    fn staged_what_is_not_on_disk_is_not_told_and_answered_with_the_fault() {
        let (reply, mut answer) = oneshot::channel();
        let mut staged = Staged::new(reply, Ok(7))
            .changing(running("saved"))
            .or_else(running("unsaved"));
        staged.fault = Some(Fault::Stopped);
        assert_eq!(told(&mut staged).as_deref(), Some("unsaved"));
        staged.answer();
        assert!(matches!(answer.try_recv(), Ok(Err(Fault::Stopped))));
    }

    #[test]
    fn failed_ledger_is_the_fault_of_those_that_told_it_something() {
        let (reply, mut answer) = oneshot::channel();
        let mut telling = Staged::new(reply, Ok(())).changing(running("r"));
        let (reply, mut untouched) = oneshot::channel::<Result<_, Fault>>();
        let mut silent = Staged::new(reply, Ok(3));
        assert_eq!(told(&mut telling).as_deref(), Some("r"));
        assert_eq!(told(&mut silent), None);
        telling.ledger_failed(&Fault::Stopped);
        silent.ledger_failed(&Fault::Stopped);
        telling.answer();
        silent.answer();
        assert!(matches!(answer.try_recv(), Ok(Err(Fault::Stopped))));
        assert!(matches!(untouched.try_recv(), Ok(Ok(3))));
    }
}
