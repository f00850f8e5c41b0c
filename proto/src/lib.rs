//! The contracts between the OpenClaw daemons.
//!
//! The `.proto` files beside this crate are the specification; [`wire`] is what
//! is generated from them and stays at the doors of the daemons. The other
//! modules hold the domain types the daemons work with, the conversions between
//! the two (`TryFrom` inward, `From` outward), and clients that speak domain
//! types.

pub mod address;
pub mod approval;
pub mod call;
pub mod channel;
pub mod channel_admin;
pub mod device_admin;
pub mod event;
pub mod feed;
pub mod gateway;
pub mod history;
pub mod invalid;
pub mod memory;
pub mod origin;
pub mod outbox;
pub mod paragraphs;
pub mod runner;
pub mod schedule;
pub mod sessions;
pub mod shown;
pub mod terms;

#[allow(
    missing_docs,
    unreachable_pub,
    clippy::all,
    clippy::pedantic,
    rust_2018_idioms
)]
mod openclaw {
    pub mod channel {
        pub mod v1 {
            tonic::include_proto!("openclaw.channel.v1");
        }
    }
    pub mod gateway {
        pub mod v1 {
            tonic::include_proto!("openclaw.gateway.v1");
        }
    }
    pub mod memory {
        pub mod v1 {
            tonic::include_proto!("openclaw.memory.v1");
        }
    }
    pub mod run {
        pub mod v1 {
            tonic::include_proto!("openclaw.run.v1");
        }
    }
    pub mod runner {
        pub mod v1 {
            tonic::include_proto!("openclaw.runner.v1");
        }
    }
}

/// Generated from the `.proto` files: one module a package.
pub mod wire {
    pub use crate::openclaw::channel::v1 as channel;
    pub use crate::openclaw::gateway::v1 as gateway;
    pub use crate::openclaw::memory::v1 as memory;
    pub use crate::openclaw::run::v1 as run;
    pub use crate::openclaw::runner::v1 as runner;
}

/// The encoded `FileDescriptorSet` of all packages, for gRPC reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));

/// The largest gRPC message either side takes, in bytes. A long transcript is
/// the largest thing sent; what does not fit is cut before it is sent.
pub const MESSAGE_LIMIT: usize = 16 * 1024 * 1024;
