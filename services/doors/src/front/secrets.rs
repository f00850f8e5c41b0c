//! The shared secret, and whether somebody has it.

use openclaw_config::secret::Secret;
use openclaw_settings::Gateway;
use openclaw_settings::gateway::AuthMode;
use subtle::ConstantTimeEq as _;

/// What a client must know to come in.
#[derive(Debug, Clone)]
pub struct Secrets {
    /// How clients prove that they may.
    pub mode: AuthMode,
    /// `None`: it cannot be known, and nobody comes in.
    secret: Option<Secret>,
}

impl Secrets {
    /// By the settings; `stored` gives the token that is not configured.
    pub(super) fn of(gateway: &Gateway, stored: impl FnOnce() -> Option<Secret>) -> Self {
        let secret = match gateway.mode {
            AuthMode::None => None,
            AuthMode::Token => gateway.token.clone().or_else(stored),
            // OpenClaw lets either field carry the secret.
            AuthMode::Password => gateway.password.clone().or_else(|| gateway.token.clone()),
        };
        Self {
            mode: gateway.mode,
            secret,
        }
    }

    /// Whether everybody who reaches the port may come in.
    pub fn are_none_needed(&self) -> bool {
        self.mode == AuthMode::None
    }

    /// Whether `presented` is the secret.
    pub fn accept(&self, presented: &str) -> bool {
        self.secret
            .as_ref()
            .is_some_and(|secret| is_same(secret, presented))
    }

    /// The secret itself, for its owner.
    pub fn reveal(&self) -> Option<&str> {
        self.secret.as_ref().map(Secret::reveal)
    }
}

/// Whether `presented` is `secret`, in a time that tells nothing about where
/// they differ. It tells the length, which is not a secret.
pub(crate) fn is_same(secret: &Secret, presented: &str) -> bool {
    let secret = secret.reveal().as_bytes();
    !secret.is_empty() && secret.ct_eq(presented.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn secrets(mode: AuthMode, secret: Option<&str>) -> Secrets {
        Secrets {
            mode,
            secret: secret.map(Secret::new),
        }
    }

    #[test]
    fn secrets_without_a_secret_nobody_comes_in() {
        for secret in [None, Some("")] {
            let secrets = secrets(AuthMode::Token, secret);
            assert!(!secrets.accept("") && !secrets.accept("x"));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        /// Property 1 (seed 002): a client comes in if and only if its token
        /// matches the stored one.
        #[test]
        fn token_is_accepted_if_and_only_if_it_is_the_stored_one(
            stored in "[!-~]{1,80}",
            other in "\\PC{0,80}",
            cut in 0usize..80,
        ) {
            let secrets = secrets(AuthMode::Token, Some(&stored));
            prop_assert!(secrets.accept(&stored));
            prop_assert_eq!(secrets.accept(&other), other == stored);
            let shorter: String = stored.chars().take(cut).collect();
            prop_assert_eq!(secrets.accept(&shorter), shorter == stored);
            let longer = format!("{}{}", stored, "x");
            prop_assert!(!secrets.accept(&longer));
            let turned = stored.to_uppercase();
            prop_assert_eq!(secrets.accept(&turned), turned == stored);
        }
    }
}
