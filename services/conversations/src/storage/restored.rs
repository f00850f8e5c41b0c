//! A state directory that was restored from a backup.

use openclaw_config::Paths;
use openclaw_config::restored::Restored;
use openclaw_sessions::now_ms;

use super::ledger::Ledger;
use crate::fault::Fault;

/// The time of the restore, in Unix milliseconds; None: the state was never restored.
pub(super) fn at_ms(paths: &Paths) -> Option<i64> {
    Restored::read(&paths.restored()).map(|restored| restored.restored_ms)
}

/// Tells the ledger that it is a copy, if no gateway has had the state since it was restored.
/// It is taken for that until it is [`settle`]d.
pub(super) fn take_note(paths: &Paths, ledger: &mut Ledger) -> Result<Option<Restored>, Fault> {
    let Some(told) = Restored::read(&paths.restored()).filter(|restored| !restored.taken) else {
        return Ok(None);
    };
    let parted = ledger.part_from_original(now_ms());
    parted.map_err(Fault::ledger(&paths.ledger()))?;
    tracing::info!(
        made_ms = told.made_ms,
        "the state was restored from a backup; what was under way then is not begun again"
    );
    Ok(Some(told))
}

/// Counts every message that is there as older than the restore, whatever the clock said where
/// it was written, and has the state be this suite's own from now on.
pub(super) fn settle(told: Restored, paths: &Paths, ledger: &Ledger) -> Result<(), Fault> {
    let dated = ledger.date_open_runs(told.restored_ms);
    dated.map_err(Fault::ledger(&paths.ledger()))?;
    let (taken, place) = (true, paths.restored());
    // Doing it again would do no harm.
    let written = Restored { taken, ..told }.write(&place);
    written.map_err(|source| Fault::create(&place, source))
}

#[cfg(test)]
mod tests {
    use super::super::ledger::Ledger;
    use super::*;

    #[test]
    fn restored_ledger_has_another_series_and_leaves_what_was_to_be_said() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let paths = Paths::resolve(&[("OPENCLAW_STATE_DIR", state)].into_iter().collect()).unwrap();
        std::fs::create_dir(folder.path().join("state")).unwrap();
        let mut ledger = Ledger::open(&paths.ledger(), now_ms()).unwrap();
        let before = ledger.series(0).unwrap().epoch;
        assert!(take_note(&paths, &mut ledger).unwrap().is_none());
        assert_eq!(ledger.series(0).unwrap().epoch, before, "not restored");
        let note = Restored {
            made_ms: 1,
            restored_ms: 2,
            taken: false,
        };
        note.write(&paths.restored()).unwrap();
        let copy = take_note(&paths, &mut ledger).unwrap().unwrap();
        settle(copy, &paths, &ledger).unwrap();
        let after = ledger.series(0).unwrap().epoch;
        assert_ne!(after, before);
        assert!(take_note(&paths, &mut ledger).unwrap().is_none());
        assert_eq!(ledger.series(0).unwrap().epoch, after, "once");
        assert_eq!(at_ms(&paths), Some(2));
    }
}
