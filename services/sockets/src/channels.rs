//! The units of channel daemons: one for each account. As shipped they see the
//! account's folder in `~/.openclaw` and the token where openclawctl keeps it; what
//! is elsewhere they are told by a drop-in. An account that is on is started with
//! the target, as `systemctl --user enable` has it.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use openclaw_config::Paths;
use openclaw_settings::Settings;
use openclaw_settings::channels::{CHANNELS, DEFAULT_ACCOUNT, state_folder, token_file, unit};
use openclaw_terminal::Failure;

use super::state;
use super::unit_text::{DROP_IN, HEADER, escaped, unnameable, unquoted};
use super::units::Units;

/// What starts the units that are linked there.
const WANTS: &str = "openclaw.target.wants";

/// An account of the configuration, with a token that is not a variable's.
#[derive(Debug)]
pub(super) struct Account {
    /// Its unit.
    pub(super) unit: String,
    /// The unit that has the file: an instance's is its template.
    template: String,
    /// That file.
    file: PathBuf,
    /// What its daemon must not forget.
    pub(super) folder: PathBuf,
    /// Its token, where that is not where openclawctl keeps it.
    token: Option<PathBuf>,
    /// openclawctl keeps it there.
    usual_token: PathBuf,
    /// Whether it is on.
    pub(super) is_on: bool,
}

/// The accounts whose units are installed.
pub(super) fn accounts(settings: &Settings, units: &Units<'_>) -> Vec<Account> {
    let (paths, channels) = (&settings.paths, &settings.channels);
    let mut found = Vec::new();
    for (channel, accounts) in &channels.accounts {
        for (name, account) in accounts {
            let is_default = channels.is_default(channel, name);
            let own: &str = if is_default { DEFAULT_ACCOUNT } else { name };
            let unit = unit(channel, name, is_default);
            let template = match unit.split_once('@') {
                Some((kind, _)) => format!("{kind}@.service"),
                None => unit.clone(),
            };
            let file = units.file(&template);
            let Some(file) = file.filter(|_| channels.has_token(channel, name)) else {
                continue;
            };
            let usual_token = token_file(paths, channel, own);
            let token = account.token_file.as_ref().map(PathBuf::from);
            found.push(Account {
                unit,
                template,
                file,
                folder: state_folder(paths, channel, own),
                token: token.filter(|it| *it != usual_token),
                usual_token,
                is_on: account.enabled,
            });
        }
    }
    found
}

/// The drop-in of an account's unit; none where the unit as shipped will do.
pub(super) fn wanted(
    paths: &Paths,
    account: &Account,
    units: &Units<'_>,
) -> Result<Option<String>, Failure> {
    let variable = state::variable(paths)?;
    let is_confined = units.is_confined(&account.template);
    let mut head = String::new();
    let mut lines = variable.clone().unwrap_or_default();
    if variable.is_some() {
        // The rest of the line is the path, without quotes (systemd.unit(5)).
        let path = unquoted(&account.folder)?;
        head = format!("[Unit]\nConditionPathExists=\nConditionPathExists={path}\n");
    }
    if is_confined {
        if variable.is_some() {
            lines.push_str(&format!("BindPaths=\"-{}\"\n", one(&account.folder)?));
        }
        let usual = variable.is_some().then_some(&account.usual_token);
        if let Some(token) = account.token.as_ref().or(usual) {
            lines.push_str(&format!("BindReadOnlyPaths=\"-{}\"\n", one(token)?));
        }
    }
    Ok((!lines.is_empty()).then(|| format!("{HEADER}{head}[Service]\n{lines}")))
}

/// Units that have a drop-in of ours, and no account any more.
pub(super) fn gone(accounts: &[Account], units: &Units<'_>) -> Result<Vec<String>, Failure> {
    let mut gone = Vec::new();
    let entries = match fs::read_dir(&units.folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(gone),
        entries => entries.with_context(|| format!("cannot read {}", units.folder.display()))?,
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let unit = name.to_str().and_then(|name| name.strip_suffix(".d"));
        let is_channels = |unit: &&str| {
            let mut channels = CHANNELS.iter();
            channels.any(|it| unit.starts_with(&format!("openclaw-{it}")))
        };
        let Some(unit) = unit.filter(is_channels) else {
            continue;
        };
        let is_known = accounts.iter().any(|it| it.unit == unit);
        if !is_known && entry.path().join(DROP_IN).exists() {
            gone.push(unit.to_owned());
        }
    }
    gone.sort();
    Ok(gone)
}

/// Whether the target starts the account's unit as it is to.
pub(super) fn is_linked_right(account: &Account, units: &Units<'_>) -> bool {
    let link = units.path(WANTS).join(&account.unit);
    link.symlink_metadata().is_ok() == account.is_on
}

/// Makes the target start the account's unit, if it is on, and not otherwise.
pub(super) fn link(account: &Account, units: &Units<'_>) -> Result<(), Failure> {
    let link = units.path(WANTS).join(&account.unit);
    let linked = || {
        if !account.is_on {
            return fs::remove_file(&link);
        }
        fs::create_dir_all(units.path(WANTS))?;
        symlink(&account.file, &link)
    };
    linked()
        .with_context(|| format!("cannot change {}", link.display()))
        .map_err(Failure::from)
}

/// A word of a list in which `:` parts two paths.
fn one(path: &Path) -> Result<String, Failure> {
    let word = escaped(path)?;
    if word.contains(':') {
        return Err(unnameable(path));
    }
    Ok(word)
}
