//! The sockets over which clients come in.

/// A TCP socket by its FileDescriptorName.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TcpDoor {
    /// WebSocket and HTTP.
    Main,
    /// Seed 000's HTTP.
    Cli,
}

impl TcpDoor {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Main, Self::Cli];

    /// FileDescriptorName= of its socket unit.
    pub fn name(self) -> &'static str {
        match self {
            Self::Main => "http",
            Self::Cli => "cli",
        }
    }
}
