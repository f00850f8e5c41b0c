//! `cron` of the file: jobs.

use std::num::NonZeroU64;

use openclaw_config::secret::Secret;

use super::maintenance::{Age, OrNever};
use crate::section::{sections, words};

words! {
    /// `cron.failureAlert.mode`.
    pub enum AlertMode {
        /// A message.
        Announce = "announce",
        /// A URL is told.
        Webhook = "webhook",
    }
}

sections! {
    /// `cron`.
    pub struct Cron {
        /// `false`: no job runs by itself. Jobs are kept, and those that somebody
        /// starts run.
        enabled: bool = true,
        /// What receivers of webhooks know us by: sent as a bearer token.
        #[serde(skip_serializing)]
        webhook_token: Option<Secret>,
        /// Which receivers there may be beside those of the public internet.
        webhook_ssrf_policy: WebhookPolicy,
        /// `true`: times of jobs that come again, missed while the machine was off or
        /// asleep, are not made up for, unless the job itself says so (`catchUp`).
        skip_missed_jobs: bool = false,
        /// How long the session of an isolated run is kept after it: `24h` unless set;
        /// `false` and 0: as `session.maintenance.pruneAfter` says.
        #[cfg_attr(test, schemars(with = "Option<super::maintenance::written::DaysOrNever>"))]
        session_retention: OrNever<Age> = OrNever(Some(Age::days(1))),
        /// When and where failures of jobs are told that do not say it themselves.
        failure_alert: Option<FailureAlert>,
    }

    /// `cron.failureAlert`: where it is there, it is for all jobs but those whose
    /// delivery is `bestEffort`.
    pub struct FailureAlert {
        /// `false`: only failures of jobs that have an alert of their own are told.
        enabled: Option<bool>,
        /// After how many failures in a row, 2 unless set.
        after: Option<NonZeroU64>,
        /// How many milliseconds nobody is told once more of failures that go on: an
        /// hour unless set.
        cooldown_ms: Option<u64>,
        /// `webhook`: `to` is a URL.
        mode: Option<AlertMode>,
        /// The channel; `last`: the one that the session is on.
        channel: Option<String>,
        /// Whom on that channel, a session, or the URL.
        to: Option<String>,
        /// As which account of the channel.
        account_id: Option<String>,
    }

    /// `cron.webhookSsrfPolicy`.
    pub struct WebhookPolicy {
        /// Names or addresses of hosts, word for word, that may be of this machine or
        /// its networks.
        allowed_hostnames: Vec<String>,
        /// Those that there may not be.
        blocked_hostnames: Vec<String>,
        /// Whether all of them may be.
        dangerously_allow_private_network: bool = false,
    }
}

impl Cron {
    /// What is wrong with it, by its key.
    pub(crate) fn checked(&self) -> Result<(), (String, String)> {
        let Some(alert) = &self.failure_alert else {
            return Ok(());
        };
        let is_url = |to: &String| to.starts_with("https://") || to.starts_with("http://");
        if alert.mode == Some(AlertMode::Webhook) && !alert.to.as_ref().is_some_and(is_url) {
            let problem = "has to be an http or https URL where mode is webhook";
            return Err(("cron.failureAlert.to".to_owned(), problem.to_owned()));
        }
        Ok(())
    }
}
