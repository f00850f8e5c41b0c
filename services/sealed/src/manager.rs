//! What the user's service manager can, as it shows.

use std::path::Path;

use openclaw_config::Environment;
use openclaw_service_manager::{ask, ask_with, runtime, tell};

use crate::unsealed::Unsealed;

/// What reads the keys.
pub(crate) const UNIT: &str = "openclaw-agent-runner.service";
/// What starts it.
const SOCKET: &str = "openclaw-agent-runner.socket";
/// The first that encrypts for a user.
const FIRST: u32 = 256;

/// The user's manager.
#[derive(Debug)]
pub(crate) struct Manager<'a>(pub(crate) &'a Environment);

impl Manager<'_> {
    /// Its version, where it runs the suite of `state` and may be able to.
    pub(crate) fn of_suite(&self, state: &Path) -> Result<u32, Unsealed> {
        if runtime(self.0).is_none() {
            return Err(Unsealed::NoManager);
        }
        let other = || Unsealed::OtherSuite(state.to_owned());
        let show = ["--user", "show", "--property=Environment", "--value", UNIT];
        let said = ask("systemctl", &show, self.0)?;
        let wanted = format!("OPENCLAW_STATE_DIR={}", state.display());
        if !is_among(&wanted, said.output()) {
            return Err(other());
        }
        let is_active = ["--user", "is-active", "--quiet", SOCKET];
        tell("systemctl", &is_active, self.0).map_err(|_| other())?;
        let said = ask("systemctl", &["--version"], self.0)?;
        match version(said.output()) {
            Some(version) if version < FIRST => Err(Unsealed::Old(version)),
            Some(version) => Ok(version),
            None => Err(Unsealed::Refused("its version is not known".to_owned())),
        }
    }

    /// `text`, encrypted for this user of this machine.
    pub(crate) fn encrypted(&self, name: &str, text: &str) -> Result<String, Unsealed> {
        let name = format!("--name={name}");
        let encrypt = ["encrypt", "--user", &name, "-", "-"];
        let said = ask_with("systemd-creds", &encrypt, text.as_bytes(), self.0)?;
        if said.is_content() && !said.output().is_empty() {
            Ok(format!("{}\n", said.output()))
        } else {
            Err(Unsealed::Refused(said.complaint()))
        }
    }

    /// What is in `file`.
    pub(crate) fn decrypted(&self, name: &str, file: &Path) -> Option<String> {
        let name = format!("--name={name}");
        let decrypt = ["decrypt", "--user", &name, file.to_str()?, "-"];
        let said = ask("systemd-creds", &decrypt, self.0).ok()?;
        said.is_content().then(|| said.output().to_owned())
    }

    /// Whether a service of the user's is given what is in `file`.
    pub(crate) fn decrypts(&self, name: &str, file: &Path) -> bool {
        let Some(file) = file.to_str() else {
            return false;
        };
        let load = format!("--property=LoadCredentialEncrypted={name}:{file}");
        let manual = "--property=Documentation=man:openclawctl(1)";
        let options = ["--user", "--wait", "--collect", "--quiet", manual, &load];
        let try_it = [&options[..], &["true"]].concat();
        tell("systemd-run", &try_it, self.0).is_ok()
    }

    /// Gives the agent-runner what it is to have now; one that does not run is
    /// when it is started. Its turns go on meanwhile.
    pub(crate) fn take_up(&self) -> Result<(), Unsealed> {
        tell("systemctl", &["--user", "daemon-reload"], self.0)?;
        Ok(tell("systemctl", &["--user", "try-restart", UNIT], self.0)?)
    }
}

/// The number in "systemd 257 (257.13-1~deb13u1)".
fn version(said: &str) -> Option<u32> {
    let number = said.split_whitespace().nth(1)?;
    let digits = number.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// Whether one of the assignments that systemd prints is `wanted`, which it quotes where it
/// has blanks.
fn is_among(wanted: &str, said: &str) -> bool {
    let quoted = format!("\"{wanted}\"");
    let padded = format!(" {said} ");
    [wanted, &quoted]
        .iter()
        .any(|it| padded.contains(&format!(" {it} ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manager_tells_its_version_and_its_suite() {
        assert_eq!(version("systemd 257 (257.13-1~deb13u1)\n+PAM"), Some(257));
        assert_eq!(version("systemd 258~rc2 (x)"), Some(258));
        assert_eq!(version(""), None);
        let said = "OPENCLAW_STATE_DIR=/home/claw/.openclaw OPENCLAW_ON_DEMAND=yes";
        assert!(is_among("OPENCLAW_STATE_DIR=/home/claw/.openclaw", said));
        assert!(!is_among("OPENCLAW_STATE_DIR=/home/claw/.open", said));
        let said = "\"OPENCLAW_STATE_DIR=/home/my claw/x\" A=b";
        assert!(is_among("OPENCLAW_STATE_DIR=/home/my claw/x", said));
    }
}
