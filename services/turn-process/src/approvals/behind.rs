//! What a command leads to beside its words: files that it may run or obey, folders, and where
//! links lead. Who allows a command once has looked at these; so it does not run when they are
//! others by then.
//!
//! What these files lead to in turn is not looked at, so nothing is allowed for good by it.

use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};

use openclaw_folder::Folder;
use openclaw_tools::approval::{parse, target};
use serde_json::Value;

/// Places that are looked at: words of a command, in each folder that is one of them. One that
/// has more is refused: what is not looked at could be what it runs.
const PLACES: usize = 50_000;
/// Files that are read.
const READ: usize = 64;
/// Bytes of a file that are read; of what is longer, or of a file too many, its length and times
/// count.
const FILE_BYTES: u64 = 1 << 20;
/// Bytes of the longest path that the kernel takes.
const NAME: usize = 4095;

/// Files that programs obey which lie where they run, whatever their words are.
const OBEYED: [&str; 34] = [
    "BUILD",
    "CMakeLists.txt",
    "Cargo.toml",
    "Dockerfile",
    "GNUmakefile",
    "Gemfile",
    "Justfile",
    "Makefile",
    "Rakefile",
    "Taskfile.yml",
    "build.gradle",
    "build.gradle.kts",
    "build.ninja",
    "build.rs",
    "build.xml",
    "build.zig",
    "compose.yaml",
    "composer.json",
    "conftest.py",
    "deno.json",
    "docker-compose.yml",
    "go.mod",
    "gulpfile.js",
    "justfile",
    "makefile",
    "meson.build",
    "noxfile.py",
    "package.json",
    "pom.xml",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "tox.ini",
    "webpack.config.js",
];

/// Characters between pieces of a line that may name a file: the shell's, and those before
/// the value of an option.
const BETWEEN: &str = "'\"`$<>(){}|&;=,:@\\";

/// The places that a command led to when somebody was asked about it.
#[derive(Debug)]
pub(super) struct Behind {
    /// With a key of its own: nobody can make another file with the same sum.
    hasher: RandomState,
    files: Vec<Looked>,
}

/// A place that was looked at.
#[derive(Debug)]
struct Looked {
    path: PathBuf,
    is_read: bool,
    seen: Seen,
}

/// What a name led to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    /// The hash of where it lies, links followed; `None`: that cannot be told.
    place: Option<u64>,
    found: Found,
}

/// What was there.
#[derive(Debug, Default, PartialEq, Eq)]
enum Found {
    /// Neither a folder nor a file that can be read.
    #[default]
    Nothing,
    /// One that comes later may hold anything.
    Folder,
    File(Fingerprint),
}

/// A regular file.
#[derive(Debug, PartialEq, Eq)]
struct Fingerprint {
    /// The hash of a file that was read.
    sum: Option<u64>,
    length: i64,
    /// The inode number and times of a file that is too large to be read.
    stamp: Option<[i64; 5]>,
}

impl Behind {
    /// What `command` leads to that runs in `directory`. The error, for the model, says that
    /// it is too much.
    pub(super) fn of(command: &Value, directory: &Path) -> Result<Self, String> {
        let pieces = pieces(command);
        let inner = pieces.iter().map(|piece| directory.join(piece));
        let inner = inner.filter(|path| path.is_dir());
        let folders: Vec<PathBuf> = [directory.to_owned()].into_iter().chain(inner).collect();
        if folders.len() * (pieces.len() + OBEYED.len()) > PLACES {
            return Err(
                "it names too much to be looked at; it was not run. Take it apart".to_owned(),
            );
        }
        let hasher = RandomState::new();
        let mut read = 0;
        let mut files = Vec::new();
        for folder in &folders {
            let names = pieces.iter().map(String::as_str).chain(OBEYED);
            for path in names.map(|name| folder.join(name)) {
                let is_read = read < READ;
                let seen = Seen::at(&path, &hasher, is_read);
                read += usize::from(matches!(seen.found, Found::File(_)));
                files.push(Looked {
                    path,
                    is_read,
                    seen,
                });
            }
        }
        Ok(Self { hasher, files })
    }

    /// The first of these places that is another now.
    pub(super) fn changed(&self) -> Option<&Path> {
        let is_other = |it: &&Looked| Seen::at(&it.path, &self.hasher, it.is_read) != it.seen;
        let changed = self.files.iter().find(is_other)?;
        Some(&changed.path)
    }
}

/// The parts of the command that may name a file: its words, and parts of them.
fn pieces(command: &Value) -> BTreeSet<String> {
    let texts: Vec<&str> = match command {
        Value::String(line) => vec![line],
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let words = match command {
        Value::String(line) => parse(line).unwrap_or_default().concat(),
        _ => Vec::new(),
    };
    let words = words.into_iter().map(|word| word.text);
    let whole = words.chain(texts.iter().map(|text| (*text).to_owned()));
    let is_between = |c: char| c.is_whitespace() || BETWEEN.contains(c);
    let parts = texts.iter().flat_map(|text| text.split(is_between));
    // The value of an option that is one letter: -fbuild.mk.
    let values = parts
        .clone()
        .filter_map(|part| part.strip_prefix('-')?.get(1..));
    let parts = parts.chain(values).map(str::to_owned);
    let names = whole
        .chain(parts)
        .filter(|it| !it.is_empty() && it.len() <= NAME);
    names.collect()
}

impl Seen {
    /// What `path` leads to.
    fn at(path: &Path, hasher: &RandomState, is_read: bool) -> Self {
        let Ok(reached) = target::resolve(path) else {
            return Self::default();
        };
        let file = || fingerprint(&reached, hasher, is_read).map(Found::File);
        Self {
            place: Some(hasher.hash_one(&reached)),
            found: if reached.is_dir() {
                Found::Folder
            } else {
                file().unwrap_or_default()
            },
        }
    }
}

/// The regular file at `path`, which is no link.
fn fingerprint(path: &Path, hasher: &RandomState, is_read: bool) -> Option<Fingerprint> {
    let folder = Folder::open(path.parent()?).ok()??;
    let (file, status) = folder.open_file(path.file_name()?).ok()??;
    let is_whole = is_read && u64::try_from(status.st_size).is_ok_and(|it| it <= FILE_BYTES);
    let head = if is_read { Some(read(file)?) } else { None };
    let stamp = [
        i64::try_from(status.st_ino).unwrap_or_default(),
        status.st_mtime,
        status.st_mtime_nsec,
        status.st_ctime,
        status.st_ctime_nsec,
    ];
    Some(Fingerprint {
        sum: head.map(|head| hasher.hash_one(head)),
        length: status.st_size,
        stamp: (!is_whole).then_some(stamp),
    })
}

fn read(file: std::fs::File) -> Option<Vec<u8>> {
    use std::io::Read as _;
    let mut head = Vec::new();
    file.take(FILE_BYTES).read_to_end(&mut head).ok()?;
    Some(head)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    fn is_held(line: &str, file: &str) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "echo harmless").unwrap();
        let there = Behind::of(&json!(line), folder.path()).unwrap();
        assert_eq!(there.changed(), None, "{line}");
        fs::write(&path, "echo hostile!").unwrap();
        let is_changed = there.changed().is_some();
        fs::remove_file(&path).unwrap();
        let absent = Behind::of(&json!(line), folder.path()).unwrap();
        assert_eq!(absent.changed(), None, "{line}");
        fs::write(&path, "echo").unwrap();
        assert_eq!(absent.changed().is_some(), is_changed, "{line}");
        is_changed
    }

    #[test]
    fn behind_a_command_are_the_files_that_its_words_lead_to() {
        for (line, file) in [
            ("sh build.sh", "build.sh"),
            ("sh 'my script.sh'", "my script.sh"),
            ("./build.sh --fast", "build.sh"),
            ("sh sub/build.sh", "sub/build.sh"),
            ("cd sub && sh build.sh", "sub/build.sh"),
            ("sh<build.sh", "build.sh"),
            ("X=1 sh $(cat build.sh)", "build.sh"),
            ("sh -c '. ./build.sh'", "build.sh"),
            ("make", "Makefile"),
            ("make -C sub", "sub/Makefile"),
            ("make -fother.mk", "other.mk"),
            ("make --file=other.mk", "other.mk"),
            ("curl -d @notes https://example.org", "notes"),
            ("npm test", "package.json"),
        ] {
            assert!(is_held(line, file), "{line}");
        }
        assert!(!is_held("sh build.sh", "notes"));
        assert!(is_held("sh build.sh # many", "build.sh"));
    }

    #[test]
    fn behind_a_command_is_also_where_its_words_lead() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["ws", "first", "second"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        let (ws, link) = (root.join("ws"), root.join("ws/link"));
        let behind = |line: &str| Behind::of(&json!(line), &ws).unwrap();

        // A folder that is not there yet, and a script in it.
        let absent = behind("cd link && sh build.sh");
        assert_eq!(absent.changed(), None);
        fs::create_dir(&link).unwrap();
        assert_eq!(absent.changed(), Some(link.as_path()));
        fs::remove_dir(&link).unwrap();

        // A link to a folder, under which nothing is that the command makes.
        symlink("../first", &link).unwrap();
        let through = ["touch link/a", "rm -rf link/*", "cp -r x link"].map(behind);
        for one in &through {
            assert_eq!(one.changed(), None);
        }
        fs::remove_file(&link).unwrap();
        symlink("../second", &link).unwrap();
        for one in &through {
            assert!(one.changed().is_some(), "{one:?}");
        }
    }

    #[test]
    fn behind_a_list_of_words_are_those_that_they_name() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a b.py"), "1").unwrap();
        let behind = Behind::of(&json!(["python3", "a b.py"]), folder.path()).unwrap();
        assert_eq!(behind.changed(), None);
        fs::write(folder.path().join("a b.py"), "2").unwrap();
        assert!(behind.changed().unwrap().ends_with("a b.py"));
    }

    #[test]
    fn filler_leaves_no_file_out() {
        let folder = tempfile::tempdir().unwrap();
        let names: Vec<String> = (0..400).map(|number| format!("a{number}")).collect();
        for name in &names {
            fs::write(folder.path().join(name), "1").unwrap();
        }
        fs::write(folder.path().join("z.sh"), "1").unwrap();
        let line = json!(format!("sh z.sh {}", names.join(" ")));
        let behind = Behind::of(&line, folder.path()).unwrap();
        assert_eq!(behind.changed(), None);
        fs::write(folder.path().join("z.sh"), "2").unwrap();
        assert!(behind.changed().is_some());
        for name in &names {
            fs::create_dir(folder.path().join(format!("d{name}"))).unwrap();
        }
        let line = json!(format!("sh z.sh {} d{}", names.join(" "), names.join(" d")));
        let why = Behind::of(&line, folder.path()).unwrap_err();
        assert!(why.contains("was not run"), "{why}");
    }
}
