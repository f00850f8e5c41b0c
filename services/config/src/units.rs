//! Numbers of the configuration with the units that the settings have.

/// One MiB in bytes.
pub const MIB: u64 = 1 << 20;

/// MiB, read as bytes.
pub mod mebibytes {
    use serde::{Deserialize as _, Deserializer, Serializer};

    use crate::units::MIB;

    /// For serde.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        u64::deserialize(from).map(|mib| mib.saturating_mul(MIB))
    }

    /// For serde.
    pub fn serialize<S: Serializer>(bytes: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(bytes / MIB)
    }
}

/// Seconds, read as a duration.
pub mod seconds {
    use serde::{Deserialize as _, Deserializer, Serializer};

    use std::time::Duration;

    /// For serde.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_secs)
    }

    /// For serde.
    pub fn serialize<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(duration.as_secs())
    }
}

/// Milliseconds, read as a duration.
pub mod milliseconds {
    use serde::{Deserialize as _, Deserializer, Serializer};

    use std::time::Duration;

    /// For serde.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_millis)
    }

    /// For serde.
    pub fn serialize<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    }
}
