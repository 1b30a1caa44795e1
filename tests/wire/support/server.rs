//! A real server on a port of its own, on a thread of its own. Dropped, it is gone.

use std::net::{IpAddr, SocketAddr};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use twolane::base::clock::{Clock, ManualClock};
use twolane::base::trace::Trace;
use twolane::conn::stop::{Phase, Stop};
use twolane::road::Road;
use twolane::server::{Builder, Handle};
use twolane::tables::rejection::Rejection;

use super::capture::Capture;
use super::http1::Http1;
use super::http2::Http2;
use super::message::{Request, Response};
use super::messages;
use super::tools::Tools;
use super::{Client, Protocol};

/// A server that serves.
#[derive(Debug)]
pub struct Server {
    pub address: SocketAddr,
    pub road: Road,
    pub handle: Handle,
    /// Stands still until a test moves it. Sessions age by it.
    pub clock: ManualClock,
    pub tools: Tools,
    /// What the server's thread says; handlers on the blocking pool are not heard.
    pub told: Capture,
    pub stop: Stop,
    /// What the server's thread looks for.
    pub trace: Trace,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// A server with the tests' tools and nothing else that differs from the defaults.
    pub fn start() -> Self {
        Self::with(|builder| builder)
    }

    /// A server that `customise` has had its say about.
    pub fn with(customise: impl FnOnce(Builder) -> Builder) -> Self {
        let (clock, hand) = Clock::manual();
        let tools = Tools::default();
        let builder = twolane::server::Server::builder()
            .name("wire", "1.2.3")
            .listen([SocketAddr::from(([127, 0, 0, 1], 0))])
            .clock(clock);
        let server = customise(tools.register(builder)).build().expect("a server");
        let (address, road, handle, stop) =
            (server.addresses()[0], server.road().clone(), server.handle(), server.stop());
        let told = Capture::default();
        let capture = told.clone();
        let trace = Trace::default();
        let recorded = trace.clone();
        let serve = move || {
            recorded.record_here();
            let _heard = tracing::subscriber::set_default(capture);
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(server.run(std::future::pending())).expect("serving");
            runtime.shutdown_timeout(Duration::from_secs(5));
        };
        let thread =
            std::thread::Builder::new().name("wire server".to_owned()).spawn(serve).expect("a thread");
        Self { address, road, handle, clock: hand, tools, told, stop, trace, thread: Some(thread) }
    }

    pub fn http1(&self) -> Http1 {
        Http1::connect(self.address)
    }

    pub fn http2(&self) -> Http2 {
        Http2::connect(self.address)
    }

    /// A new connection over either protocol.
    pub fn client(&self, protocol: Protocol) -> Client {
        match protocol {
            Protocol::Http1 => Client::Http1(self.http1()),
            Protocol::Http2 => Client::Http2(self.http2()),
        }
    }

    /// A new connection over either protocol, of the peer 127.0.0.`peer`.
    pub fn client_of(&self, peer: u8, protocol: Protocol) -> Client {
        let peer = IpAddr::from([127, 0, 0, peer]);
        match protocol {
            Protocol::Http1 => Client::Http1(Http1::connect_from(peer, self.address)),
            Protocol::Http2 => Client::Http2(Http2::connect_from(peer, self.address)),
        }
    }

    /// Sends one request on an HTTP/1.1 connection of its own.
    #[track_caller]
    pub fn send(&self, request: &Request) -> Response {
        self.http1().send(request)
    }

    /// Opens a session of the newest legacy revision that is ready, and gives its id.
    #[track_caller]
    pub fn session(&self) -> String {
        self.session_of(messages::LEGACY)
    }

    /// Opens a session that is ready.
    #[track_caller]
    pub fn session_of(&self, version: &str) -> String {
        let id = self.open_session(version);
        let ready = messages::notification("notifications/initialized").to_string();
        let response = self.send(&Request::post(ready).header("Mcp-Session-Id", &id));
        assert_eq!(response.status, 202, "{response}");
        id
    }

    /// Opens a session that is not ready yet.
    #[track_caller]
    pub fn open_session(&self, version: &str) -> String {
        let response = self.send(&messages::initialize(version));
        assert_eq!(response.result()["protocolVersion"], version, "{response}");
        response.header("mcp-session-id").expect("a session").to_owned()
    }

    /// Waits until what is looked at is as `wanted` says.
    #[track_caller]
    pub fn wait_until(&self, what: &str, wanted: impl Fn(&Self) -> bool) {
        let patience = Instant::now() + Duration::from_secs(20);
        while !wanted(self) {
            assert!(Instant::now() < patience, "it never came to that: {what}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// How often each row of the rejection table was met so far.
    pub fn met(&self) -> Vec<(Rejection, u64)> {
        Rejection::ALL.iter().map(|&row| (row, self.handle.rejections(row))).collect()
    }

    /// The rows met since `before`, once for each time.
    pub fn met_since(&self, before: &[(Rejection, u64)]) -> Vec<Rejection> {
        self.met()
            .into_iter()
            .zip(before)
            .flat_map(|((row, now), (_, then))| {
                std::iter::repeat_n(row, usize::try_from(now - then).expect("a small number"))
            })
            .collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.advance(Phase::Stopped);
        let ended = self.thread.take().map(JoinHandle::join);
        if let Some(Err(payload)) = ended
            && !std::thread::panicking()
        {
            std::panic::resume_unwind(payload);
        }
    }
}
