//! One suite for each state directory: a daemon holds a lock on the part that
//! it owns, `state/NAME.lock`, before it touches it (flock(2)).
//!
//! The kernel releases the lock when its holder ends in any way. The file
//! stays, and says who holds it.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::kill;
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use crate::lock_file;
use crate::paths::Paths;

/// What a lock file may say; more is not one of ours.
const SIZE_LIMIT: u64 = 64 * 1024;
/// How long a lock whose holder has ended is waited for. A child that the
/// holder was just starting has it until it becomes its program.
const INHERITED_LIMIT: Duration = Duration::from_secs(2);
/// How long a holder that has no name is waited for: it says it when it has the lock.
const NAME_LIMIT: Duration = Duration::from_millis(500);
/// Between two looks at such a lock: there is no event with a deadline for it.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// The lock of one daemon; released when it is dropped.
#[derive(Debug)]
pub struct StateLock {
    /// Kept for as long as the lock is held.
    file: Flock<File>,
    holder: Holder,
}

/// Who holds a lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The program's name.
    pub program: String,
    /// Its process id.
    pub pid: i32,
    /// When it took the lock, in Unix seconds.
    pub since: u64,
    /// Where its suite's sockets are.
    pub runtime: PathBuf,
    /// The command that ends it.
    pub stop: String,
    /// Why it ended, where starting it again changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
}

/// Why a lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another process has it.
    #[error("the state directory {} is in use by {}", .state.display(), by(.holder))]
    Held {
        /// The state directory.
        state: PathBuf,
        /// Who has it, when the file says so.
        holder: Option<Box<Holder>>,
    },
    /// The lock file cannot be made or opened.
    #[error("cannot lock {}", .path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl StateLock {
    /// Takes the lock of `program` on the state directory; `stop` is the
    /// command that ends this process. Why the last holder ended counts no more.
    pub fn take(paths: &Paths, program: &str, stop: String) -> Result<Self, Error> {
        let lock = Self::take_to_start(paths, program, stop)?;
        lock.forget_end();
        Ok(lock)
    }

    /// As [`take`](Self::take), by the daemon itself: why the last one ended stays said until
    /// this one [works](Self::forget_end) or ends for another reason. Whoever asks while
    /// daemons are started one after the other, none of which can work, finds it every time.
    pub fn take_to_start(paths: &Paths, program: &str, stop: String) -> Result<Self, Error> {
        let path = paths.state_lock(program);
        let failed = |source| Error::Open {
            path: path.clone(),
            source,
        };
        let mut file = lock_file::open(&path).map_err(failed)?;
        let begun = Instant::now();
        let locked = loop {
            match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                Ok(locked) => break locked,
                Err((held, Errno::EWOULDBLOCK)) => {
                    let holder = read(&held);
                    if !is_waited_for(holder.as_ref(), begun.elapsed()) {
                        return Err(Error::Held {
                            state: paths.state.clone(),
                            holder: holder.map(Box::new),
                        });
                    }
                    file = held;
                    pause();
                }
                Err((_, errno)) => return Err(failed(errno.into())),
            }
        };
        let holder = Holder {
            program: program.to_owned(),
            pid: Pid::this().as_raw(),
            since: now(),
            runtime: paths.runtime.clone(),
            stop,
            ended: read(&locked).and_then(|last| last.ended),
        };
        // The lock holds without it: on a full disk nobody can be named.
        let _ = write(&locked, &holder);
        Ok(Self {
            file: locked,
            holder,
        })
    }

    /// Takes back what was said of the end of the last holder.
    pub fn forget_end(&self) {
        if self.holder.ended.is_some() {
            let holder = Holder {
                ended: None,
                ..self.holder.clone()
            };
            let _ = write(&self.file, &holder);
        }
    }

    /// Leaves word why its holder ends, where starting it again changes nothing.
    /// Nobody is told on a full disk.
    pub fn say_end(&self, why: String) {
        let holder = Holder {
            ended: Some(why),
            ..self.holder.clone()
        };
        let _ = write(&self.file, &holder);
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "before there is an event loop, and flock(2) has no deadline"
)]
fn pause() {
    thread::sleep(LOOK_AGAIN);
}

/// Who holds the lock of `program` on the state directory; `None` when nobody
/// does, or nobody who can be named.
pub fn holder(paths: &Paths, program: &str) -> Option<Holder> {
    let file = File::open(paths.state_lock(program)).ok()?;
    match Flock::lock(file, FlockArg::LockSharedNonblock) {
        Ok(_) => None,
        Err((file, _)) => read(&file),
    }
}

/// Why the last holder of the lock of `program` ends or has ended, where starting it
/// again changes nothing and none has worked since.
pub fn ended(paths: &Paths, program: &str) -> Option<String> {
    read(&File::open(paths.state_lock(program)).ok()?)?.ended
}

impl fmt::Display for Holder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            program, pid, stop, ..
        } = self;
        let age = age(now().saturating_sub(self.since));
        write!(
            formatter,
            "{program} (process {pid}, for {age}); end it with: {stop}"
        )
    }
}

fn by(holder: &Option<Box<Holder>>) -> String {
    match holder {
        Some(holder) => holder.to_string(),
        None => "another process, which is just starting or could not say its name".to_owned(),
    }
}

/// Seconds in the largest unit that fits.
fn age(seconds: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(86_400, "d"), (3_600, "h"), (60, "min")];
    let unit = UNITS.into_iter().find(|(size, _)| seconds >= *size);
    let (size, name) = unit.unwrap_or((1, "s"));
    format!("{} {name}", seconds / size)
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

fn write(file: &File, holder: &Holder) -> io::Result<()> {
    file.set_len(0)?;
    // From the beginning: whoever waited for the lock has read before.
    file.write_all_at(&serde_json::to_vec(holder)?, 0)
}

fn read(mut file: &File) -> Option<Holder> {
    io::Seek::rewind(&mut file).ok()?;
    let mut text = Vec::new();
    file.take(SIZE_LIMIT).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Whether a lock that somebody has may still be released for us, or its holder named.
fn is_waited_for(holder: Option<&Holder>, waited: Duration) -> bool {
    match holder {
        None => waited < NAME_LIMIT,
        Some(holder) => !is_alive(holder) && waited < INHERITED_LIMIT,
    }
}

/// Whether the named holder still runs.
fn is_alive(holder: &Holder) -> bool {
    kill(Pid::from_raw(holder.pid), None) != Err(Errno::ESRCH)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::sync::mpsc;

    use super::*;

    fn paths(folder: &Path) -> Paths {
        let text = folder.to_str().unwrap();
        let variables = [("OPENCLAW_STATE_DIR", text), ("OPENCLAW_RUNTIME_DIR", text)];
        Paths::resolve(&variables.into_iter().collect()).unwrap()
    }

    fn take(paths: &Paths, program: &str) -> Result<StateLock, Error> {
        StateLock::take(paths, program, "kill it".to_owned())
    }

    #[test]
    fn state_lock_names_its_holder_to_the_second_one() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        let lock = take(&paths, "openclaw-gateway").unwrap();
        let refused = take(&paths, "openclaw-gateway").unwrap_err().to_string();
        let pid = Pid::this();
        let expected = format!("in use by openclaw-gateway (process {pid}, for ");
        assert!(refused.contains(&expected), "{refused}");
        assert!(refused.ends_with("; end it with: kill it"), "{refused}");
        assert!(holder(&paths, "openclaw-gateway").is_some());
        assert!(take(&paths, "openclaw-memory").is_ok(), "another part");
        drop(lock);
        assert_eq!(holder(&paths, "openclaw-gateway"), None);
        take(&paths, "openclaw-gateway").unwrap();
    }

    #[test]
    fn state_lock_of_a_holder_that_ended_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        let path = paths.state_lock("openclaw-memory");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let gone = Holder {
            program: "openclaw-memory".to_owned(),
            // Beyond the largest process id (proc(5), pid_max).
            pid: i32::MAX,
            since: 0,
            runtime: paths.runtime.clone(),
            stop: String::new(),
            ended: None,
        };
        fs::write(&path, serde_json::to_vec(&gone).unwrap()).unwrap();
        let inherited = Flock::lock(File::open(&path).unwrap(), FlockArg::LockExclusive).unwrap();
        let (begun, beginning) = mpsc::channel();
        let own = paths.clone();
        let taking = thread::spawn(move || {
            begun.send(()).unwrap();
            take(&own, "openclaw-memory")
        });
        beginning.recv().unwrap();
        drop(inherited);
        let _lock = taking.join().unwrap().unwrap();
        assert_eq!(holder(&paths, "openclaw-memory").unwrap().stop, "kill it");
    }

    fn named(pid: i32) -> Holder {
        Holder {
            program: "openclaw-memory".to_owned(),
            pid,
            since: now(),
            runtime: PathBuf::from("/run"),
            stop: "stop it".to_owned(),
            ended: None,
        }
    }

    #[test]
    fn ended_is_said_until_a_holder_works() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        let gateway = "openclaw-gateway";
        assert_eq!(ended(&paths, gateway), None);
        let lock = take(&paths, gateway).unwrap();
        lock.say_end("too old".to_owned());
        assert_eq!(ended(&paths, gateway).as_deref(), Some("too old"));
        drop(lock);
        assert_eq!(ended(&paths, gateway).as_deref(), Some("too old"));
        assert_eq!(holder(&paths, gateway), None);
        let start = || StateLock::take_to_start(&paths, gateway, "kill it".to_owned()).unwrap();
        drop(start());
        assert_eq!(ended(&paths, gateway).as_deref(), Some("too old"), "killed");
        let lock = start();
        assert_eq!(ended(&paths, gateway).as_deref(), Some("too old"));
        lock.forget_end();
        assert_eq!(ended(&paths, gateway), None, "it works");
        lock.say_end("too new".to_owned());
        assert_eq!(ended(&paths, gateway).as_deref(), Some("too new"));
        drop(lock);
        let lock = take(&paths, gateway).unwrap();
        assert_eq!(ended(&paths, gateway), None, "taken by what mends it");
        drop(lock);
        assert_eq!(ended(&paths, gateway), None, "it ended as it was asked");
    }

    #[test]
    fn state_lock_is_waited_for_until_the_time_is_up_where_the_holder_ended() {
        let (gone, alive) = (named(i32::MAX), named(Pid::this().as_raw()));
        let waited = |holder: Option<&Holder>| {
            let mut times = (0..).map(|it| LOOK_AGAIN * it);
            times
                .find(|waited| !is_waited_for(holder, *waited))
                .unwrap()
        };
        assert_eq!(waited(Some(&gone)), INHERITED_LIMIT);
        assert_eq!(waited(Some(&alive)), Duration::ZERO);
        assert_eq!(waited(None), NAME_LIMIT, "just starting");
    }

    #[test]
    fn holder_is_written_from_the_beginning_however_often_it_was_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = lock_file::open(&folder.path().join("a.lock")).unwrap();
        assert_eq!(read(&file), None);
        let far = Holder {
            runtime: PathBuf::from("/run/".repeat(800)),
            ..named(7)
        };
        write(&file, &far).unwrap();
        assert_eq!(read(&file), Some(far));
        for pid in [1_234_567, 1] {
            write(&file, &named(pid)).unwrap();
            for _ in 0..2 {
                assert_eq!(read(&file).unwrap().pid, pid);
            }
        }
    }

    #[test]
    fn holder_says_itself_and_how_to_end_it() {
        let mut holder = named(7);
        holder.since -= 120;
        let said = by(&Some(Box::new(holder)));
        let expected = "openclaw-memory (process 7, for 2 min); end it with: stop it";
        assert_eq!(said, expected);
        assert!(by(&None).contains("another process"), "{}", by(&None));
    }

    #[test]
    fn state_lock_whose_file_is_a_link_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        let path = paths.state_lock("openclaw-memory");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink("/dev/null", &path).unwrap();
        let error = take(&paths, "openclaw-memory").unwrap_err().to_string();
        assert_eq!(error, format!("cannot lock {}", path.display()));
    }

    #[test]
    fn age_is_said_in_its_largest_unit() {
        let ages = [0, 59, 60, 7_199, 86_400].map(age);
        assert_eq!(ages, ["0 s", "59 s", "1 min", "1 h", "1 d"]);
    }
}
