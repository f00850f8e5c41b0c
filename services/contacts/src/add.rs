//! `channels add`, `login` and `remove`: an account's token and configuration.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use openclaw_config::{Environment, KeyPath, Paths, programs, write};
use openclaw_proto::channel::AccountName;
use openclaw_proto::channel_admin::Pairings;
use openclaw_service_manager as manager;
use openclaw_settings::channels::{self, DEFAULT_ACCOUNT};
use openclaw_settings::file::File;
use openclaw_terminal::{Failure, output, question, secret};
use serde_json::{Value, json};

use crate::gateway::{ContactsGateway, shown};
use crate::name::Named;

/// Bytes of a token; Telegram's have 46.
const TOKEN_LIMIT: usize = 512;

impl Named {
    /// Takes the token from standard input, has it checked, and writes it and the
    /// configuration.
    pub(crate) async fn add(&self, gateway: &ContactsGateway<'_>) -> Result<(), Failure> {
        let document = File::open(gateway.paths)?.document()?;
        let before = self.clone().resolved(&document);
        let had_token =
            before.token_file(gateway.paths).exists() || before.written_token(&document).is_some();
        self.take_token(gateway)?;
        if had_token {
            let shown = before.shown();
            output::stdout_line(&format!("{shown} was there; its token was replaced"))?;
        }
        // Without a gateway nobody knows.
        let pairings = gateway.client.pairings().await.ok();
        output::stdout_line(&next_step(pairings.as_ref()))
    }

    /// Takes another token for an account that is there.
    pub(crate) fn login(&self, gateway: &ContactsGateway<'_>) -> Result<(), Failure> {
        self.existing(&File::open(gateway.paths)?)?;
        self.take_token(gateway)
    }

    /// The account as it will be with the others that are there.
    fn laid_out(&self, gateway: &ContactsGateway<'_>) -> Result<Self, Failure> {
        let mut file = File::open(gateway.paths)?;
        self.lay_out(&mut file, gateway.environment)?;
        Ok(self.clone().resolved(&file.document()?))
    }

    fn take_token(&self, gateway: &ContactsGateway<'_>) -> Result<(), Failure> {
        let token = token(&self.channel)?;
        self.laid_out(gateway)?.take(&token, gateway)
    }

    fn take(&self, token: &str, gateway: &ContactsGateway<'_>) -> Result<(), Failure> {
        let (paths, environment) = (gateway.paths, gateway.environment);
        let place = self.token_file(paths);
        let folder = place.parent().unwrap_or(Path::new("/"));
        private_folder(folder)?;
        // What was there stays until the new one is known to be right.
        let trial = place.with_extension("new");
        let written = write::atomic(&trial, token.as_bytes());
        written.map_err(|error| cannot("write", &trial, &error))?;
        let checked = self.checked(&trial, paths, environment);
        let added = checked.and_then(|identity| {
            self.is_no_other(token, paths, environment)?;
            let renamed = fs::rename(&trial, &place);
            renamed.map_err(|error| cannot("write", &place, &error))?;
            self.configure(&place, paths, environment)?;
            Ok(identity)
        });
        if added.is_err() {
            // The failure is told; a token that is not used is not to lie around.
            let _ = fs::remove_file(&trial);
        }
        let identity = output::line(&added?);
        output::stdout_line(&format!("{} is {identity}", self.shown()))?;
        output::stdout_line(&format!("the token is in {}", place.display()))?;
        self.begin(gateway)
    }

    /// Takes the account out of the configuration, and removes its token.
    pub(crate) fn remove(&self, gateway: &ContactsGateway<'_>) -> Result<(), Failure> {
        let (paths, environment) = (gateway.paths, gateway.environment);
        let mut file = File::open(paths)?;
        let next = self.take_away(&mut file)?;
        save(&mut file, environment)?;
        let place = self.token_file(paths);
        match fs::remove_file(&place) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(cannot("remove", &place, &error)),
        }
        if !(gateway.reload)() {
            // A manager that is not there has nothing to end.
            let _ = systemctl("stop", &self.unit(), environment);
            let _ = systemctl("disable", &self.unit(), environment);
        }
        output::stdout_line(&format!("took {} away", self.shown()))?;
        match next {
            None => Ok(()),
            Some(next) => output::stdout_line(&format!(
                "{}:{} is the default account now, for the people who were paired with that one \
                 too; openclawctl pairing list shows them",
                self.channel,
                output::line(&next)
            )),
        }
    }

    /// The key that goes with the account at `key`: with the last account the
    /// channel goes too, which would otherwise have a default one again.
    fn taken_away(&self, document: &Value, key: KeyPath) -> KeyPath {
        let accounts = self.channel_path().child("accounts");
        let accounts = accounts.get(document).and_then(Value::as_object);
        let is_last = accounts.is_some_and(|accounts| accounts.len() == 1);
        if is_last { self.channel_path() } else { key }
    }

    /// Takes the account away in `file`; the one that is the default one in its place then.
    fn take_away(&self, file: &mut File) -> Result<Option<String>, Failure> {
        let key = self.existing(file)?;
        let document = file.document()?;
        let before = channels::default_account(&document, &self.channel);
        file.unset(&self.taken_away(&document, key))?;
        let chosen = self.channel_path().child("defaultAccount");
        let is_chosen = chosen.get(&document).and_then(Value::as_str) == Some(&before);
        let has_others = self.listed(&document).is_some_and(|it| it.len() > 1);
        if self.is_default() && is_chosen && has_others {
            file.unset(&chosen)?;
        }
        let after = channels::default_account(&file.document()?, &self.channel);
        Ok(Some(after).filter(|it| has_others && *it != before))
    }

    /// Where the account is in the configuration.
    fn existing(&self, file: &File) -> Result<KeyPath, Failure> {
        let document = file.document()?;
        let key = self.path(&document);
        if key.get(&document).is_some() {
            return Ok(key);
        }
        let failure = Failure::new(format!(
            "there is no account {} in {}",
            self.shown(),
            file.path().display()
        ));
        Err(failure.hint(format!(
            "openclawctl channels list shows those that there are; channels add {} connects it",
            self.shown()
        )))
    }

    /// That no other account of the channel is the bot of `token`: both would take
    /// each other's messages away.
    fn is_no_other(
        &self,
        token: &str,
        paths: &Paths,
        environment: &Environment,
    ) -> Result<(), Failure> {
        // Of a file that is wrong whoever writes it is told.
        let Ok(settings) = openclaw_settings::load(environment) else {
            return Ok(());
        };
        let document = File::open(paths)?.document()?;
        let channels = &settings.channels;
        let accounts = channels.accounts.get(&self.channel).into_iter().flatten();
        for (name, account) in accounts {
            let other = AccountName {
                channel: self.channel.clone(),
                account: name.clone(),
            };
            let other = Self::of(&other, channels.is_default(&self.channel, name));
            if other.is(self) {
                continue;
            }
            let file = account.token_file.as_ref();
            // What cannot be read is no token that its daemon could use.
            let token_of_file = file.and_then(|file| fs::read_to_string(file).ok());
            let written = || other.written_token(&document);
            let variable = || other.variable(environment).filter(|_| other.is_default());
            let token_of_other = token_of_file.or_else(written).or_else(variable);
            let is_same =
                bot(token).is_some_and(|it| token_of_other.as_deref().and_then(bot) == Some(it));
            if is_same {
                return Err(Failure::new(format!(
                    "this is the token of the bot that {} is already; an account has a bot of its own",
                    other.shown()
                ))
                .hint(format!(
                    "another token for that account: openclawctl channels login {}",
                    other.shown()
                )));
            }
        }
        Ok(())
    }

    /// The token that the configuration itself has for the account.
    fn written_token(&self, document: &Value) -> Option<String> {
        let at = |path: KeyPath| path.child("botToken").get(document)?.as_str();
        let common = || Some(self.channel_path()).filter(|_| self.is_default());
        let token = at(self.path(document)).or_else(|| at(common()?))?;
        Some(token.to_owned())
    }

    /// The token that a variable has for the channel's default account.
    fn variable(&self, environment: &Environment) -> Option<String> {
        let variable = channels::token_variable(&self.channel);
        environment.get(&variable).map(str::to_owned)
    }

    /// What the provider calls the account with that token.
    fn checked(
        &self,
        token: &Path,
        paths: &Paths,
        environment: &Environment,
    ) -> Result<String, Failure> {
        let name = self.program();
        let program = programs::sibling(&name, environment)
            .map_err(|error| Failure::new(format!("cannot check the token: {error}")))?;
        let given = fs::File::open(token).map_err(|error| cannot("read", token, &error))?;
        #[expect(clippy::disallowed_methods, reason = "a program of the suite's own")]
        let checked = Command::new(&program)
            .arg("check")
            .args(self.way(paths)?)
            .stdin(Stdio::from(given))
            .output();
        let checked = checked.map_err(|error| cannot("start", &program, &error))?;
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if checked.status.success() {
            return Ok(said(&checked.stdout));
        }
        let why = output::prose(&said(&checked.stderr));
        Err(Failure::new(format!("the token was not taken: {why}")))
    }

    /// How the provider is reached where that is configured, as arguments of the
    /// program that checks.
    fn way(&self, paths: &Paths) -> Result<Vec<String>, Failure> {
        let document = File::open(paths)?.document()?;
        let mut arguments = Vec::new();
        for (key, argument) in [("apiRoot", "--api-root"), ("proxy", "--proxy")] {
            let own = self.path(&document).child(key).get(&document);
            let value = own.or_else(|| self.channel_path().child(key).get(&document));
            if let Some(value) = value.and_then(Value::as_str) {
                arguments.extend([argument.to_owned(), value.to_owned()]);
            }
        }
        Ok(arguments)
    }

    fn configure(
        &self,
        token: &Path,
        paths: &Paths,
        environment: &Environment,
    ) -> Result<(), Failure> {
        let mut file = File::open(paths)?;
        let key = self.lay_out(&mut file, environment)?;
        file.set(&key.child("tokenFile"), json!(token))?;
        save(&mut file, environment)
    }

    /// Makes room for the account in `file`, and switches it on; its key. Which account is
    /// the channel's default one is another account's after that only where there was
    /// none.
    fn lay_out(&self, file: &mut File, environment: &Environment) -> Result<KeyPath, Failure> {
        let document = file.document()?;
        let channel = self.channel_path();
        let accounts = channel.child("accounts");
        let has = |key: &str| channel.child(key).get(&document).is_some();
        let listed = self.listed(&document);
        let has_variable = channel.get(&document).is_some() && self.variable(environment).is_some();
        let has_token = has("tokenFile") || has("botToken") || has_variable;
        let is_alone = listed.is_none_or(|listed| listed.keys().all(|it| *it == self.account));
        if !self.is_default() {
            if is_alone && has_token {
                // With an account beside it the one that the channel has of its own has
                // to be named, or there would be none any more.
                file.set(&accounts.child(DEFAULT_ACCOUNT), json!({}))?;
            } else if !is_alone && !has("defaultAccount") {
                // The first by name is the default one, where none is called so.
                let default = channels::default_account(&document, &self.channel);
                if default != DEFAULT_ACCOUNT {
                    file.set(&channel.child("defaultAccount"), json!(default))?;
                }
            }
        }
        let key = self.path(&document);
        let switch = channel.child("enabled");
        if key != channel && switch.get(&document) == Some(&json!(false)) {
            // The others stay off, each by a switch of its own.
            let all = file.document()?;
            for other in self.listed(&all).into_iter().flat_map(|it| it.keys()) {
                file.set(&accounts.child(other).child("enabled"), json!(false))?;
            }
            file.set(&switch, json!(true))?;
        }
        file.set(&key.child("enabled"), json!(true))?;
        Ok(key)
    }

    /// Starts the daemon, now and with the suite.
    fn begin(&self, gateway: &ContactsGateway<'_>) -> Result<(), Failure> {
        // Its unit sees this folder alone of the state, and is not started without it.
        let folder = channels::state_folder(gateway.paths, &self.channel, &self.account);
        private_folder(&folder)?;
        if (gateway.reload)() {
            output::stderr_line("openclawctl run starts its daemon now");
            return Ok(());
        }
        let unit = self.unit();
        if (gateway.align)()? {
            // Without a manager the next line says so.
            let _ = manager::tell(
                "systemctl",
                &["--user", "daemon-reload"],
                gateway.environment,
            );
        }
        let began = systemctl("enable", &unit, gateway.environment)
            .and_then(|()| systemctl("restart", &unit, gateway.environment));
        match began {
            Ok(()) => output::stderr_line(&format!("{unit} is started, now and with the suite")),
            Err(why) => output::stderr_line(&format!(
                "hint: {unit} could not be started ({}); `openclawctl run` starts it without systemd",
                output::line(&why.to_string())
            )),
        }
        Ok(())
    }
}

/// What is to be done with an account that was added, by what is known of who may talk.
fn next_step(pairings: Option<&Pairings>) -> String {
    let approve = "next: write to it, and let yourself in with the code it answers: openclawctl \
                   pairing approve CODE";
    let owner = pairings.map(|it| it.peers.iter().find(|peer| peer.is_owner));
    match owner {
        Some(Some(owner)) => format!(
            "{approve}. The owner is {} ({} {})",
            output::line(&owner.name),
            shown(&owner.account),
            output::line(&owner.peer)
        ),
        Some(None) => format!("{approve}. Whoever is approved first is the owner"),
        None => format!("{approve}. Whoever is approved first is the owner, where there is none"),
    }
}

fn private_folder(folder: &Path) -> Result<(), Failure> {
    let made = fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder);
    made.map_err(|error| cannot("make", folder, &error))
}

fn save(file: &mut File, environment: &Environment) -> Result<(), Failure> {
    let problems = file.problems(environment)?;
    if let Some(problem) = problems.new.first() {
        let path = file.path().display();
        return Err(Failure::new(format!("{problem}; {path} was not changed")));
    }
    if file.is_changed() {
        file.save()?;
    }
    Ok(())
}

fn systemctl(verb: &str, unit: &str, environment: &Environment) -> Result<(), manager::Error> {
    manager::tell("systemctl", &["--user", verb, unit], environment)
}

/// The bot whose token that is: what stands before the secret part.
fn bot(token: &str) -> Option<&str> {
    let (bot, _) = token.trim().split_once(':')?;
    Some(bot)
}

/// The token, from standard input; at a terminal it is not shown.
fn token(channel: &str) -> Result<String, Failure> {
    let given = if question::can_be_asked() {
        let typed = secret::ask(&format!("token of the {channel} bot: "))?;
        typed.map(|typed| typed.reveal().to_owned())
    } else {
        let mut line = String::new();
        let read = io::stdin().read_line(&mut line);
        read.map_err(|error| Failure::new(format!("cannot read the token: {error}")))?;
        Some(line)
    };
    let given = given.unwrap_or_default();
    let token = given.trim();
    if token.is_empty() {
        return Err(Failure::usage(
            "there is no token; give it on standard input, never as an argument",
        ));
    }
    if token.len() > TOKEN_LIMIT || token.contains(char::is_whitespace) {
        return Err(Failure::usage("that is no token"));
    }
    Ok(token.to_owned())
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("cannot {what} {}: {error}", path.display()))
}

#[cfg(test)]
mod tests;
