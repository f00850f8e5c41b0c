//! Where a program of level workspace connects to: its turn's door, and nowhere else.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "test code, shared functions included"
)]

mod support;

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::net::{IpAddr, TcpListener, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use openclaw_sandbox::probe::{Report, State};
use openclaw_sandbox::{Connections, Network};
use support::{Caller, Site, assert_success, callers, text, told};

/// What each way of `programs/connect.c` comes to where connections are judged by their address.
const JUDGED: [(&str, &str); 30] = [
    ("door", "reached"),
    ("door-later", "reached later"),
    ("door-mapped", "reached"),
    ("other-loopback", "EACCES"),
    ("other-loopback-later", "EACCES"),
    ("any-address", "EACCES"),
    ("outside", "EACCES"),
    ("ipv6", "EACCES"),
    ("other-mapped", "EACCES"),
    ("datagram", "EPERM"),
    ("send-fast-open", "EPERM"),
    ("message-fast-open", "EPERM"),
    ("ring", "ENOSYS"),
    ("source-route", "EPERM"),
    ("interface", "EPERM"),
    ("listen", "EPERM"),
    ("file", "ENOTSOCK"),
    ("no-descriptor", "EBADF"),
    ("no-address", "EFAULT"),
    ("short", "EINVAL"),
    ("first", "reached"),
    ("second", "EISCONN"),
    ("disconnect", "reached"),
    ("then-other", "EACCES"),
    ("then-door", "reached"),
    ("unix", "EACCES"),
    ("unix-to-door", "EAFNOSUPPORT"),
    ("race", "door alone"),
    ("many", "100"),
    ("left", "0"),
];

/// A program of `programs`, linked statically, which no variable of the loader reaches.
fn built(site: &Site, name: &str) -> PathBuf {
    let source = format!("{}/tests/programs/{name}.c", env!("CARGO_MANIFEST_DIR"));
    let program = site.path(name);
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-static", "-pthread", &source, "-o"]);
    assert!(compiler.arg(&program).status().unwrap().success());
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    program
}

/// A door at every address of this machine, which takes whoever comes.
fn door() -> u16 {
    let listener = TcpListener::bind("[::]:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || for _ in listener.incoming() {});
    port
}

/// An address of this machine that is not its loopback's: that by which it would go out.
fn own_address() -> String {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    let found = socket
        .connect("192.0.2.1:9")
        .and_then(|()| socket.local_addr());
    let found = found.map(|address| address.ip());
    let found = found
        .ok()
        .filter(|address| *address != IpAddr::from([127, 0, 0, 1]));
    found.map_or_else(|| "-".to_owned(), |address| address.to_string())
}

fn site(caller: Caller, port: u16) -> Site {
    let mut site = Site::new(caller);
    site.plan.network = Network::Loopback(vec![port]);
    site.plan.connections = Connections::Address;
    site
}

fn ways(output: &Output) -> BTreeMap<String, String> {
    assert_success(output);
    let text = text(&output.stdout);
    let ways = text.lines().filter_map(|line| line.split_once(' '));
    ways.map(|(name, what)| (name.to_owned(), what.to_owned()))
        .collect()
}

/// The ways that a command of the helper's program finds; `around` comes before it.
fn tried(site: &mut Site, port: u16, around: &[&str]) -> BTreeMap<String, String> {
    let program = built(site, "connect");
    site.plan.read_only.push(program.clone());
    let port = port.to_string();
    let own = own_address();
    let inner = site.command(program.to_str().unwrap(), &[&port, &own]);
    ways(&wrapped(site, inner, around).output().unwrap())
}

fn wrapped(site: &Site, inner: Command, around: &[&str]) -> Command {
    let Some((first, rest)) = around.split_first() else {
        return inner;
    };
    let mut command = Command::new(first);
    command.env_clear().args(rest).arg(inner.get_program());
    command.args(inner.get_args());
    for (name, value) in inner.get_envs() {
        command.env(name, value.unwrap());
    }
    site.called(command)
}

fn judged(without: &[(&str, &str)]) -> BTreeMap<String, String> {
    let mut wanted: BTreeMap<_, _> = JUDGED
        .iter()
        .chain(without)
        .map(|(name, what)| ((*name).to_owned(), (*what).to_owned()))
        .collect();
    if own_address() != "-" {
        wanted.insert("own-address".to_owned(), "EACCES".to_owned());
    }
    wanted
}

#[test]
fn connections_lead_to_the_door_and_nowhere_else() {
    let port = door();
    for caller in callers() {
        let found = tried(&mut site(caller, port), port, &[]);
        assert_eq!(found, judged(&[]), "{caller:?}");
    }
}

/// As in a container, whose filter keeps processes from copies of others' descriptors.
#[test]
fn connections_lead_to_the_door_where_no_descriptor_can_be_copied() {
    let port = door();
    for caller in callers() {
        let mut site = site(caller, port);
        let outer = built(&site, "outer");
        let found = tried(&mut site, port, &[outer.to_str().unwrap(), "deny"]);
        // What is connected cannot be taken apart again.
        let other = [("disconnect", "EPERM"), ("then-door", "EISCONN")];
        assert_eq!(found, judged(&other), "{caller:?}");
    }
}

/// What the two above would find without it.
#[test]
fn connections_by_port_lead_to_every_address() {
    let port = door();
    let mut site = site(Caller::Ordinary, port);
    site.plan.connections = Connections::Port;
    let found = tried(&mut site, port, &[]);
    for way in [
        "door",
        "other-loopback",
        "any-address",
        "ipv6",
        "then-other",
    ] {
        let what = found[way].as_str();
        assert!(["reached", "EISCONN"].contains(&what), "{way}: {what}");
    }
    assert_eq!(found["race"], "elsewhere");
    let off = tried(&mut site.off(), port, &[]);
    for way in ["datagram", "interface", "listen"] {
        assert_eq!(off[way], "reached", "{way}");
    }
}

#[test]
fn turn_does_not_begin_where_somebody_else_answers_calls_already() {
    let port = door();
    let site = site(Caller::Ordinary, port);
    let outer = built(&site, "outer");
    let around = [outer.to_str().unwrap(), "busy"];
    let begun = site.command("/bin/true", &[]);
    let output = wrapped(&site, begun, &around).output().unwrap();
    assert_eq!(output.status.code(), Some(125), "{}", told(&output));
    assert!(told(&output).contains("EBUSY"), "{}", told(&output));

    let mut probe = Command::new(site.helper());
    probe.args(["probe", "--json"]);
    let probed = wrapped(&site, probe, &around).output().unwrap();
    let report: Report = serde_json::from_slice(&probed.stdout).unwrap();
    let check = report.get("door_addresses").unwrap();
    assert_eq!(check.state, State::Unavailable, "{check:?}");
}

#[test]
fn probe_proves_that_addresses_are_judged() {
    for caller in callers() {
        let site = Site::new(caller);
        let mut probe = Command::new(site.helper());
        probe.args(["probe", "--json"]);
        let output = site.called(probe).output().unwrap();
        let report: Report = serde_json::from_slice(&output.stdout).unwrap();
        let check = report.get("door_addresses").unwrap();
        assert_eq!(check.state, State::Enforced, "{check:?}");
    }
}

/// A program that hides its memory connects nowhere; one that is only told that it does, does.
#[test]
fn programs_that_hide_their_memory_connect_where_the_plan_says_so() {
    let (port, prctl) = (door(), nix::libc::SYS_prctl);
    let script = format!(
        "use Socket; my $hid = syscall({prctl}, 4, 0, 0, 0, 0); \
         socket(S, PF_INET, SOCK_STREAM, 0) or die qq(socket: $!); \
         connect(S, pack_sockaddr_in({port}, inet_aton('127.0.0.1'))) or die qq(connect: $!); \
         print $hid"
    );
    let mut site = site(Caller::Ordinary, port);
    let output = site.perl(&script);
    assert!(
        told(&output).contains("Permission denied"),
        "{}",
        told(&output)
    );
    site.plan.connections = Connections::AddressOfHidden;
    let output = site.perl(&script);
    assert_success(&output);
    assert_eq!(text(&output.stdout), "0");
}
