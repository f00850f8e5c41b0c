//! Keys that the service manager decrypts for the agent-runner, which is not started
//! where one of them cannot be.

use openclaw_config::{Environment, Paths};
use openclaw_sealed::{Sealed, Store};

use crate::check::Check;

/// One check for each.
pub(crate) fn encrypted(paths: &Paths, environment: &Environment) -> Vec<Check> {
    let Some(store) = Store::of(paths, environment) else {
        return Vec::new();
    };
    let all = store.list();
    all.iter().map(|sealed| check(&store, sealed)).collect()
}

fn check(store: &Store<'_>, sealed: &Sealed) -> Check {
    let Sealed {
        agent,
        provider,
        file,
    } = sealed;
    let name = format!("key of {agent}");
    let file = file.display();
    let problem = match store.read(sealed) {
        Some(_) => return Check::ok(name, format!("{provider}: encrypted in {file}")),
        None if sealed.file.exists() => "cannot be decrypted on this machine",
        None => "is not there",
    };
    Check::fail(
        name,
        format!("{file} {problem}: the agent-runner does not start (243/CREDENTIALS)"),
        format!(
            "openclawctl auth remove {provider}:default --agent {agent}, then openclawctl auth add \
             {provider} --agent {agent}"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::State;

    #[test]
    fn key_that_is_gone_keeps_the_runner_from_starting() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_str().unwrap();
        let environment: Environment = [("HOME", home)].into_iter().collect();
        let paths = Paths::resolve(&environment).unwrap();
        assert!(encrypted(&paths, &environment).is_empty());
        let unit = ".config/systemd/user/openclaw-agent-runner.service.d";
        std::fs::create_dir_all(folder.path().join(unit)).unwrap();
        let line = format!(
            "[Service]\nLoadCredentialEncrypted=openclaw-profile.main.anthropic:{home}/gone\n"
        );
        std::fs::write(folder.path().join(unit).join("60-keys.conf"), line).unwrap();
        let checks = encrypted(&paths, &environment);
        assert_eq!(checks.len(), 1);
        assert_eq!(checks[0].state, State::Fail);
        assert!(
            checks[0].detail.contains("/gone is not there"),
            "{checks:?}"
        );
    }
}
