//! From the file to the document that settings are made of (seed 003 §2.3).
//!
//! | step of the seed | here |
//! |---|---|
//! | 1 resolveConfigPath | [`crate::Paths::resolve`] |
//! | 2 cache | daemons keep their settings and watch the files |
//! | 3 readFileSync, JSON5.parse | [`crate::parse`] |
//! | 4 resolveConfigIncludes | [`include`] |
//! | 5 resolveConfigEnvVars | [`crate::substitute`] |
//! | 6 applyConfigEnvVars | [`variables`] |
//! | 7 validateConfigObject | [`crate::schema`] |
//! | 8 applyMergePatch | [`merge`] |
//! | 9 loadDotEnv | [`dot_env`] |
//! | 10 loadShellEnvFallback | [`login_shell`] |
//! | 11 applyDefaults | [`alias`], `defaults` of the settings |
//! | 12 normalizeConfigPaths | [`normalize`] |
//! | 13 applyConfigOverrides | [`overrides`] |
//!
//! Two things the order alone would not give: references that only .env or the
//! login shell answer are put in after step 10, and what steps 8 to 13 brought
//! is validated again.

pub mod alias;
pub mod dot_env;
pub mod include;
pub mod login_shell;
pub mod merge;
pub mod normalize;
pub mod overrides;
pub mod variables;
