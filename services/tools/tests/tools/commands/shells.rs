//! What bash and dash make of a line, held against what it was judged to be.
//! The fuzz target `command` includes this file too.

#![expect(
    clippy::disallowed_methods,
    reason = "the real shells are what is tested"
)]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use openclaw_tools::approval::{Word, parse};

/// Before each command that a shell says it runs; no line has it.
pub(super) const TRACE: &str = "trace-of-a-command ";

/// What stands in for every program: it writes down what it was called with.
const RECORDER: &str = "#!/bin/sh\n\
    printf '%s\\0' \"${0##*/}\" \"$@\" > \"$RECORDS/$$\"\n\
    exit \"$STATUS\"\n";

/// bash looks for a program also where it has a command of its own.
const BASH: &str = "enable -n . : [ alias bg bind break builtin caller cd command compgen complete compopt \
    continue declare dirs disown echo eval exec exit export false fc fg getopts hash help history \
    jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return \
    shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait\n\
    set -x; enable -n set enable; PS4=$TRACE\n";

/// dash cannot be told so: of lines with these only bash is asked.
const DASH: &str = "PS4=$TRACE\nset -x\n";
const OF_DASH: [&str; 39] = [
    ".", ":", "[", "alias", "bg", "break", "cd", "chdir", "command", "continue", "echo", "eval",
    "exec", "exit", "export", "false", "fg", "getopts", "hash", "jobs", "kill", "local", "printf",
    "pwd", "read", "readonly", "return", "set", "shift", "test", "times", "trap", "true", "type",
    "ulimit", "umask", "unalias", "unset", "wait",
];

/// Commands with their arguments.
type Commands = Vec<Vec<String>>;

/// Runs the line, if it is judged to be simple, with programs that only write
/// down what they were called with, and holds that against the words. Says
/// whether the line was run.
///
/// # Panics
/// When a shell ran anything else.
pub(crate) fn compare(line: &str) -> bool {
    let Ok(judged) = parse(line) else {
        return false;
    };
    if line.contains(TRACE) {
        return false;
    }
    let has_pattern = judged.iter().flatten().any(|word| word.is_pattern);
    let text = |word: &Word| word.text.clone();
    let judged: Commands = judged
        .iter()
        .map(|words| words.iter().map(text).collect())
        .collect();
    let scene = Scene::new();
    if !judged.iter().all(|words| scene.add_program(&words[0])) {
        return false;
    }
    let locales: &[&str] = if line.is_ascii() {
        &["C"]
    } else {
        &["C", "C.UTF-8"]
    };
    let is_of_dash = |words: &Vec<String>| OF_DASH.contains(&words[0].as_str());
    for locale in locales {
        let ask = |shell, first| scene.ask(Path::new(shell), first, line, locale, has_pattern);
        agree(&judged, &ask("/bin/bash", BASH), line);
        if !judged.iter().any(is_of_dash) {
            agree(&judged, &ask("/bin/dash", DASH), line);
        }
    }
    true
}

/// What ran when every program succeeded, and what when every program failed:
/// between them that is all of a line that has no loops. `None`: there is no
/// such shell.
type Ran = Option<[Commands; 2]>;

fn agree(judged: &Commands, ran: &Ran, line: &str) {
    let Some([succeeded, failed]) = ran else {
        return;
    };
    let count = |commands: &Commands, words| commands.iter().filter(|ran| *ran == words).count();
    for words in judged.iter().chain(succeeded).chain(failed) {
        let expected = count(judged, words);
        let (first, second) = (count(succeeded, words), count(failed, words));
        assert!(
            first <= expected && second <= expected && first + second >= expected,
            "{line:?} is judged as {judged:?}, but {succeeded:?} and {failed:?} ran"
        );
    }
}

/// By another process: a child that another thread starts meanwhile would have this one's descriptor
/// until it becomes its program, and what is open for writing cannot be executed (ETXTBSY).
fn write_program(path: &Path, text: &str) {
    let mut writer = Command::new("/bin/sh")
        .args(["-c", "cat >\"$0\" && chmod 755 \"$0\""])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .expect("a shell");
    let mut input = writer.stdin.take().expect("its input");
    input.write_all(text.as_bytes()).expect("the program");
    drop(input);
    assert!(writer.wait().expect("its end").success());
}

/// A folder with programs, their records, and some files.
struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["programs", "records", "work"] {
            fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        write_program(&folder.path().join("recorder"), RECORDER);
        for name in ["a", "b", "x", "-x", ".h"] {
            fs::write(folder.path().join("work").join(name), "").expect("a file");
        }
        Self { folder }
    }

    /// Whether there can be a program of that name.
    fn add_program(&self, name: &str) -> bool {
        let can_be = !name.contains('/') && name.len() <= 255 && name != "." && name != "..";
        let path = self.folder.path().join("programs").join(name);
        can_be && (path.exists() || symlink(self.folder.path().join("recorder"), path).is_ok())
    }

    fn ask(&self, shell: &Path, first: &str, line: &str, locale: &str, literally: bool) -> Ran {
        let run = |status| self.run(shell, first, line, (locale, literally, status));
        shell.exists().then(|| ["0", "1"].map(run))
    }

    /// What the shell runs when every program ends with `status`.
    fn run(
        &self,
        shell: &Path,
        first: &str,
        line: &str,
        (locale, literally, status): (&str, bool, &str),
    ) -> Commands {
        let place = |name| self.folder.path().join(name);
        let mut command = Command::new(shell);
        // Otherwise patterns become names of files.
        command.args(literally.then_some("-f"));
        let output = command
            .args(["-c", &format!("{first}{line}")])
            .current_dir(place("work"))
            .env_clear()
            .env("PATH", place("programs"))
            .env("RECORDS", place("records"))
            .envs([
                ("STATUS", status),
                ("LC_ALL", locale),
                ("TRACE", TRACE),
                ("HOME", "/home"),
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .output()
            .expect("the shell runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let ran = self.take_records();
        // Also a command of the shell's own is traced; bash traces the setting of
        // PS4 as well.
        let of_bash = said.matches(&format!("PS4='{TRACE}")).count();
        let traced = said.matches(TRACE).count() - of_bash;
        assert_eq!(traced, ran.len(), "{line:?} in {shell:?}: {said}{ran:?}");
        ran
    }

    fn take_records(&self) -> Commands {
        let records = fs::read_dir(self.folder.path().join("records")).expect("the records");
        let take = |entry: std::io::Result<fs::DirEntry>| {
            let path = entry.expect("a record").path();
            let text = fs::read(&path).expect("a record");
            fs::remove_file(&path).expect("a record");
            let text = String::from_utf8_lossy(&text).into_owned();
            let words = text.strip_suffix('\0').unwrap_or(&text).split('\0');
            words.map(str::to_owned).collect()
        };
        records.map(take).collect()
    }
}
