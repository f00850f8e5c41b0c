//! Opening an index, whatever state it is in.

use super::put::UNITS;
use super::*;
use crate::database::FILE;
use crate::embed::chain;
use crate::segment::Segment;

/// The folder's mode: memories are nobody else's.
const MODE: u32 = 0o700;
/// What the files of segments are called, with their numbers between.
const SEGMENT_PREFIX: &str = "segment-";
const SEGMENT_SUFFIX: &str = ".idx";

/// The file of the segment with the number `id`.
pub(super) fn segment_path(folder: &Path, id: i64) -> PathBuf {
    folder.join(format!("{SEGMENT_PREFIX}{id}{SEGMENT_SUFFIX}"))
}

impl Engine {
    /// Opens the index in `folder`, or makes one. What is damaged is made anew:
    /// a segment from the database, the database from the files its caller puts.
    ///
    /// # Errors
    /// When the folder cannot be used at all.
    pub fn open(folder: &Path, options: Options) -> Result<(Self, Opened), Error> {
        make_folder(folder)?;
        let is_new = !folder.join(FILE).exists();
        match Self::load(folder, &options) {
            Ok(engine) if is_new => Ok((engine, Opened::New)),
            Ok(engine) => Ok((engine, Opened::Kept)),
            Err(error) if error.is_damage() => {
                let reason = chain(&error);
                remove_all(folder)?;
                let engine = Self::load(folder, &options)?;
                Ok((engine, Opened::Rebuilt { reason }))
            }
            Err(error) => Err(error),
        }
    }

    fn load(folder: &Path, options: &Options) -> Result<Self, Error> {
        let mut writer = Database::open(folder)?;
        if !writer.is_sound()? {
            return Err(Error::Damaged {
                path: folder.join(FILE),
                reason: "SQLite finds faults in it",
            });
        }
        let snapshot = load_segments(folder, &mut writer)?;
        let engine = Self {
            folder: folder.to_owned(),
            reader: Mutex::new(Database::open(folder)?),
            writer: Mutex::new(writer),
            snapshot: RwLock::new(Arc::new(snapshot)),
            table: LazyTable::new(options.table.clone()),
            scratch: Mutex::default(),
            waiting: AtomicUsize::default(),
        };
        engine.take_up()?;
        Ok(engine)
    }

    /// What was in memory only is indexed at once; more than that was lost with
    /// a segment, and is found through the fallback until it is indexed again.
    fn take_up(&self) -> Result<(), Error> {
        let homeless = self.reader().homeless_passages()?;
        if homeless <= UNITS {
            self.writer()
                .transaction(|database| database.empty_fallback())?;
            return self.adopt(usize::MAX).map(drop);
        }
        let filled = self
            .writer()
            .transaction(|database| database.fill_fallback())?;
        self.waiting.store(filled, Ordering::Relaxed);
        Ok(())
    }
}

fn make_folder(folder: &Path) -> Result<(), Error> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(MODE)
        .create(folder)
        .map_err(Error::io("make", folder))
}

/// Removes the files of the index, and nothing else that is there.
fn remove_all(folder: &Path) -> Result<(), Error> {
    for name in names(folder)? {
        if name.starts_with(FILE) || is_segment(&name) {
            let path = folder.join(name);
            fs::remove_file(&path).map_err(Error::io("remove", &path))?;
        }
    }
    Ok(())
}

fn names(folder: &Path) -> Result<Vec<String>, Error> {
    let entries = fs::read_dir(folder).map_err(Error::io("list", folder))?;
    let names = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    Ok(names.collect())
}

fn is_segment(name: &str) -> bool {
    name.starts_with(SEGMENT_PREFIX)
}

fn load_segments(folder: &Path, database: &mut Database) -> Result<Snapshot, Error> {
    let ids = database.segments()?;
    let mut segments = Vec::new();
    for id in ids {
        match Segment::open(&segment_path(folder, id)) {
            Ok(segment) => segments.push((id, Arc::new(segment))),
            // The database has what it was made of.
            Err(_) => database.transaction(|database| database.delete_segment(id))?,
        }
    }
    remove_strangers(folder, &segments)?;
    let rows = database.parts(false)?;
    let owners: HashMap<i64, (u32, Option<i64>)> = rows
        .iter()
        .map(|row| (row.id, (row.document, row.segment)))
        .collect();
    let live = segments.into_iter().map(|(id, segment)| {
        Live::new(segment, Some(id), |part| {
            let (document, segment) = owners.get(&part)?;
            (*segment == Some(id)).then_some(*document)
        })
    });
    let documents = database.documents()?;
    let entries = documents
        .iter()
        .map(|row| (row.id, DocumentEntry::from(row)));
    Ok(Snapshot {
        live: live.collect(),
        documents: Arc::new(entries.collect()),
    })
}

/// Removes files of segments that a crash left over.
fn remove_strangers(folder: &Path, segments: &[(i64, Arc<Segment>)]) -> Result<(), Error> {
    let known: HashSet<PathBuf> = segments
        .iter()
        .map(|(id, _)| segment_path(folder, *id))
        .collect();
    for name in names(folder)?.into_iter().filter(|name| is_segment(name)) {
        let path = folder.join(name);
        if !known.contains(&path) {
            fs::remove_file(&path).map_err(Error::io("remove", &path))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
