//! TCP ports of this machine: who has one, which one is free, and which one the
//! configuration keeps.

use std::fmt;
use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::os::unix::fs::DirBuilderExt as _;

use anyhow::Context as _;
use nix::unistd::{Uid, User, geteuid};
use openclaw_config::{Environment, KeyPath};
use openclaw_settings::Settings;
use openclaw_settings::file::File;
use openclaw_terminal::Failure;

/// Where the kernel lists the sockets of this network, with their owners (proc(5)).
const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];
/// TCP_LISTEN, as the tables have it.
const LISTENS: &str = "0A";
/// The key that keeps a port.
const KEY: &str = "gateway.port";
/// Ports that are tried: those after the default one. Each user begins at
/// another, so that those whose suites do not run meanwhile rarely meet.
const FIRST: u16 = 18790;
const COUNT: u16 = 200;
/// Only its owner: the state directory.
const MODE: u32 = 0o700;

/// Somebody listens there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// Where.
    pub address: SocketAddr,
    /// Whose socket it is, where the kernel says so.
    pub holder: Option<Uid>,
}

impl Taken {
    /// Whether it is a socket of the user that this process runs as.
    pub fn is_own(&self) -> bool {
        self.holder == Some(geteuid())
    }
}

impl fmt::Display for Taken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} is taken by ", self.address)?;
        let Some(uid) = self.holder else {
            return write!(out, "another program");
        };
        if self.is_own() {
            return write!(out, "another program of yours");
        }
        match User::from_uid(uid) {
            Ok(Some(user)) => write!(out, "the user {}", user.name),
            _ => write!(out, "the user {uid}"),
        }
    }
}

/// Who has `address`; `None`: it is free.
///
/// # Errors
/// When nobody can listen there for another reason, such as an address that
/// this machine does not have.
pub fn taken(address: SocketAddr) -> io::Result<Option<Taken>> {
    match TcpListener::bind(address) {
        Ok(_) => Ok(None),
        Err(error) if error.kind() == ErrorKind::AddrInUse => Ok(Some(Taken {
            address,
            holder: holder(address),
        })),
        Err(error) => Err(error),
    }
}

/// A free port at `address`, none of `others`.
pub fn free(address: IpAddr, others: &[u16]) -> Option<u16> {
    candidates(others).find(|port| TcpListener::bind((address, *port)).is_ok())
}

/// The ports that are tried, but for `others`.
pub(crate) fn candidates(others: &[u16]) -> impl Iterator<Item = u16> {
    let begin = u16::try_from(geteuid().as_raw() % u32::from(COUNT)).unwrap_or_default();
    (0..COUNT)
        .map(move |step| FIRST + (begin + step) % COUNT)
        .filter(|port| !others.contains(port))
}

/// Makes the configuration file say that `port` is the gateway's.
///
/// # Errors
/// When it cannot be written, or something else says another port.
pub fn keep(port: u16, settings: &Settings, environment: &Environment) -> Result<(), Failure> {
    let paths = &settings.paths;
    let mut folder = DirBuilder::new();
    let made = folder.recursive(true).mode(MODE).create(&paths.state);
    made.with_context(|| format!("cannot make {}", paths.state.display()))?;
    let key = KeyPath::parse(KEY).map_err(anyhow::Error::from)?;
    let mut file = File::open(paths)?;
    file.set(&key, port.into())?;
    if let Some(problem) = file.problems(environment)?.new.first() {
        let file = file.path().display();
        return Err(Failure::new(format!(
            "cannot set {KEY} in {file}: {problem}"
        )));
    }
    file.save()?;
    let holds = openclaw_settings::load(environment)?.gateway.port;
    if holds == port {
        return Ok(());
    }
    let file = file.path().display();
    let text = format!("{KEY} is {port} in {file}, but something else sets it to {holds}");
    Err(Failure::new(text).hint("OPENCLAW_GATEWAY_PORT, OPENCLAW__GATEWAY__PORT or a drop-in may"))
}

fn holder(address: SocketAddr) -> Option<Uid> {
    // A kernel without IPv6 has no second table.
    let tables = TABLES
        .into_iter()
        .filter_map(|path| fs::read_to_string(path).ok());
    tables.into_iter().find_map(|table| listed(&table, address))
}

/// Whose socket `table` has at `address`, or at all addresses.
fn listed(table: &str, address: SocketAddr) -> Option<Uid> {
    let wanted = address.ip();
    table.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (ip, port) = fields.get(1)?.split_once(':')?;
        let is_there = u16::from_str_radix(port, 16) == Ok(address.port());
        let is_listening = fields.get(3) == Some(&LISTENS);
        let ip = parsed(ip)?;
        let overlaps = ip == wanted || ip.is_unspecified() || wanted.is_unspecified();
        let uid = fields.get(7)?.parse().ok()?;
        (is_there && is_listening && overlaps).then(|| Uid::from_raw(uid))
    })
}

/// An address as the tables have it: words in the order of this machine's bytes.
fn parsed(text: &str) -> Option<IpAddr> {
    let words: Vec<u32> = text
        .as_bytes()
        .chunks(8)
        .map(|word| u32::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok())
        .collect::<Option<_>>()?;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    if let Ok(bytes) = <[u8; 4]>::try_from(bytes.as_slice()) {
        return Some(Ipv4Addr::from(bytes).into());
    }
    let bytes = <[u8; 16]>::try_from(bytes.as_slice()).ok()?;
    Some(IpAddr::from(Ipv6Addr::from(bytes)).to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:4965 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1001        0 11 1 0 100 0 0 10 0
   1: 0100007F:4966 0100007F:4965 01 00000000:00000000 00:00000000 00000000  1002        0 12 1 0 100 0 0 10 0
   2: 00000000:4967 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1003        0 13 1 0 100 0 0 10 0
";

    #[cfg(target_endian = "little")]
    #[test]
    fn port_is_that_of_the_user_whom_the_kernel_names() {
        let who = |address: &str| listed(TABLE, address.parse().unwrap()).map(Uid::as_raw);
        assert_eq!(who("127.0.0.1:18789"), Some(1001));
        assert_eq!(who("0.0.0.0:18789"), Some(1001));
        assert_eq!(who("127.0.0.2:18789"), None, "another address");
        assert_eq!(who("127.0.0.1:18790"), None, "a connection is no listener");
        assert_eq!(who("127.0.0.1:18791"), Some(1003), "all addresses");
        let six = "00000000000000000000000001000000";
        assert_eq!(parsed(six), Some("::1".parse().unwrap()));
        assert_eq!(
            parsed("0000000000000000FFFF00000100007F"),
            Some("127.0.0.1".parse().unwrap())
        );
        assert_eq!(parsed("zz"), None);
    }

    #[test]
    fn port_that_is_taken_is_named_with_its_holder_and_another_is_free() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let found = taken(address).unwrap().unwrap();
        assert!(found.is_own(), "{found:?}");
        let said = format!("{address} is taken by another program of yours");
        assert_eq!(found.to_string(), said);
        let root = Taken {
            holder: Some(Uid::from_raw(0)),
            address,
        };
        if !geteuid().is_root() {
            assert!(root.to_string().ends_with("by the user root"), "{root}");
        }
        let nobody = Taken {
            holder: None,
            address,
        };
        assert!(
            nobody.to_string().ends_with("by another program"),
            "{nobody}"
        );
        drop(listener);
        let first = free(address.ip(), &[]).unwrap();
        let second = free(address.ip(), &[first]).unwrap();
        assert_ne!(first, second);
        assert!((FIRST..FIRST + COUNT).contains(&first));
    }

    #[test]
    fn port_is_kept_beside_what_the_file_says() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let environment = |port: &str| -> Environment {
            let state = state.to_str().unwrap();
            let variables = [
                ("OPENCLAW_STATE_DIR", state),
                ("OPENCLAW_GATEWAY_PORT", port),
            ];
            variables
                .into_iter()
                .filter(|(_, value)| !value.is_empty())
                .collect()
        };
        let plain = environment("");
        let settings = openclaw_settings::load(&plain).unwrap();
        keep(18790, &settings, &plain).unwrap();
        let file = state.join("openclaw.json");
        fs::write(
            &file,
            "{ // mine\n  gateway: { port: 18790 }, models: { default: 'a/b' } }",
        )
        .unwrap();
        keep(18791, &settings, &plain).unwrap();
        let text = fs::read_to_string(&file).unwrap();
        assert!(
            text.contains("// mine") && text.contains("18791") && text.contains("a/b"),
            "{text}"
        );
        let refused = keep(18792, &settings, &environment("19000")).unwrap_err();
        assert!(
            refused.text().contains("sets it to 19000"),
            "{}",
            refused.text()
        );
    }
}
