//! Which files make the configuration, and whether they have changed.

use std::fs::{self, Metadata};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use openclaw_config::environment::Environment;
use openclaw_config::key::KeyPath;
use openclaw_config::parse;
use openclaw_config::paths::Paths;
use openclaw_config::pipeline::include::Source;
use openclaw_config::pipeline::{dot_env, include, merge};

use openclaw_settings::credential_files;

/// The name that stands for every file of a folder.
pub(crate) const ANY: &str = "*";

/// The files of a configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files {
    /// Where files are or would be; what leads to a file through a link is
    /// listed under both names.
    pub paths: Vec<PathBuf>,
    /// Differs when what they say does.
    pub stamp: u64,
}

/// The files of the configuration that `environment` names, also of one that
/// is broken.
pub fn of(environment: &Environment) -> Files {
    let Ok(paths) = Paths::resolve(environment) else {
        return Files::default();
    };
    let file = &paths.configuration;
    let mut sources = read(file);
    let environment_file = dot_env::place(file);
    if let Ok(text) = parse::read(&environment_file) {
        sources.push(source(&environment_file, text));
    }
    for path in credential_files(&paths.state) {
        if let Ok(text) = parse::read(&path) {
            sources.push(source(&path, text));
        }
    }
    let mut hasher = DefaultHasher::new();
    for source in &sources {
        (&source.path, &source.text).hash(&mut hasher);
    }
    let mut all: Vec<PathBuf> = sources.into_iter().map(|source| source.path).collect();
    // A name that no file has yet: the folder of overlays is to be watched.
    all.extend([
        file.clone(),
        environment_file,
        merge::folder(file).join(ANY),
    ]);
    let real: Vec<PathBuf> = all
        .iter()
        .filter_map(|path| path.canonicalize().ok())
        .collect();
    all.extend(real);
    Files {
        paths: all,
        stamp: hasher.finish(),
    }
}

/// Whether one of the files that are found without reading any (the file, its
/// overlays, its variables) may have been changed since `since_ms` (Unix time in
/// milliseconds), moved into place included. Costs a few stat(2).
pub fn may_have_changed(paths: &Paths, since_ms: i64) -> bool {
    let mut found = found(paths).into_iter();
    found.any(|(_, found)| changed_ms(&found) + CLOCK_TICK_MS >= since_ms)
}

/// What is known of the files that are found without reading any, at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marks {
    /// Of which files there are, their sizes and the times of their changes.
    digest: u64,
    newest_ms: i64,
}

impl Marks {
    /// Those that the files have now. Costs a few stat(2).
    pub fn of(paths: &Paths) -> Self {
        let (mut hasher, mut newest_ms) = (DefaultHasher::new(), i64::MIN);
        for (path, found) in found(paths) {
            (path, found.dev(), found.ino(), found.size()).hash(&mut hasher);
            (found.ctime(), found.ctime_nsec()).hash(&mut hasher);
            newest_ms = newest_ms.max(changed_ms(&found));
        }
        Self {
            digest: hasher.finish(),
            newest_ms,
        }
    }

    /// Whether a change right after `at_ms` (Unix time in milliseconds) may have left
    /// no other mark: it was within the tick in which another was made.
    pub fn may_hide_one_after(self, at_ms: i64) -> bool {
        self.newest_ms.abs_diff(at_ms) <= CLOCK_TICK_MS.unsigned_abs()
    }
}

/// The kernel stamps files with the time of its last tick.
const CLOCK_TICK_MS: i64 = 20;

/// The files that are there, and what links among them lead to.
fn found(paths: &Paths) -> Vec<(PathBuf, Metadata)> {
    let file = &paths.configuration;
    let overlays = merge::folder(file);
    let entries = fs::read_dir(&overlays).into_iter().flatten().flatten();
    let places = [file.clone(), dot_env::place(file), overlays];
    let places = places.into_iter().chain(entries.map(|entry| entry.path()));
    let mut all = Vec::new();
    for path in places {
        let Ok(own) = fs::symlink_metadata(&path) else {
            continue;
        };
        let led_to = own.is_symlink().then(|| fs::metadata(&path).ok()).flatten();
        all.extend(led_to.map(|led_to| (path.clone(), led_to)));
        all.push((path, own));
    }
    all
}

/// The last change of a file, its name's included.
fn changed_ms(found: &Metadata) -> i64 {
    const MILLISECONDS: i64 = 1000;
    const NANOSECONDS: i64 = 1_000_000;
    found.ctime() * MILLISECONDS + found.ctime_nsec() / NANOSECONDS
}

/// As many of the files as can be read.
fn read(file: &Path) -> Vec<Source> {
    let mut sources = Vec::new();
    if let Ok(text) = parse::read(file) {
        if let Ok(document) = parse::parse(file, &text) {
            // The files before the one that cannot be included are known.
            let _ = include::resolve(file, document, &mut sources);
        }
        sources.push(source(file, text));
    }
    sources.extend(merge::overlays(file).unwrap_or_default());
    sources
}

fn source(path: &Path, text: String) -> Source {
    Source {
        path: path.to_owned(),
        text,
        mount: KeyPath::default(),
    }
}
