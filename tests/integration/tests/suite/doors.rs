//! Who may connect.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use integration_tests::{Setup, within};
use tokio::process::Command;

/// The user `nobody` of every Linux.
const OTHER: &str = "65534";
/// Opens an HTTP/2 connection, as gRPC does, and tells what comes back.
const KNOCK: &str = r#"
    use IO::Socket::UNIX;
    # Closed at once, the connection cannot be written to either.
    $SIG{PIPE} = 'IGNORE';
    my $socket = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die "connect: $!";
    print $socket "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\0\0\0\4\0\0\0\0\0";
    $socket->flush;
    print sysread($socket, my $answer, 9) ? "answered" : "closed";
"#;

async fn knock(mut command: Command, socket: &Path) -> String {
    command
        .args(["perl", "-e", KNOCK])
        .arg(socket)
        .kill_on_drop(true);
    let output = within("a knock", command.output()).await.unwrap();
    let said = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&said).into_owned()
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "plays another user's program")]
async fn doors_only_the_own_user_and_root_are_answered() {
    if !test_skip::is_root("another user's programs") {
        return;
    }
    let suite = Setup::offline().start().await;
    for folder in [suite.path(""), suite.runtime()] {
        fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
    }
    for name in ["gateway.sock", "runner.sock", "memory.sock"] {
        let socket = suite.runtime().join(name);
        fs::set_permissions(&socket, Permissions::from_mode(0o666)).unwrap();
        assert_eq!(
            knock(Command::new("env"), &socket).await,
            "answered",
            "{name}"
        );
        let mut other = Command::new("setpriv");
        other.args(["--reuid", OTHER, "--regid", OTHER, "--clear-groups"]);
        assert_eq!(knock(other, &socket).await, "closed", "{name}");
    }
    let record = suite
        .log
        .message("refused a connection from another user")
        .await;
    assert_eq!(record["context"]["peer_uid"], 65534, "{record}");
}
