//! `sockets`: systemd's units in line with the configuration. A unit file cannot
//! read `gateway.port`, nor where workspaces are, so what differs from the units
//! as shipped is written into drop-ins.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use openclaw_config::Environment;
use openclaw_settings::{Gateway, Settings};
use openclaw_terminal::{Failure, output};

mod arguments;
mod channels;
mod memory;
mod port;
mod state;
mod unit_text;
mod units;

pub use arguments::{Port, Sockets};
use unit_text::{DROP_IN, socket};
use units::Units;

/// What the units as shipped listen at.
const MAIN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 18789);
const CLI: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);
/// Writes the drop-ins, or says which would be written.
pub fn execute(arguments: &Sockets, environment: &Environment) -> Result<ExitCode, Failure> {
    if let Some(wanted) = arguments.port {
        port::choose(wanted, arguments.keep_set, environment)?;
    }
    let changed = bring_in_line(environment, arguments.check, output::stdout_line)?;
    match (changed, arguments.check) {
        (false, _) => output::stdout_line("the units are as configured")?,
        (true, true) => {
            return Err(
                Failure::new("the units are not as configured").hint("run: openclawctl sockets")
            );
        }
        (true, false) => output::stdout_line(
            "now: systemctl --user daemon-reload && \
             systemctl --user restart openclaw.target 'openclaw-*.socket'",
        )?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Brings the units in line with the configuration, or only tells what is not, as
/// `told` has it; whether anything is not.
pub fn bring_in_line(
    environment: &Environment,
    check: bool,
    told: impl Fn(&str) -> Result<(), Failure>,
) -> Result<bool, Failure> {
    let settings = openclaw_settings::load(environment)?;
    let paths = settings.paths.clone();
    let units = Units::of(&paths, environment)
        .ok_or_else(|| Failure::new("no folder for units: set HOME or XDG_CONFIG_HOME"))?;
    let mut drop_ins = of_services(&settings, &units)?;
    let accounts = channels::accounts(&settings, &units);
    for unit in channels::gone(&accounts, &units)? {
        drop_ins.push((unit, None));
    }
    let making = state::making(&settings.paths)?;
    let workspaces = memory::granted(&settings);
    let gateway = settings
        .with_gateway_secrets(environment, &BTreeMap::new())?
        .gateway;
    drop_ins.extend(wanted(&gateway, making.as_deref())?);
    let mut changed = false;
    for (unit, wanted) in drop_ins {
        let path = units.drop_in(&unit, DROP_IN);
        if found(&path)? == wanted {
            continue;
        }
        changed = true;
        if !check {
            if unit == memory::UNIT {
                memory::make(&workspaces)?;
            }
            bring(&path, wanted.as_deref())?;
        }
        told(&match (&wanted, check) {
            (Some(_), false) => format!("wrote {}", path.display()),
            (Some(_), true) => format!("{} is not as configured", path.display()),
            (None, false) => format!("removed {}", path.display()),
            (None, true) => format!("{} is not needed any more", path.display()),
        })?;
    }
    for account in &accounts {
        changed |= bring_account(account, &units, check, &told)?;
    }
    Ok(changed)
}

/// Starts an account's daemon with the suite, or not; whether that was to be
/// changed.
fn bring_account(
    account: &channels::Account,
    units: &Units<'_>,
    check: bool,
    told: &impl Fn(&str) -> Result<(), Failure>,
) -> Result<bool, Failure> {
    if !check && account.is_on {
        // The unit is not started without it.
        memory::make(std::slice::from_ref(&account.folder))?;
    }
    if channels::is_linked_right(account, units) {
        return Ok(false);
    }
    if !check {
        channels::link(account, units)?;
    }
    let (unit, is_on) = (&account.unit, account.is_on);
    told(&match (is_on, check) {
        (true, false) => format!("openclaw.target starts {unit} from now on"),
        (true, true) => format!("openclaw.target does not start {unit}"),
        (false, false) => format!("openclaw.target does not start {unit} any more"),
        (false, true) => format!("openclaw.target starts {unit}, which is off"),
    })?;
    Ok(true)
}

/// The drop-in of each service and socket that says where the state is, and what
/// else it may see.
fn of_services(
    settings: &Settings,
    units: &Units<'_>,
) -> Result<Vec<(String, Option<String>)>, Failure> {
    let mut drop_ins = vec![(memory::UNIT.to_owned(), memory::wanted(settings, units)?)];
    for unit in state::UNITS {
        let wanted = state::wanted(&settings.paths, unit, units)?;
        drop_ins.push((unit.to_owned(), wanted));
    }
    for unit in state::SOCKETS {
        drop_ins.push((unit.to_owned(), state::socket(&settings.paths)?));
    }
    for account in channels::accounts(settings, units) {
        let wanted = channels::wanted(&settings.paths, &account, units)?;
        drop_ins.push((account.unit, wanted));
    }
    Ok(drop_ins)
}

/// Whether the services' units say where the state is, grant what the
/// configuration does, and start the channels that are on. Where that cannot be read, something else says so.
pub fn are_in_line(environment: &Environment) -> bool {
    let Ok(settings) = openclaw_settings::load(environment) else {
        return true;
    };
    let Some(units) = Units::of(&settings.paths, environment) else {
        return true;
    };
    // Where no unit is installed, `openclawctl run` takes their place.
    if !openclaw_doctor::has_unit(memory::UNIT, &settings.paths, environment) {
        return true;
    }
    let is_in_line = |(unit, wanted): &(String, Option<String>)| {
        let path = units.drop_in(unit, DROP_IN);
        found(&path).map_or(true, |found| found == *wanted)
    };
    let accounts = channels::accounts(&settings, &units);
    let are_linked = accounts
        .iter()
        .all(|it| channels::is_linked_right(it, &units));
    let wanted = of_services(&settings, &units);
    are_linked && wanted.map_or(true, |all| all.iter().all(is_in_line))
}

/// The drop-in of each unit; none where the unit as shipped is right.
fn wanted(
    gateway: &Gateway,
    making: Option<&str>,
) -> Result<[(String, Option<String>); 2], Failure> {
    let main = SocketAddr::new(gateway.address, gateway.port);
    let cli = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), gateway.cli.port);
    if main.port() == 0 || cli.port() == 0 {
        return Err(Failure::new(
            "port 0 means any that is free, and clients would not find it under systemd",
        )
        .hint("set gateway.port and OPENCLAW_CLI_PORT to numbers"));
    }
    let lines = |address: Option<SocketAddr>| {
        let listen = address.map(listen).unwrap_or_default();
        listen + making.unwrap_or_default()
    };
    let main = lines((main != MAIN).then_some(main));
    let main = (!main.is_empty()).then(|| socket("", &main));
    let has_secret = gateway.cli.secret.is_some();
    // An empty line takes all conditions of the unit back (systemd.unit(5)):
    // the secret is where systemd does not see it.
    let head = if has_secret {
        "[Unit]\nConditionEnvironment=\n"
    } else {
        ""
    };
    let cli = lines((has_secret && cli != CLI).then_some(cli));
    let cli = (has_secret || !cli.is_empty()).then(|| socket(head, &cli));
    Ok([
        ("openclaw-gateway.socket".to_owned(), main),
        ("openclaw-cli.socket".to_owned(), cli),
    ])
}

/// The empty line takes the unit's own address back (systemd.socket(5)).
fn listen(address: SocketAddr) -> String {
    format!("ListenStream=\nListenStream={address}\n")
}

fn found(path: &Path) -> Result<Option<String>, Failure> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error)
            .with_context(|| format!("cannot read {}", path.display()))
            .map_err(Failure::from),
    }
}

fn bring(path: &Path, wanted: Option<&str>) -> Result<(), Failure> {
    let Some(text) = wanted else {
        return fs::remove_file(path)
            .with_context(|| format!("cannot remove {}", path.display()))
            .map_err(Failure::from);
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    // Whole or not at all: systemd may read it at any time.
    let write = || -> anyhow::Result<()> {
        fs::create_dir_all(folder)?;
        let aside = path.with_extension("conf.new");
        let mut file = fs::File::create(&aside)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        Ok(fs::rename(aside, path)?)
    };
    write()
        .with_context(|| format!("cannot write {}", path.display()))
        .map_err(Failure::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Scene(tempfile::TempDir);

    impl Scene {
        fn run(&self, check: bool, variables: &[(&str, &str)]) -> Result<ExitCode, Failure> {
            let home = self.0.path().to_str().unwrap();
            let environment = [("HOME", home)]
                .into_iter()
                .chain(variables.iter().copied());
            let arguments = Sockets {
                check,
                port: None,
                keep_set: false,
            };
            execute(&arguments, &environment.collect())
        }

        fn move_to(&self, port: Port, keep_set: bool) -> Result<ExitCode, Failure> {
            let home = self.0.path().to_str().unwrap();
            let run = self.0.path().join("run");
            let run = [
                ("HOME", home),
                ("OPENCLAW_RUNTIME_DIR", run.to_str().unwrap()),
            ];
            let arguments = Sockets {
                check: false,
                port: Some(port),
                keep_set,
            };
            execute(&arguments, &run.into_iter().collect())
        }

        fn port(&self) -> u64 {
            let file = self.0.path().join(".openclaw/openclaw.json");
            let text = fs::read_to_string(file).unwrap();
            serde_json::from_str::<serde_json::Value>(&text).unwrap()["gateway"]["port"]
                .as_u64()
                .unwrap()
        }

        fn drop_in(&self, unit: &str) -> Option<String> {
            let folder = self.0.path().join(".config/systemd/user");
            fs::read_to_string(folder.join(format!("{unit}.d")).join(DROP_IN)).ok()
        }
    }

    #[test]
    fn services_are_told_of_another_state_folder() {
        let scene = Scene(tempfile::tempdir().unwrap());
        let units = scene.0.path().join(".config/systemd/user");
        for unit in ["openclaw-gateway.service", "openclaw-memory.service"] {
            let folder = units.join(format!("{unit}.d"));
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(units::CONFINING), "").unwrap();
        }
        let all = [
            "openclaw-gateway.service",
            "openclaw-agent-runner.service",
            "openclaw-memory.service",
        ];
        scene.run(true, &[]).unwrap();
        let chosen = [("OPENCLAW_STATE_DIR", "/srv/my claw 5%")];
        scene.run(false, &chosen).unwrap();
        for unit in all {
            let text = scene.drop_in(unit).unwrap();
            let line = "Environment=\"OPENCLAW_STATE_DIR=/srv/my claw 5%%\"\n";
            assert!(text.contains(line), "{unit}: {text}");
        }
        let gateway = scene.drop_in(all[0]).unwrap();
        assert!(
            gateway.contains("BindPaths=\"-/srv/my claw 5%%\"\n"),
            "{gateway}"
        );
        let memory = scene.drop_in(all[2]).unwrap();
        assert!(
            memory.contains("ReadWritePaths=\"-/srv/my claw 5%%\"\n"),
            "{memory}"
        );
        assert!(
            memory.contains("ReadOnlyPaths=\"-/srv/my claw 5%%/agents\"\n"),
            "{memory}"
        );

        let schedule = scene.drop_in("openclaw-schedule.service").unwrap();
        let condition =
            "ConditionPathExists=\nConditionPathExists=/srv/my claw 5%%/state/scheduled\n";
        assert!(schedule.contains(condition), "{schedule}");

        let sockets = ["memory", "control", "gateway", "cli"];
        let sockets = sockets.map(|name| format!("openclaw-{name}.socket"));
        let line =
            "[Socket]\nExecStartPre=\nExecStartPre=/bin/mkdir -p -m 0700 \"/srv/my claw 5%%\"\n";
        for unit in &sockets {
            let text = scene.drop_in(unit).unwrap();
            assert!(text.ends_with(line), "{unit}: {text}");
        }

        // A folder of an earlier name, which is found without a variable.
        scene.run(false, &[]).unwrap();
        assert!(all.iter().all(|unit| scene.drop_in(unit).is_none()));
        assert!(sockets.iter().all(|unit| scene.drop_in(unit).is_none()));
        fs::create_dir(scene.0.path().join(".clawdbot")).unwrap();
        scene.run(false, &[]).unwrap();
        assert!(scene.drop_in(all[1]).unwrap().contains("/.clawdbot\"\n"));
    }

    #[test]
    fn drop_ins_come_and_go_with_the_configuration() {
        let scene = Scene(tempfile::tempdir().unwrap());
        scene.run(true, &[]).unwrap();
        let chosen = [
            ("OPENCLAW_GATEWAY_PORT", "19000"),
            ("OPENCLAW_CLI_SECRET", "s"),
            ("OPENCLAW_CLI_PORT", "9090"),
        ];
        scene.run(true, &chosen).unwrap_err();
        assert_eq!(
            scene.drop_in("openclaw-gateway.socket"),
            None,
            "only looked"
        );
        scene.run(false, &chosen).unwrap();
        scene.run(true, &chosen).unwrap();
        let main = scene.drop_in("openclaw-gateway.socket").unwrap();
        assert!(
            main.ends_with("[Socket]\nListenStream=\nListenStream=127.0.0.1:19000\n"),
            "{main}"
        );
        let cli = scene.drop_in("openclaw-cli.socket").unwrap();
        assert!(
            cli.contains("[Unit]\nConditionEnvironment=\n[Socket]"),
            "{cli}"
        );
        scene.run(false, &[("OPENCLAW_CLI_SECRET", "s")]).unwrap();
        assert_eq!(scene.drop_in("openclaw-gateway.socket"), None);
        assert!(
            !scene
                .drop_in("openclaw-cli.socket")
                .unwrap()
                .contains("ListenStream")
        );
        scene.run(false, &[]).unwrap();
        assert_eq!(scene.drop_in("openclaw-cli.socket"), None);
    }

    #[test]
    fn channels_are_started_and_see_what_is_theirs() {
        const WORK: &str = "openclaw-telegram@work.service";
        const OWN: &str = "openclaw-telegram.service";
        let scene = Scene(tempfile::tempdir().unwrap());
        let home = scene.0.path();
        let units = home.join(".config/systemd/user");
        let state = home.join(".openclaw");
        fs::create_dir_all(&state).unwrap();
        let configure = |telegram: serde_json::Value| {
            let text = serde_json::json!({"channels": {"telegram": telegram}}).to_string();
            fs::write(state.join("openclaw.json"), text).unwrap();
        };
        let both = serde_json::json!({"botToken": "1:a", "accounts": {
            "default": {}, "work": {"tokenFile": "/srv/my tokens/5%"}}});
        configure(both.clone());
        scene.run(false, &[]).unwrap();
        assert!(
            !units.join("openclaw.target.wants").exists(),
            "not installed"
        );
        for unit in [OWN, "openclaw-telegram@.service"] {
            let dropins = units.join(format!("{unit}.d"));
            fs::create_dir_all(&dropins).unwrap();
            fs::write(units.join(unit), "").unwrap();
            fs::write(dropins.join(units::CONFINING), "").unwrap();
        }
        scene.run(true, &[]).unwrap_err();
        scene.run(false, &[]).unwrap();
        scene.run(true, &[]).unwrap();
        let link = |unit: &str| fs::read_link(units.join("openclaw.target.wants").join(unit));
        assert_eq!(link(OWN).unwrap(), units.join(OWN));
        assert_eq!(
            link(WORK).unwrap(),
            units.join("openclaw-telegram@.service")
        );
        assert!(state.join("state/channels/telegram/work").is_dir());
        assert_eq!(scene.drop_in(OWN), None, "the unit as shipped will do");
        let work = scene.drop_in(WORK).unwrap();
        let line = "[Service]\nBindReadOnlyPaths=\"-/srv/my tokens/5%%\"\n";
        assert!(work.ends_with(line), "{work}");

        let elsewhere = home.join("else where");
        fs::rename(&state, &elsewhere).unwrap();
        let place = elsewhere.to_str().unwrap();
        scene.run(false, &[("OPENCLAW_STATE_DIR", place)]).unwrap();
        let own = scene.drop_in(OWN).unwrap();
        for line in [
            format!(
                "ConditionPathExists=\nConditionPathExists={place}/state/channels/telegram/default\n"
            ),
            format!("Environment=\"OPENCLAW_STATE_DIR={place}\"\n"),
            format!("BindPaths=\"-{place}/state/channels/telegram/default\"\n"),
            format!("BindReadOnlyPaths=\"-{place}/credentials/telegram-default.token\"\n"),
        ] {
            assert!(own.contains(&line), "{line}: {own}");
        }

        fs::rename(&elsewhere, &state).unwrap();
        configure(serde_json::json!({"enabled": false, "botToken": "1:a"}));
        scene.run(false, &[]).unwrap();
        assert!(link(OWN).is_err(), "it is off");
        assert_eq!((scene.drop_in(OWN), scene.drop_in(WORK)), (None, None));
        configure(serde_json::json!({"tokenFile": "/srv/a:b"}));
        let refused = scene.run(false, &[]).unwrap_err().text();
        assert!(refused.contains("/srv/a:b"), "{refused}");
    }

    #[test]
    fn memory_may_write_in_workspaces_elsewhere() {
        let scene = Scene(tempfile::tempdir().unwrap());
        let home = scene.0.path();
        let workspace = home.join("my notes/100%");
        let state = home.join(".openclaw");
        fs::create_dir_all(&state).unwrap();
        let configuration = serde_json::json!({"agents": {
            "defaults": {"workspace": workspace},
            "list": [{"id": "own", "workspace": state.join("agents/own/w")},
                     {"id": "passing", "workspace": "/tmp/openclaw-sockets-test"},
                     {"id": "usual", "workspace": state.join("w")}],
        }});
        fs::write(state.join("openclaw.json"), configuration.to_string()).unwrap();
        scene.run(false, &[]).unwrap();
        assert_eq!(scene.drop_in(memory::UNIT), None, "nothing confines it");
        let shipped = home.join(".config/systemd/user/openclaw-memory.service.d");
        fs::create_dir_all(&shipped).unwrap();
        fs::write(shipped.join(units::CONFINING), "").unwrap();
        scene.run(true, &[]).unwrap_err();
        scene.run(false, &[]).unwrap();
        scene.run(true, &[]).unwrap();
        let written = scene.drop_in(memory::UNIT).unwrap();
        let state = state.display();
        let escaped = workspace.display().to_string().replace('%', "%%");
        for line in [
            format!("\"-{escaped}\""),
            format!("\"-{state}/agents/own/w\""),
            "BindPaths=\"-/tmp/openclaw-sockets-test\"".to_owned(),
        ] {
            assert!(written.contains(&line), "{line}: {written}");
        }
        assert!(!written.contains(&format!("{state}/w")), "{written}");
        assert!(workspace.is_dir(), "it is there when the unit starts");
        fs::remove_dir("/tmp/openclaw-sockets-test").unwrap();
        fs::write(home.join(".openclaw/openclaw.json"), "{}").unwrap();
        scene.run(false, &[]).unwrap();
        assert_eq!(scene.drop_in(memory::UNIT), None);
    }

    #[test]
    fn port_that_somebody_else_has_is_left_for_a_free_one_that_is_kept() {
        let scene = Scene(tempfile::tempdir().unwrap());
        let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let taken = other.local_addr().unwrap().port();
        let state = scene.0.path().join(".openclaw");
        fs::create_dir_all(&state).unwrap();
        let text = serde_json::json!({"gateway": {"port": taken}}).to_string();
        fs::write(state.join("openclaw.json"), text).unwrap();
        scene.move_to(Port::Auto, true).unwrap();
        assert_eq!(scene.port(), u64::from(taken), "it was set");
        scene.move_to(Port::Number(taken), false).unwrap_err();
        scene.move_to(Port::Auto, false).unwrap();
        let chosen = scene.port();
        assert_ne!(chosen, u64::from(taken));
        let written = scene.drop_in("openclaw-gateway.socket").unwrap();
        assert!(written.ends_with(&format!(":{chosen}\n")), "{written}");
        scene.move_to(Port::Auto, false).unwrap();
        assert_eq!(scene.port(), chosen, "it is free");
        drop(other);
        scene.move_to(Port::Number(taken), false).unwrap();
        assert_eq!(scene.port(), u64::from(taken));
    }

    #[test]
    fn sockets_any_port_is_none_for_systemd() {
        let scene = Scene(tempfile::tempdir().unwrap());
        let refused = scene
            .run(false, &[("OPENCLAW_GATEWAY_PORT", "0")])
            .unwrap_err();
        assert!(refused.text().contains("port 0"), "{}", refused.text());
    }
}
