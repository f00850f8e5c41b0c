//! The suite as its users meet it: the real daemons, the real CLI, the real
//! sandbox; only the model is scripted.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "test code, shared functions included"
)]

mod approvals;
mod backup;
mod bounds;
mod budgets;
mod cancel;
mod chat;
mod chat_left;
mod claude;
mod claude_failures;
mod claude_tools;
mod cli_kept;
mod cli_own;
mod cli_session;
mod client;
mod codex;
mod codex_failures;
mod codex_tools;
mod commands;
mod compaction;
mod configuration;
mod confinement;
mod conversation;
mod daemons;
mod deliveries;
mod doors;
mod durability;
mod effects;
mod failures;
mod forgetting;
mod guests;
mod heartbeats;
mod hooks;
mod http;
mod http_abuse;
mod jobs;
mod jobs_kept;
mod jobs_made;
mod level;
mod level_text;
mod logins;
mod logs;
mod maintenance;
mod matrix;
mod memory;
mod model_door;
mod mounts;
mod native;
mod notify;
mod offline;
mod openai;
mod operation;
mod planted;
mod planted_servers;
mod ports;
mod properties;
mod property_files;
mod property_list;
mod property_prompt;
mod property_tools;
mod queue;
mod renewal;
mod renewal_failures;
mod retry;
mod rounds;
mod said;
mod screens;
mod server_results;
mod server_starts;
mod servers;
mod settings;
mod setup;
mod standing;
mod state;
mod stop;
mod survival;
mod switching;
mod telegram;
mod telegram_groups;
mod telegram_jobs;
mod telegram_judges;
mod telegram_kept;
mod telegram_load;
mod telegram_pressed;
mod telegram_reach;
mod telegram_removed;
mod telegram_rich;
mod telegram_shown;
mod telegram_trouble;
mod thinking;
mod tools;
mod warm;
mod workspace_doors;
mod ws_abuse;
mod ws_audit;
mod ws_clients;
mod ws_features;
mod ws_followers;
mod ws_methods;
mod ws_places;
mod ws_properties;
mod ws_replay;
mod ws_schedule;
mod ws_schema;
mod ws_sessions;
mod ws_system;
