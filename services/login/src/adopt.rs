//! `auth adopt`: a login that lies in an agent's home becomes the one that the
//! agent's turns run on, when somebody who has looked at it says so.

use std::process::ExitCode;

use anyhow::Context as _;
use openclaw_config::Environment;
use openclaw_credentials::login::Login;
use openclaw_folder::Folder;
use openclaw_terminal::{Failure, output, question};

use crate::arguments::Adopt;
use crate::login_file::{self, LoginFile};

/// Of an adopted login: its owner's alone.
const MODE: u32 = 0o600;

/// Shown before the question.
const WARNING: &str = "An agent can write whatever it likes to its home, this login too. When it is \
     adopted, every later turn of this agent that the CLI answers runs on that account, whoever's \
     it is, which can then read what is said.";

/// Shows the logins that lie in an agent's home, and asks about each.
pub(crate) fn adopt(arguments: &Adopt, environment: &Environment) -> Result<ExitCode, Failure> {
    let settings = openclaw_settings::load_usable(environment)?;
    let agent_id = crate::agent::named(arguments.agent.as_deref(), &settings)?;
    let logins = match arguments.cli {
        Some(which) => vec![which.login()],
        None => Login::ALL.to_vec(),
    };
    let nothing = || nothing(&agent_id, &logins);
    let folder = Folder::open(&settings.paths.agent(&agent_id)).context("cannot look")?;
    let folder = folder.ok_or_else(nothing)?;
    let mut all = Vec::new();
    for login in &logins {
        all.extend(login_file::look(&folder, *login)?);
    }
    if all.is_empty() {
        return Err(nothing());
    }
    for found in &all {
        output::stdout_line(&found.description(&agent_id))?;
    }
    let usable: Vec<&LoginFile> = all.iter().filter(|found| found.is_usable()).collect();
    if usable.is_empty() {
        return Err(Failure::new("none of this is a login that can be adopted"));
    }
    output::stderr_line(WARNING);
    let chosen = if arguments.yes {
        unasked(&usable)?
    } else {
        asked(&usable, &agent_id)?
    };
    for found in &chosen {
        keep(&folder, found)?;
        let title = found.login.title();
        output::stdout_line(&format!(
            "adopted: {agent_id}'s turns with {title} run on this login from now on"
        ))?;
    }
    if chosen.is_empty() {
        output::stderr_line("nothing was changed");
    }
    Ok(ExitCode::SUCCESS)
}

fn nothing(agent_id: &str, logins: &[Login]) -> Failure {
    let titles: Vec<&str> = logins.iter().map(|login| login.title()).collect();
    Failure::new(format!(
        "no login of {} lies in the home of {agent_id}",
        titles.join(" or ")
    ))
    .hint("the logins of your own home are found without; this is for those made with the agent's")
}

/// All of them, unless it is not clear which.
fn unasked<'a>(usable: &[&'a LoginFile]) -> Result<Vec<&'a LoginFile>, Failure> {
    for login in Login::ALL {
        if usable.iter().filter(|found| found.login == login).count() > 1 {
            let title = login.title();
            let why = format!("there is more than one login of {title}, and nobody is asked which");
            return Err(Failure::undecided(why).hint("remove one, or run this in a terminal"));
        }
    }
    Ok(usable.to_vec())
}

fn asked<'a>(usable: &[&'a LoginFile], agent_id: &str) -> Result<Vec<&'a LoginFile>, Failure> {
    if !question::can_be_asked() {
        return Err(
            Failure::undecided("nobody can be asked: standard input is no terminal")
                .hint("run this in a terminal, or add --yes to adopt what is shown above"),
        );
    }
    let mut chosen: Vec<&LoginFile> = Vec::new();
    for found in usable {
        let is_settled = chosen.iter().any(|other| other.login == found.login);
        if !is_settled && says_yes(found, agent_id)? {
            chosen.push(found);
        }
    }
    Ok(chosen)
}

fn says_yes(found: &LoginFile, agent_id: &str) -> Result<bool, Failure> {
    let title = found.login.title();
    let question = format!(
        "adopt the login of {title} in {} for {agent_id}? [y/N] ",
        found.place
    );
    Ok(question::says_yes(&question)?)
}

/// Writes what is known of a login where turns find it, and removes the
/// original.
fn keep(folder: &Folder, found: &LoginFile) -> Result<(), Failure> {
    let Ok(contents) = &found.contents else {
        return Ok(());
    };
    let adopted = found.login.adopted();
    folder
        .create_folder("logins")
        .context("cannot make its folder")?;
    let text = format!("{:#}\n", contents.document);
    folder
        .write_durably(&adopted, text.as_bytes(), MODE)
        .context("cannot keep the login")?;
    folder
        .remove(&found.place)
        .context("the login was adopted, and its original cannot be removed")?;
    Ok(())
}
