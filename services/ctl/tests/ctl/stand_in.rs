//! A stand-in for the daemons: takes its socket, says READY, and does what
//! its clients ask for.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::Path;
use std::{env, fs};

use listenfd::ListenFd;

use crate::scene::{DEADLINE, Scene};

/// Installs it as every daemon of `scene`.
pub(crate) fn install(scene: &Scene) {
    for name in [
        "openclaw-gateway",
        "openclaw-agent-runner",
        "openclaw-memory",
    ] {
        install_as(scene, name);
    }
    install_spawner(scene);
}

/// The real one: it is no daemon, and turns are started from nothing else.
fn install_spawner(scene: &Scene) {
    let name = "openclaw-sandbox";
    let built = Path::new(env!("CARGO_BIN_EXE_openclawctl")).with_file_name(name);
    assert!(built.exists(), "build it first: cargo build -p {name}");
    let script = format!("#!/bin/sh\nexec '{}' \"$@\"\n", built.display());
    write_program(scene, name, &script);
}

fn install_as(scene: &Scene, name: &str) {
    let program = env::current_exe().unwrap();
    let script = format!(
        "#!/bin/sh\nSTAND_IN={name} exec '{}' --exact stand_in::serve --ignored --nocapture\n",
        program.display()
    );
    write_program(scene, name, &script);
}

/// Puts `script` in the place of the daemon `name`.
pub(crate) fn write_program(scene: &Scene, name: &str, script: &str) {
    let path = scene.programs().join(name);
    // Renamed into place: a script that is being run must not change.
    let new = path.with_extension("new");
    fs::write(&new, script).unwrap();
    fs::set_permissions(&new, fs::Permissions::from_mode(0o755)).unwrap();
    fs::rename(new, path).unwrap();
}

/// Asks the stand-in at `socket` one thing.
pub(crate) fn ask(socket: &Path, question: &str) -> String {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream
        .write_all(format!("{question}\n").as_bytes())
        .unwrap();
    let mut answer = String::new();
    // Reset when the stand-in died of the question.
    let _ = stream.read_to_string(&mut answer);
    answer
}

#[test]
#[ignore = "the stand-in that the supervisor's tests start"]
fn serve() {
    let Ok(name) = env::var("STAND_IN") else {
        return;
    };
    let mut passed = ListenFd::from_env();
    let listener: UnixListener = passed.take_unix_listener(0).unwrap().expect("a socket");
    assert!(env::var("LISTEN_FDNAMES").unwrap().starts_with("control"));
    eprintln!(
        r#"{{"timestamp":"2025-01-01T00:00:00.000Z","level":"info","message":"{name} serves","context":{{}}}}"#
    );
    let notify = UnixDatagram::unbound().unwrap();
    notify
        .send_to(b"READY=1", env::var("NOTIFY_SOCKET").unwrap())
        .unwrap();
    for stream in listener.incoming() {
        answer(stream.unwrap());
    }
}

fn answer(mut stream: UnixStream) {
    let mut line = String::new();
    BufReader::new(&stream).read_line(&mut line).unwrap();
    let mut words = line.split_whitespace();
    match (words.next(), words.next()) {
        (Some("pid"), _) => write!(stream, "{}", std::process::id()).unwrap(),
        (Some("environment"), Some(name)) => {
            write!(stream, "{}", env::var(name).unwrap_or_default()).unwrap();
        }
        (Some("descriptors"), _) => write!(stream, "{}", open_descriptors()).unwrap(),
        (Some("exit"), Some(code)) =>
        {
            #[expect(clippy::disallowed_methods, reason = "ends the way the test wants it")]
            std::process::exit(code.parse().unwrap())
        }
        // A look whether somebody answers.
        _ => {}
    }
}

/// Descriptors that were inherited beyond the socket.
fn open_descriptors() -> String {
    let mut names: Vec<String> = fs::read_dir("/proc/self/fd")
        .unwrap()
        .filter_map(|entry| fs::read_link(entry.unwrap().path()).ok())
        .map(|target| target.display().to_string())
        .collect();
    names.sort();
    names.join("\n")
}
