//! The way to other hosts: an HTTP proxy that makes tunnels (CONNECT,
//! RFC 9110 §9.3.6) and nothing else.
//!
//! It resolves names itself and connects to the very address it has checked,
//! so that a name which is answered differently the second time leads nowhere.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use openclaw_handoff::proxies::Reach;
use openclaw_settings::Host;
use tokio::net::{TcpListener, TcpStream, lookup_host};
use tokio::time::timeout;

use crate::accept;
use crate::addresses::{is_own, is_public};

/// Tunnels of one turn at once. A package manager opens some tens.
const TUNNELS: usize = 64;
/// For the name service to answer.
const RESOLVE_DEADLINE: Duration = Duration::from_secs(10);
/// For the host to answer.
const CONNECT_DEADLINE: Duration = Duration::from_secs(15);

/// What the proxy lets through.
#[derive(Debug)]
pub(crate) struct Egress {
    reach: Reach,
    /// The header's value that the agent's programs send.
    pass: String,
}

/// Why there is no tunnel.
#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error("{0} is not the host and port of a tunnel")]
    Target(String),
    #[error(
        "{host}:{port} is not among the hosts this agent may reach ({known}); sandbox.hosts lists \
         them"
    )]
    NotListed {
        host: String,
        port: u16,
        known: String,
    },
    #[error("{0} leads to an address inside this machine or its networks, which is refused")]
    Private(String),
    #[error(
        "{0} leads to an address of this machine (an interface's, loopback, link-local or \
         metadata), which no server of tools reaches"
    )]
    Own(String),
    #[error("{host} cannot be resolved")]
    Resolve {
        host: String,
        #[source]
        source: io::Error,
    },
    #[error("{host} cannot be reached")]
    Connect {
        host: String,
        #[source]
        source: io::Error,
    },
}

impl Refused {
    fn status(&self) -> StatusCode {
        match self {
            Self::Target(_) => StatusCode::BAD_REQUEST,
            Self::NotListed { .. } | Self::Private(_) | Self::Own(_) => StatusCode::FORBIDDEN,
            Self::Resolve { .. } | Self::Connect { .. } => StatusCode::BAD_GATEWAY,
        }
    }
}

impl Egress {
    /// Lets who shows `token` through.
    pub(crate) fn new(reach: Reach, token: &str) -> Self {
        let pair = format!("openclaw:{token}");
        Self {
            reach,
            pass: format!("Basic {}", STANDARD.encode(pair)),
        }
    }

    /// Serves until it is dropped.
    pub(crate) async fn serve(self, listener: TcpListener) {
        let this = Arc::new(self);
        accept::serve(listener, TUNNELS, |stream| Arc::clone(&this).attend(stream)).await;
    }

    async fn attend(self: Arc<Self>, stream: TcpStream) {
        let (tell, told) = tokio::sync::oneshot::channel();
        let tell = Arc::new(std::sync::Mutex::new(Some(tell)));
        let service = service_fn(move |request: Request<Incoming>| {
            let this = Arc::clone(&self);
            let tell = Arc::clone(&tell);
            async move {
                let (answer, tunnel) = this.answer(request).await;
                if let Some(tunnel) = tunnel
                    && let Ok(mut tell) = tell.lock()
                    && let Some(tell) = tell.take()
                {
                    let _ = tell.send(tunnel);
                }
                Ok::<_, Infallible>(answer)
            }
        });
        let connection = hyper::server::conn::http1::Builder::new()
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades();
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a program broke off at the proxy");
        }
        if let Ok(tunnel) = told.await {
            tunnel.run().await;
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> (Response<Full<Bytes>>, Option<Tunnel>) {
        let shown = request.headers().get(PROXY_AUTHORIZATION);
        if shown.is_none_or(|shown| shown.as_bytes() != self.pass.as_bytes()) {
            let words = "this proxy is for the programs of one turn: use HTTPS_PROXY as it is set";
            let mut refusal = said(StatusCode::PROXY_AUTHENTICATION_REQUIRED, words.to_owned());
            let basic = HeaderValue::from_static("Basic realm=\"openclaw\"");
            refusal.headers_mut().insert(PROXY_AUTHENTICATE, basic);
            return (refusal, None);
        }
        if request.method() != Method::CONNECT {
            let words = "this proxy makes tunnels only (CONNECT): ask for https:// addresses";
            return (said(StatusCode::METHOD_NOT_ALLOWED, words.to_owned()), None);
        }
        match self.open(&request).await {
            Ok(stream) => {
                let tunnel = Tunnel {
                    inside: hyper::upgrade::on(request),
                    outside: stream,
                };
                (Response::default(), Some(tunnel))
            }
            Err(refused) => {
                let words = openclaw_daemon::failure::chain(&refused);
                tracing::info!(reason = words, "a connection of the agent's is refused");
                (said(refused.status(), words), None)
            }
        }
    }

    async fn open(&self, request: &Request<Incoming>) -> Result<TcpStream, Refused> {
        let target = request.uri().authority();
        let target = target.and_then(|target| Some((target.host(), target.port_u16()?)));
        let Some((host, port)) = target else {
            return Err(Refused::Target(request.uri().to_string()));
        };
        let addresses = self.checked(host, port).await?;
        let connect = |source| Refused::Connect {
            host: host.to_owned(),
            source,
        };
        // One after the other, until one answers.
        match timeout(CONNECT_DEADLINE, TcpStream::connect(&addresses[..])).await {
            Ok(stream) => stream.map_err(connect),
            Err(_) => Err(connect(io::ErrorKind::TimedOut.into())),
        }
    }

    /// The addresses to connect to: those of a name, when all of them may be
    /// reached.
    async fn checked(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, Refused> {
        if let Reach::Listed(hosts) = &self.reach
            && !hosts.iter().any(|listed| listed.allows(host, port))
        {
            let known: Vec<String> = hosts.iter().map(Host::to_string).collect();
            return Err(Refused::NotListed {
                host: host.to_owned(),
                port,
                known: known.join(", "),
            });
        }
        // RFC 3986 writes addresses of version 6 in brackets, resolvers do not.
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let resolve = |source| Refused::Resolve {
            host: host.to_owned(),
            source,
        };
        let found = match timeout(RESOLVE_DEADLINE, lookup_host((host, port))).await {
            Ok(found) => found.map_err(resolve)?,
            Err(_) => return Err(resolve(io::ErrorKind::TimedOut.into())),
        };
        let found: Vec<SocketAddr> = found.collect();
        let is_refused = |refused: fn(IpAddr) -> bool| found.iter().any(|it| refused(it.ip()));
        match self.reach {
            Reach::Listed(_) if is_refused(|address| !is_public(address)) => {
                return Err(Refused::Private(host.to_owned()));
            }
            Reach::Elsewhere if is_refused(is_own) => return Err(Refused::Own(host.to_owned())),
            _ => {}
        }
        if found.is_empty() {
            Err(resolve(io::ErrorKind::NotFound.into()))
        } else {
            Ok(found)
        }
    }
}

struct Tunnel {
    inside: hyper::upgrade::OnUpgrade,
    outside: TcpStream,
}

impl Tunnel {
    async fn run(mut self) {
        let Ok(inside) = self.inside.await else {
            return;
        };
        let mut inside = TokioIo::new(inside);
        // Either side may break off.
        let _ = tokio::io::copy_bidirectional(&mut inside, &mut self.outside).await;
    }
}

fn said(status: StatusCode, words: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(words + "\n")));
    *response.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, plain);
    response
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    async fn asked(hosts: &[&str], request: &str) -> String {
        let hosts = hosts.iter().map(|host| Host::parse(host).unwrap());
        answered(Reach::Listed(hosts.collect()), request).await
    }

    async fn answered(reach: Reach, request: &str) -> String {
        let egress = Egress::new(reach, "token");
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = tokio::spawn(egress.serve(listener));
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        server.abort();
        answer
    }

    fn tunnel(target: &str) -> String {
        let pass = STANDARD.encode("openclaw:token");
        format!(
            "CONNECT {target} HTTP/1.1\r\nHost: {target}\r\nProxy-Authorization: Basic {pass}\r\n\
             Connection: close\r\n\r\n"
        )
    }

    #[tokio::test]
    async fn egress_only_listed_public_hosts_get_a_tunnel() {
        for (hosts, target, status) in [
            (&["example.org"][..], "other.org:443", "403"),
            (&["example.org"], "example.org:22", "403"),
            (&["localhost"], "localhost:443", "403"),
            (&["localhost:1"], "127.0.0.1:1", "403"),
            (&["localhost"], "169.254.169.254:80", "403"),
            (&["localhost"], "[::1]:443", "403"),
            (&["no-such-name.invalid"], "no-such-name.invalid:443", "502"),
        ] {
            let answer = asked(hosts, &tunnel(target)).await;
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status}")),
                "{target}: {answer}"
            );
        }
        let private = asked(&["localhost"], &tunnel("localhost:443")).await;
        assert!(
            private.contains("inside this machine or its networks"),
            "{private}"
        );
    }

    #[tokio::test]
    async fn elsewhere_is_neither_loopback_nor_link_local() {
        for target in [
            "localhost:443",
            "127.0.0.1:18789",
            "127.1.2.3:80",
            "2130706433:80",
            "0x7f.1:80",
            "0.0.0.0:80",
            "[::1]:443",
            "[::]:443",
            "[::ffff:127.0.0.1]:443",
            "169.254.169.254:80",
            "[fe80::1]:80",
            "[fd00:ec2::254]:80",
            "224.0.0.1:80",
        ] {
            let answer = answered(Reach::Elsewhere, &tunnel(target)).await;
            let refused = answer.starts_with("HTTP/1.1 403")
                || answer.starts_with("HTTP/1.1 400")
                || answer.starts_with("HTTP/1.1 502");
            assert!(refused, "{target}: {answer}");
            assert!(!answer.contains("cannot be reached"), "{target}: {answer}");
        }
        let named = answered(Reach::Elsewhere, &tunnel("localhost:443")).await;
        assert!(named.contains("no server of tools reaches"), "{named}");
    }

    #[tokio::test]
    async fn egress_wants_the_token_and_makes_tunnels_only() {
        let open = "CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        let answer = asked(&["example.org"], open).await;
        assert!(answer.starts_with("HTTP/1.1 407"), "{answer}");
        let get = tunnel("x").replace("CONNECT x", "GET http://example.org/");
        let answer = asked(&["example.org"], &get).await;
        assert!(answer.starts_with("HTTP/1.1 405"), "{answer}");
    }
}
