//! Whose suite it is: an ordinary user's, or the machine's.

use system_tests::Account;

use crate::stage::PROGRAMS;

/// One of the two.
#[derive(Debug)]
pub(crate) struct Side {
    pub(crate) name: &'static str,
    pub(crate) account: Account,
    /// Where the agents' workspaces are.
    pub(crate) workspaces: &'static str,
    /// Shell variables, as assignments.
    places: &'static str,
    /// Gives what was put into the agents' folders to the agents.
    pub(crate) give: &'static str,
    /// Starts the daemons again.
    pub(crate) restart: &'static str,
    pub(crate) is_root: bool,
    /// The first of the ports that somebody knocks at, one for each agent; the number also tells apart what agents leave
    /// in places that both sides have.
    pub(crate) first_port: usize,
}

/// An ordinary user with a service manager of the user's own.
pub(crate) const USER: Side = Side {
    name: "user",
    account: Account::Claw,
    workspaces: "/home/claw/work",
    places: "SIDE=user H=/home/claw UP=../.. STATE=/home/claw/.openclaw R=/run/user/1000 S=/run/user/1000/openclaw \
        BUS=/run/user/1000/bus PRIVATE=/run/user/1000/systemd/private NOTIFY=/run/user/1000/systemd/notify \
        CTL=openclawctl SYSTEMCTL='systemctl --user' RUN='systemd-run --user' JOURNAL='journalctl --user' \
        XDG_RUNTIME_DIR=/run/user/1000 WORKSPACES=/home/claw/work OUT=/home/claw/said",
    give: "true",
    restart: "systemctl --user restart openclaw.target",
    is_root: false,
    first_port: 4440,
};

/// The machine's administrator, whose agents are nobody.
pub(crate) const ROOT: Side = Side {
    name: "root",
    account: Account::Root,
    workspaces: "/root/.openclaw/work",
    places: "SIDE=root H=/root UP=../../.. STATE=/root/.openclaw R=/run S=/run/openclaw \
        BUS=/run/dbus/system_bus_socket PRIVATE=/run/systemd/private NOTIFY=/run/systemd/notify \
        CTL=openclawctl SYSTEMCTL=systemctl RUN=systemd-run JOURNAL=journalctl WORKSPACES=/root/.openclaw/work OUT=/root/said \
        OPENCLAW_STATE_DIR=/root/.openclaw OPENCLAW_RUNTIME_DIR=/run/openclaw",
    give: "chown -R nobody:nogroup $STATE/work $STATE/agents/*/mcp 2>/dev/null || true",
    restart: "systemctl restart openclaw-gateway.service openclaw-agent-runner.service openclaw-memory.service",
    is_root: true,
    first_port: 4500,
};

impl Side {
    /// What lines of shell find.
    pub(crate) fn variables(&self) -> String {
        format!("export {}; export PATH=$PATH:{PROGRAMS}", self.places)
    }

    /// A socket and a service for each daemon, as an administrator might write them.
    pub(crate) fn units(&self) -> String {
        let mut script = String::from("mkdir -m 700 -p $S\n");
        for (daemon, socket) in [
            ("gateway", "gateway"),
            ("agent-runner", "runner"),
            ("memory", "memory"),
        ] {
            script.push_str(&format!(
                "printf '%s\\n' '[Socket]' ListenStream=$S/{socket}.sock FileDescriptorName=control \
                   SocketMode=0600 >/etc/systemd/system/openclaw-{daemon}.socket\n\
                 printf '%s\\n' '[Service]' Type=notify ExecStart={PROGRAMS}/openclaw-{daemon} \
                   EnvironmentFile=$H/.config/openclaw/env \
                   \"Environment=HOME=$H OPENCLAW_STATE_DIR=$STATE OPENCLAW_RUNTIME_DIR=$S\" \
                   >/etc/systemd/system/openclaw-{daemon}.service\n"
            ));
        }
        script
            + "systemctl daemon-reload && systemctl start openclaw-gateway.socket openclaw-agent-runner.socket openclaw-memory.socket"
    }
}
