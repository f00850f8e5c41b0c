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

/// Tells the ledger that it is a copy, once.
pub(super) fn take_note(paths: &Paths, ledger: &mut Ledger) -> Result<(), Fault> {
    let place = paths.restored();
    let Some(restored) = Restored::read(&place).filter(|restored| !restored.taken) else {
        return Ok(());
    };
    let told = ledger.part_from_original(now_ms());
    told.map_err(Fault::ledger(&paths.ledger()))?;
    tracing::info!(
        made_ms = restored.made_ms,
        "the state was restored from a backup; what was under way then is not begun again"
    );
    let taken = Restored {
        taken: true,
        ..restored
    };
    // Doing it again would do no harm.
    taken
        .write(&place)
        .map_err(|source| Fault::create(&place, source))
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
        take_note(&paths, &mut ledger).unwrap();
        assert_eq!(ledger.series(0).unwrap().epoch, before, "not restored");
        let note = Restored {
            made_ms: 1,
            restored_ms: 2,
            taken: false,
        };
        note.write(&paths.restored()).unwrap();
        take_note(&paths, &mut ledger).unwrap();
        let after = ledger.series(0).unwrap().epoch;
        assert_ne!(after, before);
        take_note(&paths, &mut ledger).unwrap();
        assert_eq!(ledger.series(0).unwrap().epoch, after, "once");
        assert_eq!(at_ms(&paths), Some(2));
    }
}
