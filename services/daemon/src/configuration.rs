//! The configuration a daemon runs with, and what is wrong with the file.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use openclaw_config::{Environment, Error, Paths};
use openclaw_proto::gateway::ConfigurationSeen;
use openclaw_settings::SOCKETS_ADVICE;
use openclaw_settings::{Origin, Settings};
use openclaw_watch::files::Marks;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

use crate::failure;

/// The longest that a request waits for a file that has just been changed to be
/// read; a login shell that the file asks for may take longer.
const CATCH_UP: Duration = Duration::from_secs(2);
/// Requests that may wait at once to say that the file was changed.
const WAITING: usize = 64;

/// What is said beside the defaults.
const BARRED: &str = ", and no turn runs";

/// Those who wait until the files have been read.
pub(crate) type Behind = mpsc::Receiver<oneshot::Sender<()>>;

/// Reads the settings; called at start and for every reload.
pub(crate) type Load<S = Settings> = fn(&Environment, Origin) -> Result<S, Error>;

/// What holds now.
#[derive(Debug, Clone)]
pub struct Current<S = Settings> {
    /// The last settings that were valid.
    pub settings: Arc<S>,
    /// Why the file as it is now is not used, or not wholly, and what is used
    /// instead.
    pub problem: Option<String>,
    /// Whether the file as it is now is what is used.
    pub is_in_use: bool,
    /// Whether the defaults hold in place of a file that cannot be used: what it
    /// restricts is not known then, and no turn may run.
    pub bars_turns: bool,
    /// When the file began to be read.
    pub read: Moment,
}

/// When the files began to be read, and what they looked like.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// In Unix milliseconds.
    ms: i64,
    marks: Marks,
}

impl Moment {
    /// Now.
    pub fn now(paths: &Paths) -> Self {
        Self {
            ms: now_ms(),
            marks: Marks::of(paths),
        }
    }

    /// Whether the files may have been changed since. Not told by the clock, which may
    /// have been set back: a file is of the future then.
    fn is_past(self, paths: &Paths) -> bool {
        Marks::of(paths) != self.marks || self.marks.may_hide_one_after(self.ms)
    }
}

/// Now, in Unix milliseconds as messages between daemons have them.
pub fn now_ms() -> i64 {
    openclaw_settings::now_ms().cast_signed()
}

impl<S: AsRef<Settings>> Current<S> {
    fn sound(settings: S, read: Moment) -> Self {
        let warnings = settings.as_ref().warnings.join("; ");
        Self {
            settings: Arc::new(settings),
            problem: (!warnings.is_empty()).then_some(warnings),
            is_in_use: true,
            bars_turns: false,
            read,
        }
    }
}

/// What a daemon starts with: the file, else the file as it last was valid,
/// else the defaults, with which no turn runs. An error is one that no other file
/// would mend.
pub fn first<S: AsRef<Settings>>(
    load: Load<S>,
    environment: &Environment,
) -> Result<Current<S>, Error> {
    let paths = Paths::resolve(environment)?;
    let read = Moment::now(&paths);
    let error = match load(environment, Origin::File) {
        Ok(settings) => return Ok(Current::sound(settings, read)),
        Err(error) if error.is_beyond_file() => return Err(error),
        Err(error) => error,
    };
    let instead = [Origin::LastGood, Origin::Defaults]
        .into_iter()
        .filter(|origin| origin.exists(&paths))
        .find_map(|origin| {
            let environment = origin.environment(environment, &paths);
            Some((origin, load(&environment, origin).ok()?))
        });
    match instead {
        Some((origin, settings)) => {
            let bars_turns = origin == Origin::Defaults;
            let barred = if bars_turns { BARRED } else { "" };
            let error = failure::chain(&error);
            Ok(Current {
                settings: Arc::new(settings),
                problem: Some(format!("{error}; using {origin}{barred}")),
                is_in_use: false,
                bars_turns,
                read,
            })
        }
        None => Err(error),
    }
}

/// Says which keys of the file have no effect, and with which values a part is off.
pub(crate) fn tell_unused(settings: &Settings) {
    for fault in &settings.faults {
        tracing::warn!("a part of the configuration is not used: {fault}");
    }
    for unused in &settings.unused {
        tracing::info!("the configuration has keys {unused}");
    }
}

/// The daemon's view of the configuration, with the settings that it holds.
/// Cheap to clone.
#[derive(Debug)]
pub struct Configuration<S = Settings> {
    current: watch::Receiver<Current<S>>,
    /// Where somebody reads the files again when asked.
    reader: Option<mpsc::Sender<oneshot::Sender<()>>>,
}

impl<S> Clone for Configuration<S> {
    fn clone(&self) -> Self {
        Self {
            current: self.current.clone(),
            reader: self.reader.clone(),
        }
    }
}

impl<S: AsRef<Settings>> Configuration<S> {
    /// Whether a file was changed after it was last read. Costs a few stat(2).
    pub(crate) fn is_behind(&self) -> bool {
        let current = self.current.borrow();
        current.read.is_past(&(*current.settings).as_ref().paths)
    }

    /// The files are about to be read.
    pub(crate) fn begin_reading(&self) -> Moment {
        Moment::now(&(*self.current.borrow().settings).as_ref().paths)
    }

    /// Waits until what was changed before now holds: who sets a key and then
    /// asks is answered by that key. Of files that an `$include` names it does
    /// not know; those hold some 100 ms later, by news of the file.
    pub async fn catch_up(&self) {
        let Some(reader) = self.reader.as_ref().filter(|_| self.is_behind()) else {
            return;
        };
        let (read, is_read) = oneshot::channel();
        let asked = async {
            if reader.send(read).await.is_ok() {
                // Either is an end of waiting.
                let _ = is_read.await;
            }
        };
        if timeout(CATCH_UP, asked).await.is_err() {
            tracing::warn!(
                "the configuration is still being read; the one before holds until then"
            );
        }
    }

    /// Lets requests ask for the files to be read again.
    pub(crate) fn with_reader(mut self) -> (Self, Behind) {
        let (sender, receiver) = mpsc::channel(WAITING);
        self.reader = Some(sender);
        (self, receiver)
    }
}

impl<S> Configuration<S> {
    /// The last settings that were valid.
    pub fn settings(&self) -> Arc<S> {
        Arc::clone(&self.current.borrow().settings)
    }

    /// Why the file as it is now is not used; empty when it is.
    pub fn problem(&self) -> String {
        self.current.borrow().problem.clone().unwrap_or_default()
    }

    /// What a client is told of the file beside its answer.
    pub fn seen(&self) -> ConfigurationSeen {
        let current = self.current.borrow();
        let problem = current.problem.as_deref().filter(|_| !current.is_in_use);
        ConfigurationSeen {
            problem: problem.unwrap_or_default().to_owned(),
            read_ms: current.read.ms,
        }
    }

    /// Why no turn may run: what the file restricts is not known.
    pub fn bars_turns(&self) -> Option<String> {
        let current = self.current.borrow();
        current.problem.clone().filter(|_| current.bars_turns)
    }

    /// Whether the file as it is now is what is used.
    pub fn is_in_use(&self) -> bool {
        self.current.borrow().is_in_use
    }

    /// Waits for the next reload; false when there will be none.
    pub async fn changed(&mut self) -> bool {
        self.current.changed().await.is_ok()
    }
}

/// The one that reloads.
#[derive(Debug)]
pub struct Owner<S = Settings> {
    current: watch::Sender<Current<S>>,
    /// Settings that hold as they were at the start, by their keys.
    fixed: BTreeMap<&'static str, String>,
}

impl<S: AsRef<Settings>> Owner<S> {
    /// Starts with `settings`.
    pub fn new(settings: S) -> (Self, Configuration<S>) {
        let read = Moment::now(&settings.as_ref().paths);
        Self::starting(Current::sound(settings, read))
    }

    /// Starts with what [`first`] found.
    pub fn starting(current: Current<S>) -> (Self, Configuration<S>) {
        let fixed = (*current.settings).as_ref().fixed.clone();
        let (sender, receiver) = watch::channel(current);
        let owner = Self {
            current: sender,
            fixed,
        };
        let configuration = Configuration {
            current: receiver,
            reader: None,
        };
        (owner, configuration)
    }

    /// Reads the file again and takes it over.
    pub fn reload(
        &self,
        load: impl FnOnce(&Environment) -> Result<S, Error>,
        environment: &Environment,
    ) {
        let read = Moment::now(&(*self.current.borrow().settings).as_ref().paths);
        self.take(load(environment), read);
    }

    /// Takes over what began to be read at `read`. A file that is not valid
    /// changes nothing but the problem that is shown.
    pub fn take(&self, loaded: Result<S, Error>, read: Moment) {
        match loaded {
            Ok(settings) => {
                let late = self.restart_keys(settings.as_ref());
                tracing::info!("the configuration was read again");
                self.tell_unused(settings.as_ref());
                let mut current = Current::sound(settings, read);
                if !late.is_empty() {
                    let note = format!(
                        "{} changed: that needs other sockets; {SOCKETS_ADVICE}",
                        late.join(", ")
                    );
                    tracing::warn!("{note}; the rest is in use");
                    current.problem = Some(match current.problem {
                        Some(problem) => format!("{problem}; {note}"),
                        None => note,
                    });
                }
                self.current.send_replace(current);
            }
            Err(error) => {
                failure::report("reload the configuration, keeping the one before", &error);
                let error = failure::chain(&error);
                self.current.send_modify(|current| {
                    let known = current.problem.as_ref().filter(|_| !current.is_in_use);
                    // What is used since it is broken is used still.
                    if !known.is_some_and(|known| known.starts_with(&format!("{error}; using "))) {
                        current.problem = Some(format!("{error}; using the one before"));
                    }
                    current.is_in_use = false;
                    current.read = read;
                });
            }
        }
    }

    /// Says which keys and values have no effect, when they are others than before.
    fn tell_unused(&self, settings: &Settings) {
        let current = self.current.borrow();
        let before = (*current.settings).as_ref();
        if settings.unused != before.unused || settings.faults != before.faults {
            tell_unused(settings);
        }
    }

    fn restart_keys(&self, settings: &Settings) -> Vec<&'static str> {
        let keys = self.fixed.keys().chain(settings.fixed.keys());
        let mut changed: Vec<_> = keys
            .filter(|key| self.fixed.get(*key) != settings.fixed.get(*key))
            .copied()
            .collect();
        changed.sort_unstable();
        changed.dedup();
        changed
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn started(files: &[(&str, &str)]) -> Result<Current, Error> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let state = folder.path().to_str().unwrap();
        let environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
        first(openclaw_settings::load_from, &environment)
    }

    #[test]
    fn broken_file_is_done_without() {
        let good = ("openclaw.json.last-good", "{ logging: { level: 'warn' } }");
        let broken = ("openclaw.json", "{\n agnets: {} }");
        let current = started(&[broken, good]).unwrap();
        assert_eq!(current.settings.log_level.name(), "warn");
        let problem = current.problem.unwrap();
        assert!(problem.contains("openclaw.json:2:2: agnets"), "{problem}");
        assert!(
            problem.ends_with("using the last good configuration"),
            "{problem}"
        );

        // What was emptied meanwhile is not what the user wants.
        let current = started(&[("openclaw.json", "\n"), good]).unwrap();
        assert_eq!(current.settings.log_level.name(), "warn");
        let problem = current.problem.unwrap();
        assert!(problem.contains("the file is empty"), "{problem}");

        let current = started(&[broken]).unwrap();
        assert_eq!(current.settings.log_level.name(), "info");
        assert!(current.bars_turns);
        let problem = current.problem.unwrap();
        assert!(problem.ends_with("using the defaults, and no turn runs"));
        let both = started(&[broken, ("openclaw.json.last-good", "{")]).unwrap();
        assert!(both.bars_turns && both.problem.unwrap().contains("using the defaults"));
        assert_eq!(started(&[good]).unwrap().problem, None);
        assert!(!started(&[broken, good]).unwrap().bars_turns);
    }

    #[test]
    fn configuration_is_behind_what_was_changed_whatever_the_clock_says() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
        let file = folder.path().join("openclaw.json");
        fs::write(&file, "{ logging: { level: 'warn' } }").unwrap();
        let mut current = first(openclaw_settings::load_from, &environment).unwrap();
        for hours in [-1, 1] {
            // Then the clock was set.
            current.read.ms = now_ms() + hours * 3_600_000;
            let (_owner, configuration) = Owner::starting(current.clone());
            assert!(!configuration.is_behind(), "{hours}");
        }
        let (_owner, configuration) = Owner::starting(current);
        let overlay = folder.path().join("openclaw.json.d");
        fs::create_dir(&overlay).unwrap();
        assert!(configuration.is_behind());
        fs::remove_dir(&overlay).unwrap();
        assert!(!configuration.is_behind());
        fs::remove_file(&file).unwrap();
        assert!(configuration.is_behind());
    }

    #[test]
    fn configuration_says_what_is_used_since_the_file_is_broken() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
        let file = folder.path().join("openclaw.json");
        fs::write(&file, "{ agnets: {} }").unwrap();
        let current = first(openclaw_settings::load_from, &environment).unwrap();
        let (owner, configuration) = Owner::starting(current);
        owner.reload(openclaw_settings::load, &environment);
        let problem = configuration.problem();
        assert!(problem.contains("using the defaults"), "{problem}");
        assert_eq!(configuration.bars_turns(), Some(problem));
        fs::write(&file, "{ agents: [] }").unwrap();
        owner.reload(openclaw_settings::load, &environment);
        let problem = configuration.problem();
        assert!(problem.ends_with("using the one before"), "{problem}");
        assert!(configuration.bars_turns().is_some());
        fs::write(&file, "{}").unwrap();
        owner.reload(openclaw_settings::load, &environment);
        assert_eq!(configuration.bars_turns(), None);
    }

    #[test]
    fn mistake_of_the_environment_is_the_end() {
        let environment = [("OPENCLAW_STATE_DIR", "/tmp/x"), ("OPENCLAW_LOG", "loud")];
        let environment = environment.into_iter().collect();
        let error = first(openclaw_settings::load_from, &environment).unwrap_err();
        assert!(error.to_string().contains("OPENCLAW_LOG"), "{error}");
    }

    #[test]
    fn configuration_what_needs_a_restart_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
        let (owner, configuration) = Owner::new(openclaw_settings::load(&environment).unwrap());
        let file = folder.path().join("openclaw.json");
        fs::write(
            &file,
            "{ gateway: { port: 1234 }, logging: { level: 'warn' } }",
        )
        .unwrap();
        owner.reload(openclaw_settings::load, &environment);
        let problem = configuration.problem();
        assert!(problem.starts_with("gateway.port changed"), "{problem}");
        assert!(problem.contains("openclawctl sockets"), "{problem}");
        assert_eq!(configuration.settings().log_level.name(), "warn");
        fs::write(&file, "{ logging: { level: 'warn' } }").unwrap();
        owner.reload(openclaw_settings::load, &environment);
        assert_eq!(configuration.problem(), "");
    }
    #[test]
    fn configuration_nothing_is_said_of_sockets_that_stay_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let environment = [
            ("OPENCLAW_STATE_DIR", state),
            ("OPENCLAW_GATEWAY_PORT", "18789"),
        ];
        let environment = environment.into_iter().collect();
        let (owner, configuration) = Owner::new(openclaw_settings::load(&environment).unwrap());
        for gateway in [
            "port: 18789",
            "bind: 'loopback'",
            "bind: 'auto'",
            "bind: '127.0.0.1'",
            "bind: 'custom', customBindHost: '127.0.0.1'",
            "customBindHost: '10.0.0.1'",
            "host: '127.0.0.1'",
            "host: 'localhost'",
            // The variable holds.
            "port: 19000",
            // Nobody listens there without a secret.
            "cli: { port: 19001 }",
        ] {
            let text = format!("{{ gateway: {{ {gateway} }} }}");
            fs::write(folder.path().join("openclaw.json"), text).unwrap();
            owner.reload(openclaw_settings::load, &environment);
            assert_eq!(configuration.problem(), "", "{gateway}");
        }
        for (gateway, said) in [
            ("bind: 'lan'", "gateway.bind changed"),
            (
                "bind: 'custom', customBindHost: '10.0.0.1'",
                "gateway.bind changed",
            ),
            (
                "cli: { secret: 's' }",
                "gateway.cli.port, gateway.cli.secret changed",
            ),
        ] {
            let text = format!("{{ gateway: {{ {gateway} }} }}");
            fs::write(folder.path().join("openclaw.json"), text).unwrap();
            owner.reload(openclaw_settings::load, &environment);
            let problem = configuration.problem();
            assert!(problem.starts_with(said), "{gateway}: {problem}");
        }
    }
}
