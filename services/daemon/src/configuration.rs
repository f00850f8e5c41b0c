//! The configuration a daemon runs with, and what is wrong with the file.

use std::sync::Arc;

use openclaw_config::{Environment, Settings};
use tokio::sync::watch;

/// Reads the settings; called at start and for every reload.
pub type Load = fn(&Environment) -> Result<Settings, openclaw_config::Error>;

/// What holds now.
#[derive(Debug, Clone)]
pub struct Current {
    /// The last settings that were valid.
    pub settings: Arc<Settings>,
    /// Why the file as it is now is not used, if it is not.
    pub problem: Option<String>,
}

/// The daemon's view of the configuration. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Configuration(watch::Receiver<Current>);

impl Configuration {
    /// The last settings that were valid.
    pub fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.0.borrow().settings)
    }

    /// Why the file as it is now is not used; empty when it is.
    pub fn problem(&self) -> String {
        self.0.borrow().problem.clone().unwrap_or_default()
    }

    /// Waits for the next reload; false when there will be none.
    pub async fn changed(&mut self) -> bool {
        self.0.changed().await.is_ok()
    }
}

/// The one that reloads.
#[derive(Debug)]
pub struct Owner(watch::Sender<Current>);

impl Owner {
    /// Starts with `settings`.
    pub fn new(settings: Settings) -> (Self, Configuration) {
        let (sender, receiver) = watch::channel(Current {
            settings: Arc::new(settings),
            problem: None,
        });
        (Self(sender), Configuration(receiver))
    }

    /// Reads the file again. A file that is not valid changes nothing but the
    /// problem that is shown.
    pub fn reload(&self, load: Load, environment: &Environment) {
        match load(environment) {
            Ok(settings) => {
                self.0.send_replace(Current {
                    settings: Arc::new(settings),
                    problem: None,
                });
                tracing::info!("the configuration was read again");
            }
            Err(error) => {
                crate::failure::report("reload the configuration, keeping the one before", &error);
                let problem = crate::failure::chain(&error);
                self.0
                    .send_modify(|current| current.problem = Some(problem));
            }
        }
    }
}
