//! `gateway`.

use super::{Effect, Row, UNSUPPORTED, When, row};

use Effect::{NotNeeded, NotSupported, Restricts};

/// What only matters to OpenClaw's web pages.
const PAGES: Effect = NotNeeded("OpenClaw's web pages are not served");
/// What only matters to files and images that are named by URL.
const URLS: Effect = NotNeeded("the gateway fetches nothing by URL, and has limits of its own");
/// What only matters to nodes.
const NODES: Effect = NotSupported("no commands are sent to nodes");

pub(super) const ROWS: &[Row] = &[
    row(
        "gateway.auth",
        UNSUPPORTED,
        &["allowTailscale", "identityScopes", "trustedProxy"],
    ),
    row(
        "gateway.controlUi",
        PAGES,
        &[
            "allowExternalEmbedUrls",
            "automaticallyFetchFavicons",
            "basePath",
            "communityInvite",
            "dangerouslyAllowHostHeaderOriginFallback",
            "dangerouslyDisableDeviceAuth",
            "embedSandbox",
            "enabled",
            "environment",
            "experimental",
            "github",
            "root",
            "sessionObserver",
        ],
    ),
    row(
        "gateway.http.endpoints",
        URLS,
        &[
            "chatCompletions.images",
            "responses.files",
            "responses.images",
            "responses.maxUrlParts",
        ],
    ),
    row(
        "gateway.http",
        NotNeeded("the port speaks no TLS; a proxy in front of it sets its own headers"),
        &["securityHeaders"],
    ),
    row("gateway", NODES, &["nodes"]),
    row(
        "gateway.nodes",
        NotNeeded("a device elsewhere is paired by a person alone"),
        &["pairing"],
    ),
    row(
        "gateway.nodes",
        Restricts {
            when: When::False,
            instead: "take it away; a device on this machine that has the gateway's token is \
                      paired at once",
        },
        &["pairing.autoApproveLocal"],
    ),
    row(
        "gateway",
        NotNeeded("the suite is always this machine's"),
        &["mode"],
    ),
    row(
        "gateway.reload",
        NotNeeded("a change of the file is always taken up at once"),
        &["mode"],
    ),
    row(
        "gateway",
        NotNeeded("openclawctl reaches the suite over its own socket"),
        &["remote"],
    ),
    row(
        "gateway",
        NotNeeded("there is no /tools/invoke"),
        &["tools"],
    ),
    row(
        "gateway",
        UNSUPPORTED,
        &[
            "allowRealIpFallback",
            "cliAgents",
            "portals",
            "publicOrigin",
            "push",
            "tailscale",
            "terminal",
        ],
    ),
    row(
        "gateway",
        Restricts {
            when: When::Set,
            instead: "take it away; whoever has the gateway's token has the scopes that it asks for",
        },
        &["roles.default", "roles.definitions"],
    ),
    row(
        "gateway.tls",
        Restricts {
            when: When::Set,
            instead: "set it to false, leave gateway.bind at \"loopback\", and put a proxy that \
                      speaks TLS in front of the port (gateway.trustedProxies)",
        },
        &["enabled"],
    ),
    row(
        "gateway.tls",
        NotSupported("the port speaks no TLS"),
        &["autoGenerate", "caPath", "certPath", "keyPath"],
    ),
];
