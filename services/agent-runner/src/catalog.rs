//! Keeps models.json true: what can be used now.

use openclaw_daemon::Configuration;
use openclaw_settings::RunnerSettings;

use crate::models_file;

/// Writes it at the start and after every reload.
pub(crate) async fn keep(mut configuration: Configuration<RunnerSettings>) {
    loop {
        let settings = configuration.settings();
        let written = tokio::task::spawn_blocking(move || models_file::write_all(&settings)).await;
        if let Ok(Err((path, error))) = written {
            openclaw_daemon::failure::report_at("write the list of models", &path, &error);
        }
        if !configuration.changed().await {
            return;
        }
    }
}
