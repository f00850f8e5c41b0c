//! Compiles the `.proto` files with protox, so that no system protoc is needed.

use std::{env, error::Error, fs, path::PathBuf};

use prost::Message as _;

const FILES: [&str; 11] = [
    "openclaw/channel/v1/channel.proto",
    "openclaw/gateway/v1/channels.proto",
    "openclaw/gateway/v1/devices.proto",
    "openclaw/gateway/v1/events.proto",
    "openclaw/gateway/v1/gateway.proto",
    "openclaw/gateway/v1/outbox.proto",
    "openclaw/gateway/v1/schedule.proto",
    "openclaw/gateway/v1/sessions.proto",
    "openclaw/memory/v1/memory.proto",
    "openclaw/run/v1/run.proto",
    "openclaw/runner/v1/runner.proto",
];

fn main() -> Result<(), Box<dyn Error>> {
    let descriptors = protox::compile(FILES, ["."])?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut served = descriptors.clone();
    // Three quarters of it are comments, for which nobody who asks a daemon for its services looks.
    for file in &mut served.file {
        file.source_code_info = None;
    }
    fs::write(out.join("descriptors.bin"), served.encode_to_vec())?;
    tonic_prost_build::configure()
        // Long lists are not taken apart where they are only passed on.
        .extern_path(
            ".openclaw.gateway.v1.ListSessionsResponse",
            "crate::sessions::ListSessionsResponse",
        )
        .compile_fds(descriptors)?;
    println!("cargo::rerun-if-changed=openclaw");
    Ok(())
}
