//! Taking documents in and forgetting them.

use super::*;
use crate::document::Document;
use crate::segment::Segment;
use crate::segment::builder::Builder;

/// Units of a segment that is built at once: what is held of them beside the
/// segment is about 5 kB each.
pub(super) const UNITS: usize = 4096;

/// What a change did, in passages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Change {
    /// New ones.
    pub added: usize,
    /// Left as they were.
    pub kept: usize,
    /// Parts that are gone, with all their passages.
    pub removed: usize,
}

/// What becomes of the snapshot when a change is durable.
#[derive(Debug, Default)]
pub(super) struct Delta {
    pub(super) gone: HashSet<i64>,
    pub(super) entries: Vec<(u32, Option<DocumentEntry>)>,
    pub(super) segments: Vec<Segment>,
    pub(super) owners: HashMap<i64, u32>,
}

impl Engine {
    /// Takes in `documents` in place of those with the same paths, all or none.
    /// Only parts that differ are analysed and embedded. The next search finds
    /// them.
    pub fn put(&self, documents: &[Document]) -> Result<Change, Error> {
        let cut: Vec<Vec<part::Part>> = documents.iter().map(part::parts).collect();
        let table = self.table.get().ok();
        let mut writer = self.writer();
        let mut delta = Delta::default();
        let mut change = Change::default();
        writer.transaction(|database| {
            let mut builder = Builder::new(table.as_deref());
            for (document, parts) in documents.iter().zip(cut) {
                put_one(
                    database,
                    document,
                    parts,
                    &mut builder,
                    &mut delta,
                    &mut change,
                )?;
                if builder.units() >= UNITS {
                    let full = std::mem::replace(&mut builder, Builder::new(table.as_deref()));
                    delta.segments.extend(full.finish());
                }
            }
            delta.segments.extend(builder.finish());
            Ok(())
        })?;
        self.apply(delta);
        self.tidy(&mut writer)?;
        Ok(change)
    }

    /// Forgets the documents at `paths`; the number of those that were there.
    pub fn remove(&self, paths: &[&str]) -> Result<usize, Error> {
        let mut writer = self.writer();
        let mut delta = Delta::default();
        writer.transaction(|database| {
            for path in paths {
                let Some(document) = database.document(path)? else {
                    continue;
                };
                let parts = database.parts_of(document.id)?;
                delta.gone.extend(parts.iter().map(|part| part.id));
                delta.entries.push((document.id, None));
                database.delete_document(document.id)?;
            }
            Ok(())
        })?;
        let removed = delta.entries.len();
        self.apply(delta);
        self.tidy(&mut writer)?;
        Ok(removed)
    }

    /// Forgets everything.
    pub fn clear(&self) -> Result<(), Error> {
        let mut writer = self.writer();
        writer.transaction(|database| database.clear())?;
        writer.overwrite()?;
        let old = self.snapshot();
        self.waiting.store(0, Ordering::Relaxed);
        self.publish(Snapshot::default());
        self.remove_files(old.live.iter().filter_map(|live| live.file));
        Ok(())
    }

    pub(super) fn apply(&self, delta: Delta) {
        let mut snapshot = Snapshot::clone(&self.snapshot());
        let documents = Arc::make_mut(&mut snapshot.documents);
        for (id, entry) in delta.entries {
            match entry {
                Some(entry) => documents.insert(id, entry),
                None => documents.remove(&id),
            };
        }
        snapshot.forget(&delta.gone);
        for segment in delta.segments {
            let owner = |part: i64| delta.owners.get(&part).copied();
            snapshot
                .live
                .push(Live::new(Arc::new(segment), None, owner));
        }
        self.publish(snapshot);
    }
}

fn put_one(
    database: &Database,
    document: &Document,
    parts: Vec<part::Part>,
    builder: &mut Builder<'_>,
    delta: &mut Delta,
    change: &mut Change,
) -> Result<(), Error> {
    let id = database.put_document(document)?;
    if let Some(row) = database.document(&document.path)? {
        delta.entries.push((id, Some(DocumentEntry::from(&row))));
    }
    let mut old: HashMap<u128, Vec<i64>> = HashMap::new();
    for row in database.parts_of(id)?.into_iter().rev() {
        old.entry(row.hash).or_default().push(row.id);
    }
    for (position, part) in parts.iter().enumerate() {
        if let Some(same) = old.get_mut(&part.hash).and_then(Vec::pop) {
            database.move_part(same, position, part.line)?;
            change.kept += part.units.len();
            continue;
        }
        let part_id = database.insert_part(id, position, part)?;
        builder.add(part_id, part, document.day_ms);
        delta.owners.insert(part_id, id);
        change.added += part.units.len();
    }
    for gone in old.into_values().flatten() {
        database.delete_part(gone)?;
        delta.gone.insert(gone);
        change.removed += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
