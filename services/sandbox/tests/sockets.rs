//! Which sockets a confined program makes.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "test code, shared functions included"
)]

mod support;

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::Path;
use std::process::Output;

use support::{Site, assert_refused, assert_success, callers};

const NOT_PERMITTED: &str = "not permitted";

fn open_to_all(path: &Path) {
    fs::set_permissions(path, Permissions::from_mode(0o777)).unwrap();
}

fn connect_unix(site: &Site) -> Output {
    site.perl(
        "use Socket; socket(S, PF_UNIX, SOCK_STREAM, 0) or die qq(socket: $!); \
         connect(S, pack_sockaddr_un('../workspace/listener')) or die qq(connect: $!)",
    )
}

fn send_from_pair(site: &Site) -> Output {
    site.perl(
        "use Socket; socketpair(A, B, PF_UNIX, SOCK_DGRAM, 0) or die qq(pair: $!); \
         send(A, 'x', 0, pack_sockaddr_un('../workspace/receiver')) or die qq(send: $!)",
    )
}

fn connect_tcp(site: &Site, port: u16) -> Output {
    site.perl(&format!(
        "use Socket; socket(S, PF_INET, SOCK_STREAM, 0) or die qq(socket: $!); \
         connect(S, pack_sockaddr_in({port}, inet_aton('127.0.0.1'))) or die qq(connect: $!)",
    ))
}

#[test]
fn unix_sockets_are_out_of_reach_even_inside_the_workspace() {
    for caller in callers() {
        for site in [Site::new(caller), Site::new(caller).full_network()] {
            let path = site.path("workspace/listener");
            let _listener = UnixListener::bind(&path).unwrap();
            open_to_all(&path);
            assert_refused(&connect_unix(&site), NOT_PERMITTED);
            assert_success(&connect_unix(&site.off()));
        }
    }
}

#[test]
fn datagram_pair_is_no_way_around() {
    for caller in callers() {
        for site in [Site::new(caller), Site::new(caller).full_network()] {
            let path = site.path("workspace/receiver");
            let _receiver = UnixDatagram::bind(&path).unwrap();
            open_to_all(&path);
            assert_refused(&send_from_pair(&site), NOT_PERMITTED);
            assert_success(&send_from_pair(&site.off()));
        }
    }
}

#[test]
fn stream_pairs_work() {
    for caller in callers() {
        let script = "use Socket; socketpair(A, B, PF_UNIX, SOCK_STREAM, 0) or die $!; \
                      syswrite(A, 'x') == 1 or die $!; sysread(B, $x, 1) == 1 or die $!";
        assert_success(&Site::new(caller).perl(script));
    }
}

#[test]
fn tcp_works_with_the_full_network_only() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    for caller in callers() {
        assert_refused(&connect_tcp(&Site::new(caller), port), NOT_PERMITTED);
        assert_success(&connect_tcp(&Site::new(caller).full_network(), port));
        assert_success(&connect_tcp(&Site::new(caller).off(), port));
    }
}

#[test]
fn sockets_other_families_are_refused_with_the_full_network_too() {
    // Kernel crypto, virtual machine sockets, and netlink other than routing.
    let families = [("38", "5", "0"), ("40", "1", "0"), ("16", "3", "16")];
    for caller in callers() {
        for (family, kind, protocol) in families {
            let script = format!("socket(S, {family}, {kind}, {protocol}) or die $!");
            assert_refused(
                &Site::new(caller).full_network().perl(&script),
                NOT_PERMITTED,
            );
        }
        let routing = "socket(S, 16, 3, 0) or die $!";
        assert_success(&Site::new(caller).full_network().perl(routing));
    }
}
