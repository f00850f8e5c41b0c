//! `doctor`: what is promised, whether it holds, and how to mend it.

use std::process::ExitCode;

use openclaw_config::{Environment, Paths};
use openclaw_doctor::{Check, State};
use openclaw_settings::Settings;
use openclaw_terminal::painted::Painted;
use openclaw_terminal::{Failure, output};
use serde::Serialize;

use crate::cli;
use crate::run;
use openclaw_connection as connection;
use openclaw_status as status;

mod answers;
mod channels;
mod jobs;
mod ports;

/// Something that was to be mended.
#[derive(Debug, Serialize)]
struct Mended {
    /// The check that found it.
    name: String,
    /// What was done, or why it was not.
    detail: String,
    done: bool,
}

/// Prints every check; exit code 1 when one failed. With `--fix` what can be
/// mended is mended first.
pub(crate) fn execute(
    arguments: &cli::Doctor,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    connection::root_alone("doctor", environment)?;
    let paths = Paths::resolve(environment)?;
    let mut checks = all(&paths, environment)?;
    let mut mended = Vec::new();
    if arguments.fix {
        mended = mend(&checks, &paths, environment);
        if !mended.is_empty() {
            checks = all(&paths, environment)?;
        }
    }
    if arguments.json {
        let mut document = serde_json::json!({ "checks": checks });
        if arguments.fix {
            document["mended"] = serde_json::json!(mended);
        }
        output::document(&document)?;
    } else {
        if arguments.fix {
            output::stdout(&rendered(&mended))?;
        }
        let mut text = Painted::for_stdout();
        openclaw_doctor::paint(&checks, &mut text);
        text.print()?;
    }
    let failed = checks.iter().any(|check| check.state == State::Fail);
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Mends what can be; what one does may be what another was to do.
fn mend(checks: &[Check], paths: &Paths, environment: &Environment) -> Vec<Mended> {
    let mut mended: Vec<Mended> = Vec::new();
    for check in checks {
        let Some(mend) = &check.mend else {
            continue;
        };
        let (detail, done) = match openclaw_doctor::mend(mend, paths, environment) {
            Ok(detail) => (detail, true),
            Err(error) => (format!("{error:#}"), false),
        };
        mended.push(Mended {
            name: check.name.clone(),
            detail,
            done,
        });
    }
    mended
}

/// One line for each, before the checks as they are then.
fn rendered(mended: &[Mended]) -> String {
    if mended.is_empty() {
        return "there is nothing that could be mended by itself\n\n".to_owned();
    }
    let mut text = String::new();
    for Mended { name, detail, done } in mended {
        let word = if *done { "mended" } else { "not mended" };
        let (name, detail) = (output::line(name), output::line(detail));
        text.push_str(&format!("{word}: {name}: {detail}\n"));
    }
    text.push('\n');
    text
}

fn all(paths: &Paths, environment: &Environment) -> Result<Vec<Check>, Failure> {
    let (settings, check) = configuration(paths, environment);
    let mut checks = vec![check];
    checks.extend(settings.iter().flat_map(unused));
    checks.extend(openclaw_doctor::installation(paths, environment));
    // Whoever is at rest is started by being asked, which is said.
    let (processes, suite, jobs) = connection::runtime()?.block_on(async {
        let processes = status::processes(paths, environment).await;
        let suite = status::ask(paths).await;
        (processes, suite, jobs::not_run(paths).await)
    });
    checks.extend(answers::daemons(&suite, &processes));
    if let Some(settings) = &settings {
        checks.extend(openclaw_doctor::configured(settings, environment));
    }
    // The daemons have what `run` was given besides.
    let theirs = run::environment(paths, environment);
    if let Ok(settings) = openclaw_settings::load(&theirs) {
        checks.extend(ports::opened(&settings, &theirs, &suite));
    }
    checks.extend(answers::left_undone(&suite));
    checks.extend(jobs);
    checks.extend(channels::accounts(&suite));
    checks.extend(answers::models(&suite));
    checks.extend(answers::servers(&suite));
    checks.extend(answers::confinements(&suite));
    Ok(checks)
}

/// Keys that have no effect are no fault: nothing that they would restrict is
/// among them.
fn unused(settings: &Settings) -> impl Iterator<Item = Check> + '_ {
    let unused = settings.unused.iter();
    unused.map(|unused| Check::ok("keys of the file", unused.to_string()))
}

fn configuration(paths: &Paths, environment: &Environment) -> (Option<Settings>, Check) {
    const NAME: &str = "configuration";
    let file = paths.configuration.display();
    match openclaw_settings::load(environment) {
        Ok(settings) => {
            if let Some(check) = doubtful(&settings, environment) {
                return (Some(settings), check);
            }
            let detail = if paths.configuration.exists() {
                format!("{file} is sound")
            } else {
                format!("no {file}: defaults are used")
            };
            (Some(settings), Check::ok(NAME, detail))
        }
        Err(error) => {
            let problem = Failure::from(error).text();
            let check = Check::fail(NAME, problem, "correct the place that is named");
            (None, check)
        }
    }
}

/// What the file has that is not used, although nothing in it is wrong as such.
fn doubtful(settings: &Settings, environment: &Environment) -> Option<Check> {
    let order = settings
        .clone()
        .with_credentials(environment, &Default::default());
    let order = order.map(|it| it.order_problems).unwrap_or_default();
    let faults = settings.provider_faults.values().cloned();
    let all: Vec<String> = faults.chain(order).collect();
    let fix = "correct what is named; `openclawctl config validate` says where it is";
    (!all.is_empty()).then(|| Check::warn("configuration", all.join("; "), fix))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn configuration_with_what_nobody_can_use_is_not_called_sound() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let environment: Environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
        let paths = Paths::resolve(&environment).unwrap();
        for (file, state, said) in [
            ("{}", State::Ok, "is sound"),
            (
                "{models: {providers: {weird: {baseUrl: 'http://a', api: 'telepathy-v3'}}}}",
                State::Warn,
                "telepathy-v3",
            ),
            (
                "{auth: {order: {anthropic: ['nobody-has-it']}}}",
                State::Warn,
                "nobody-has-it",
            ),
        ] {
            fs::write(&paths.configuration, file).unwrap();
            let (settings, check) = configuration(&paths, &environment);
            assert!(settings.is_some(), "{file}");
            assert_eq!(check.state, state, "{file}");
            assert!(check.detail.contains(said), "{check:?}");
        }
    }

    #[test]
    fn doctor_mends_once_and_then_there_is_nothing_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        fs::create_dir(&state).unwrap();
        fs::set_permissions(&state, Permissions::from_mode(0o755)).unwrap();
        let places = [
            ("OPENCLAW_STATE_DIR", state.to_str().unwrap()),
            ("OPENCLAW_RUNTIME_DIR", folder.path().to_str().unwrap()),
        ];
        let environment: Environment = places.into_iter().collect();
        let paths = Paths::resolve(&environment).unwrap();
        let checks = all(&paths, &environment).unwrap();
        let mended = mend(&checks, &paths, &environment);
        assert!(mended.iter().all(|it| it.done), "{mended:?}");
        assert_eq!(mended[0].name, "state");
        assert!(
            rendered(&mended).starts_with("mended: state: "),
            "{mended:?}"
        );
        let mode = fs::metadata(&state).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let checks = all(&paths, &environment).unwrap();
        let again = mend(&checks, &paths, &environment);
        assert!(again.is_empty(), "{again:?}");
        assert!(rendered(&again).starts_with("there is nothing"));
    }
}
