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

use crate::settings::gateway::files as credentials;

/// The name that stands for every file of a folder.
pub const ANY: &str = "*";

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
    for (name, _) in credentials::NAMES {
        let path = credentials::place(&paths.state, name);
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
    let file = &paths.configuration;
    let overlays = merge::folder(file);
    let entries = fs::read_dir(&overlays).into_iter().flatten().flatten();
    [file.clone(), dot_env::place(file), overlays.clone()]
        .into_iter()
        .chain(entries.map(|entry| entry.path()))
        .any(|path| changed_ms(&path).is_some_and(|at| at + CLOCK_TICK_MS >= since_ms))
}

/// The kernel stamps files with the time of its last tick.
const CLOCK_TICK_MS: i64 = 20;

/// The last change of a file or of what a link leads to, its name's included.
fn changed_ms(path: &Path) -> Option<i64> {
    const MILLISECONDS: i64 = 1000;
    const NANOSECONDS: i64 = 1_000_000;
    let at = |found: Metadata| found.ctime() * MILLISECONDS + found.ctime_nsec() / NANOSECONDS;
    let own = fs::symlink_metadata(path).ok()?;
    let led_to = own.is_symlink().then(|| fs::metadata(path).ok()).flatten();
    let led_to = led_to.map(at);
    Some(at(own).max(led_to.unwrap_or_default()))
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
