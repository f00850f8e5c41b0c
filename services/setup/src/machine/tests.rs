use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::State;

/// Answers every question the same way.
struct Always(bool);

impl Person for Always {
    fn agrees(&mut self, _question: &str) -> bool {
        self.0
    }
}

/// A machine whose programs note how they were called.
struct Scene(tempfile::TempDir);

impl Scene {
    fn new() -> Self {
        let scene = Self(tempfile::tempdir().unwrap());
        for folder in ["home", "bin", "run/user/systemd", BOOTED, LINGERING] {
            fs::create_dir_all(scene.at(folder)).unwrap();
        }
        fs::write(scene.at("run/user/systemd/private"), "").unwrap();
        fs::write(scene.at("run/user/bus"), "").unwrap();
        scene
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A program that notes its arguments, and then does `line`.
    fn program(&self, name: &str, line: &str) {
        let path = self.at("bin").join(name);
        let calls = self.at("calls");
        let text = format!(
            "#!/bin/sh\necho {name} \"$@\" >>'{}'\n{line}\n",
            calls.display()
        );
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn calls(&self) -> String {
        fs::read_to_string(self.at("calls")).unwrap_or_default()
    }

    fn with<T>(&self, act: impl FnOnce(&Machine<'_>) -> T) -> T {
        let place = |name: &str| self.at(name).display().to_string();
        let variables = [
            ("PATH", place("bin")),
            ("XDG_RUNTIME_DIR", place("run/user")),
        ];
        let environment: Environment = variables
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let home = self.at("home");
        let mut machine = Machine::new(&environment, Some(&home));
        machine.root = self.0.path().to_owned();
        act(&machine)
    }
}

#[test]
fn machine_adds_its_programs_to_the_path_once() {
    let scene = Scene::new();
    let program = scene.at("home/opt/bin/openclawctl");
    let path = |agrees| scene.with(|machine| machine.path(&program, &mut Always(agrees)));
    let profile = scene.at("home/.profile");
    fs::write(&profile, "umask 022\n").unwrap();
    let declined = path(false);
    assert_eq!(declined.state, State::Skipped, "{declined:?}");
    assert!(declined.fix.unwrap().contains("export PATH="));
    assert_eq!(path(true).state, State::Done);
    let text = fs::read_to_string(&profile).unwrap();
    assert!(
        text.starts_with("umask 022\n") && text.contains("home/opt/bin':"),
        "{text}"
    );
    assert_eq!(path(true).state, State::Ok);
    assert_eq!(fs::read_to_string(&profile).unwrap(), text);
    scene.program("openclawctl", "");
    assert_eq!(path(true).state, State::Ok);
}

#[test]
fn machine_keeps_its_manager_when_the_user_goes() {
    let scene = Scene::new();
    let user = service_manager::user().unwrap();
    let linger = |agrees| scene.with(|machine| machine.linger(&mut Always(agrees)));
    let missing = linger(true);
    assert_eq!(missing.state, State::Failed);
    assert!(missing.detail.contains("loginctl") && missing.fix.unwrap().contains("enable-linger"));
    scene.program("loginctl", "echo Access denied >&2; exit 1");
    assert_eq!(linger(false).state, State::Skipped);
    assert_eq!(scene.calls(), "", "nobody agreed");
    let refused = linger(true);
    assert!(refused.detail.ends_with("Access denied"), "{refused:?}");
    let note = scene.at(LINGERING).join(&user);
    scene.program("loginctl", &format!("touch '{}'", note.display()));
    assert_eq!(linger(true).state, State::Done);
    assert_eq!(linger(true).state, State::Ok);
    let called = format!("loginctl enable-linger {user}\n");
    assert!(scene.calls().ends_with(&called), "{}", scene.calls());
    fs::remove_dir(scene.at(BOOTED)).unwrap();
    assert_eq!(linger(true).state, State::Skipped);
}

#[test]
fn machine_has_a_bus_or_says_how_to_get_one() {
    let scene = Scene::new();
    assert_eq!(scene.with(|machine| machine.bus()).state, State::Ok);
    fs::remove_file(scene.at("run/user/bus")).unwrap();
    let missing = scene.with(|machine| machine.bus());
    assert_eq!(missing.state, State::Failed);
    assert!(missing.fix.unwrap().contains("dbus-user-session"));
    fs::remove_file(scene.at("run/user/systemd/private")).unwrap();
    let without = scene.with(|machine| machine.bus());
    assert_eq!(without.state, State::Skipped, "{without:?}");
}

#[test]
fn machine_starts_the_units_that_are_installed() {
    let scene = Scene::new();
    let units = |answers| scene.with(|machine| machine.units(answers));
    assert_eq!(units(false).state, State::Failed, "no systemctl");
    assert_eq!(units(true).state, State::Ok, "somebody runs it");
    let started = scene.at("started");
    let started = started.display();
    scene.program(
        "systemctl",
        &format!("case $2 in cat) ;; enable) touch '{started}' ;; *) test -e '{started}' ;; esac"),
    );
    assert_eq!(units(false).state, State::Done);
    assert!(
        scene
            .calls()
            .ends_with("systemctl --user enable --quiet --now openclaw.target\n")
    );
    assert_eq!(units(true).state, State::Ok);
    scene.program(
        "systemctl",
        "case $2 in cat) ;; enable) echo no such bus >&2; exit 1 ;; *) exit 3 ;; esac",
    );
    let failed = units(false);
    assert_eq!(failed.state, State::Failed);
    assert!(failed.detail.contains("no such bus"), "{failed:?}");
}
