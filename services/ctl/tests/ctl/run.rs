//! `openclawctl run`.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::scene::{DEADLINE, Running, Scene, text};
use crate::stand_in::{ask, install, write_program};

const DAEMONS: [&str; 3] = ["gateway", "runner", "memory"];

fn started(scene: &Scene) -> Running {
    install(scene);
    let running = scene.start(&["run"]);
    let line = running.stdout.until("ready");
    let expected = format!(
        "openclaw is ready: gateway {}\n",
        scene.socket("gateway").display()
    );
    assert_eq!(line, expected);
    running
}

fn pid(scene: &Scene, daemon: &str) -> Pid {
    Pid::from_raw(ask(&scene.socket(daemon), "pid").parse().unwrap())
}

/// Waits until the process has ended; it is not this one's child.
fn wait_for_end(pid: Pid) {
    let until = std::time::Instant::now() + DEADLINE;
    while kill(pid, None).is_ok() && !is_zombie(pid) {
        assert!(std::time::Instant::now() < until, "{pid} does not end");
        std::thread::yield_now();
    }
}

/// Nobody may have asked for its exit code. As long as it has other threads
/// it is still there: one of them may yet take a connection.
fn is_zombie(pid: Pid) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
    threads <= 1 && stat.is_ok_and(|stat| stat.contains(") Z "))
}

#[test]
fn daemons_get_their_sockets_and_nothing_is_left() {
    let scene = Scene::new();
    let running = started(&scene);
    assert_eq!(mode(&scene.runtime()), 0o700);
    let mut pids = Vec::new();
    for daemon in DAEMONS {
        assert_eq!(mode(&scene.socket(daemon)), 0o600);
        pids.push(pid(&scene, daemon));
    }
    running.stderr.until("openclaw-gateway serves");
    running.signal(Signal::SIGTERM);
    assert_eq!(running.wait().code(), Some(0));
    for pid in pids {
        assert!(kill(pid, None).is_err(), "{pid} still runs");
    }
    assert_eq!(fs::read_dir(scene.runtime()).unwrap().count(), 0);
}

#[test]
fn killed_daemon_comes_back_and_its_clients_only_wait() {
    let scene = Scene::new();
    let running = started(&scene);
    for daemon in DAEMONS {
        let before = pid(&scene, daemon);
        kill(before, Signal::SIGKILL).unwrap();
        wait_for_end(before);
        // The socket is still there: this waits instead of failing.
        assert_ne!(pid(&scene, daemon), before);
    }
    running.stderr.until("was killed by signal 9");
}

#[test]
fn configuration_error_of_a_daemon_ends_everything_with_its_code() {
    for code in [78, 64] {
        let scene = Scene::new();
        let running = started(&scene);
        let gateway = pid(&scene, "gateway");
        ask(&scene.socket("memory"), &format!("exit {code}"));
        running.stderr.until(&format!("exit code {code}"));
        assert_eq!(running.wait().code(), Some(code));
        assert!(kill(gateway, None).is_err());
    }
}

#[test]
fn run_other_exit_codes_are_started_again() {
    let scene = Scene::new();
    let running = started(&scene);
    for code in [0, 1] {
        ask(&scene.socket("runner"), &format!("exit {code}"));
        let line = running.stderr.until("agent-runner: ended with");
        assert!(line.contains(&format!("exit code {code}")), "{line}");
        pid(&scene, "runner");
    }
}

#[test]
fn program_that_cannot_start_is_tried_again_until_it_can() {
    let scene = Scene::new();
    install(&scene);
    write_program(&scene, "openclaw-memory", "#!/nonexistent\n");
    let running = scene.start(&["run"]);
    running.stderr.until("memory: ended with exit code 1");
    install(&scene);
    running.stdout.until("openclaw is ready");
}

#[test]
fn run_there_is_only_one_and_stop_ends_it() {
    let scene = Scene::new();
    let running = started(&scene);
    let second = scene.run(&["run"]);
    assert_eq!(second.status.code(), Some(3));
    let stderr = text(&second.stderr);
    assert!(
        stderr.contains(&format!("process {}", running.pid())),
        "{stderr}"
    );

    let stop = scene.run(&["run", "--stop"]);
    assert_eq!(text(&stop.stdout), "openclawctl run has ended\n");
    assert!(stop.status.success());
    assert!(!scene.socket("gateway").exists());
    assert_eq!(running.wait().code(), Some(0));

    let again = scene.run(&["run", "--stop"]);
    assert_eq!(text(&again.stdout), "openclawctl run is not running\n");
    assert!(again.status.success());
}

#[test]
fn daemons_do_not_outlive_a_killed_supervisor() {
    let scene = Scene::new();
    let running = started(&scene);
    let pids = DAEMONS.map(|daemon| pid(&scene, daemon));
    running.signal(Signal::SIGKILL);
    drop(running);
    for pid in pids {
        wait_for_end(pid);
    }
    // What it left behind is cleaned up by the next one.
    assert!(scene.socket("gateway").exists());
    let next = started(&scene);
    pid(&scene, "gateway");
    drop(next);
}

#[test]
fn sockets_of_somebody_else_are_left_alone() {
    let scene = Scene::new();
    install(&scene);
    fs::create_dir(scene.runtime()).unwrap();
    let _other = std::os::unix::net::UnixListener::bind(scene.socket("gateway")).unwrap();
    let refused = scene.run(&["run"]);
    assert_eq!(refused.status.code(), Some(3));
    let stderr = text(&refused.stderr);
    assert!(stderr.contains("somebody answers at"), "{stderr}");
    assert!(
        stderr.contains("systemctl --user stop openclaw.target"),
        "{stderr}"
    );
    assert!(scene.socket("gateway").exists());
    assert!(!scene.socket("memory").exists());
}

#[test]
fn run_only_the_runner_is_given_the_credentials_file() {
    let scene = Scene::new();
    fs::create_dir_all(scene.state().join(".config/openclaw")).unwrap();
    fs::write(
        scene.state().join(".config/openclaw/env"),
        "MODEL_KEY=secret\n",
    )
    .unwrap();
    let _running = started(&scene);
    let key = |daemon: &str| ask(&scene.socket(daemon), "environment MODEL_KEY");
    assert_eq!(key("runner"), "secret");
    assert_eq!(key("gateway"), "");
    assert_eq!(key("memory"), "");
}

#[test]
fn descriptors_of_the_caller_are_not_passed_on() {
    let scene = Scene::new();
    install(&scene);
    let secret = scene.state().join("secret");
    fs::write(&secret, "").unwrap();
    #[expect(clippy::disallowed_methods, reason = "a caller with open descriptors")]
    let mut shell = std::process::Command::new("/bin/sh");
    let program = env!("CARGO_BIN_EXE_openclawctl");
    let direct = scene.command(&[]);
    for (name, value) in direct.get_envs() {
        shell.env(name, value.unwrap_or_default());
    }
    let script = format!("exec '{program}' run 3<'{}'", secret.display());
    let running = Running::new(
        shell
            .args(["-c", &script])
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap(),
    );
    running.stdout.until("openclaw is ready");
    let open = ask(&scene.socket("gateway"), "descriptors");
    assert!(!open.contains("secret"), "{open}");
}

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}
