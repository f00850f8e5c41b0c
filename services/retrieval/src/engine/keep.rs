//! Keeping the segments few and on disk.

use super::open::segment_path;
use super::put::{Delta, UNITS};
use super::*;
use crate::segment::Segment;
use crate::segment::builder::Builder;
use crate::segment::merge::{self, Input};

/// Segments in memory that are searched one by one; more are merged.
const IN_MEMORY: usize = 8;
/// Parts indexed anew in one step of [`Engine::maintain`]: searches are not
/// held up, other changes wait for a step.
const STEP: usize = 64;

impl Engine {
    /// One step of what is to be done beside everything else: indexing what a
    /// damaged segment had, and making vectors anew that another table made.
    /// True while there is more to do.
    pub fn maintain(&self) -> Result<bool, Error> {
        if self.adopt(STEP)? {
            return Ok(true);
        }
        let Ok(table) = self.table.get() else {
            return Ok(false);
        };
        let snapshot = self.snapshot();
        let is_stale = |live: &&Live| live.segment.table() != table.identity();
        let Some(stale) = snapshot.live.iter().find(is_stale) else {
            return Ok(false);
        };
        let parts: Vec<i64> = stale.parts().map(|(id, _)| id).take(STEP).collect();
        let mut writer = self.writer();
        self.index_again(&mut writer, &parts)?;
        self.tidy(&mut writer)?;
        Ok(true)
    }

    /// Writes what is in memory only to disk.
    pub fn flush(&self) -> Result<(), Error> {
        let mut writer = self.writer();
        let in_memory = self.snapshot().live.iter().any(|live| live.file.is_none());
        if in_memory {
            self.settle(&mut writer)
        } else {
            Ok(())
        }
    }

    /// Indexes up to `limit` of the parts that are in no segment; true when there
    /// were any.
    pub(super) fn adopt(&self, limit: usize) -> Result<bool, Error> {
        let mut writer = self.writer();
        let homeless = writer.parts(true)?;
        let snapshot = self.snapshot();
        let in_memory = snapshot.live.iter().filter(|live| live.file.is_none());
        let known: HashSet<i64> = in_memory.flat_map(Live::parts).map(|(id, _)| id).collect();
        let missing = homeless
            .iter()
            .map(|row| row.id)
            .filter(|id| !known.contains(id));
        let missing: Vec<i64> = missing.take(limit).collect();
        self.index_again(&mut writer, &missing)?;
        if missing.is_empty() {
            self.close_fallback(&mut writer)?;
        }
        self.tidy(&mut writer)?;
        Ok(!missing.is_empty())
    }

    /// Makes a segment in memory of parts that are in the database.
    fn index_again(&self, writer: &mut Database, parts: &[i64]) -> Result<(), Error> {
        if parts.is_empty() {
            return Ok(());
        }
        let table = self.table.get().ok();
        let mut builder = Builder::new(table.as_deref());
        let mut delta = Delta::default();
        let mut units = 0;
        writer.transaction(|database| {
            for &id in parts {
                delta.gone.insert(id);
                let Some((part, day_ms)) = database.part(id)? else {
                    continue;
                };
                builder.add(id, &part, day_ms);
                units += part.units.len();
                database.settle_part(id, None)?;
                database.leave_fallback(id)?;
            }
            for row in database.parts(true)? {
                delta.owners.insert(row.id, row.document);
            }
            Ok(())
        })?;
        delta.segments.extend(builder.finish());
        self.apply(delta);
        let left = self.waiting.load(Ordering::Relaxed).saturating_sub(units);
        self.waiting.store(left, Ordering::Relaxed);
        Ok(())
    }

    /// Everything is in a segment again.
    fn close_fallback(&self, writer: &mut Database) -> Result<(), Error> {
        if self.waiting.swap(0, Ordering::Relaxed) > 0 {
            writer.transaction(|database| database.empty_fallback())?;
        }
        Ok(())
    }

    /// Merges where there are many small segments, and writes where much is in
    /// memory only.
    pub(super) fn tidy(&self, writer: &mut Database) -> Result<(), Error> {
        let snapshot = self.snapshot();
        let in_memory = || snapshot.live.iter().filter(|live| live.file.is_none());
        let units: usize = in_memory().map(|live| live.size().units).sum();
        let is_empty = |live: &Live| live.size().parts == 0;
        if units >= UNITS || snapshot.live.iter().any(is_empty) {
            return self.settle(writer);
        }
        if in_memory().count() > IN_MEMORY {
            self.merge_in_memory(&snapshot);
        }
        Ok(())
    }

    fn merge_in_memory(&self, snapshot: &Snapshot) {
        let mut next = snapshot.clone();
        let (old, kept): (Vec<Live>, Vec<Live>) =
            next.live.into_iter().partition(|live| live.file.is_none());
        next.live = kept;
        let owners: HashMap<i64, u32> = old.iter().flat_map(Live::parts).collect();
        for alike in of_one_table(&old) {
            if let Some(segment) = merge::in_memory(&inputs(&alike)) {
                next.live.push(Live::new(Arc::new(segment), None, |part| {
                    owners.get(&part).copied()
                }));
            }
        }
        self.publish(next);
    }

    /// Merges what is in memory, with segments on disk that are no larger, to
    /// segments on disk. Each is twice as large as the next smaller one then, so
    /// that there are few, and a passage is written few times.
    fn settle(&self, writer: &mut Database) -> Result<(), Error> {
        let snapshot = self.snapshot();
        let mut next = Snapshot::clone(&snapshot);
        let chosen = chosen(&mut next.live);
        let owners: HashMap<i64, u32> = chosen.iter().flat_map(Live::parts).collect();
        let old: Vec<i64> = chosen.iter().filter_map(|live| live.file).collect();
        let mut written: Vec<(i64, Segment)> = Vec::new();
        writer.transaction(|database| {
            for alike in of_one_table(&chosen) {
                let id = database.insert_segment()?;
                let path = segment_path(&self.folder, id);
                if !merge::to_file(&inputs(&alike), &path)? {
                    continue;
                }
                let segment = Segment::open(&path)?;
                for index in 0..segment.parts() {
                    database.settle_part(segment.part(index).id, Some(id))?;
                }
                written.push((id, segment));
            }
            old.iter().try_for_each(|&id| database.delete_segment(id))
        })?;
        for (id, segment) in written {
            let owner = |part: i64| owners.get(&part).copied();
            next.live
                .push(Live::new(Arc::new(segment), Some(id), owner));
        }
        self.publish(next);
        self.remove_files(old.into_iter());
        Ok(())
    }

    /// Removes files of segments; one that cannot be removed is at the next
    /// start.
    pub(super) fn remove_files(&self, segments: impl Iterator<Item = i64>) {
        for id in segments {
            let _ = fs::remove_file(segment_path(&self.folder, id));
        }
    }
}

/// Takes out of `live` what is to be merged: all that is in memory or has
/// nothing left, and of the files the smallest as long as they are no larger
/// than what is merged already.
fn chosen(live: &mut Vec<Live>) -> Vec<Live> {
    let is_due = |live: &Live| live.file.is_none() || live.size().parts == 0;
    let (mut chosen, mut kept): (Vec<Live>, Vec<Live>) =
        std::mem::take(live).into_iter().partition(is_due);
    kept.sort_by_key(|live| std::cmp::Reverse(live.size().units));
    let mut units: usize = chosen.iter().map(|live| live.size().units).sum();
    while let Some(smallest) = kept.pop_if(|smallest| smallest.size().units <= units) {
        units += smallest.size().units;
        chosen.push(smallest);
    }
    *live = kept;
    chosen
}

/// Vectors of different tables cannot be in one segment.
fn of_one_table(live: &[Live]) -> Vec<Vec<&Live>> {
    let mut tables: BTreeMap<u64, Vec<&Live>> = BTreeMap::new();
    for live in live {
        tables.entry(live.segment.table()).or_default().push(live);
    }
    tables.into_values().collect()
}

fn inputs<'a>(live: &[&'a Live]) -> Vec<Input<'a>> {
    let input = |live: &&'a Live| Input {
        segment: &live.segment,
        alive: *live,
    };
    live.iter().map(input).collect()
}

#[cfg(test)]
mod tests;
