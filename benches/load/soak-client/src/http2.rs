//! A connection over HTTP/2 with prior knowledge.

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::{Reason, RecvStream, SendStream};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::http1::{Head, patiently};
use crate::ledger::Outcome;
use crate::post::Post;

fn told(what: &str, error: &h2::Error) -> String {
    format!("{what} over HTTP/2: {error}")
}

#[derive(Debug)]
pub(crate) struct Http2 {
    send: SendRequest<Bytes>,
    /// Drives the connection, which ends at once when this is dropped, whatever is going on in it.
    driver: JoinHandle<()>,
}

/// A request that has been sent.
#[derive(Debug)]
pub(crate) struct Sent {
    answer: ResponseFuture,
    stream: SendStream<Bytes>,
}

/// What comes back of one.
#[derive(Debug)]
pub(crate) struct Incoming {
    body: RecvStream,
    stream: SendStream<Bytes>,
}

impl Http2 {
    pub(crate) async fn new(stream: TcpStream) -> Outcome<Self> {
        let shaken = patiently("an HTTP/2 handshake", h2::client::handshake(stream)).await?;
        let (send, connection) = shaken.map_err(|error| told("a handshake", &error))?;
        let driver = tokio::spawn(async {
            // What is wrong with it, its streams tell.
            let _ = connection.await;
        });
        Ok(Self { send, driver })
    }

    /// Sends a request.
    pub(crate) async fn start(&mut self, post: &Post) -> Outcome<Sent> {
        let mut head = http::Request::builder()
            .method(post.verb)
            .uri(format!("http://{}{}", post.host, post.path))
            .version(http::Version::HTTP_2);
        for (name, value) in &post.headers {
            head = head.header(*name, value);
        }
        let head = head.body(()).map_err(|error| format!("a head of our own: {error}"))?;
        let ready = patiently("a free stream", self.send.clone().ready()).await?;
        self.send = ready.map_err(|error| told("a free stream", &error))?;
        let end = post.body.is_empty();
        let sent = self.send.send_request(head, end).map_err(|error| told("a head", &error));
        let (answer, mut stream) = sent?;
        if !end {
            let body = Bytes::copy_from_slice(&post.body);
            stream.send_data(body, true).map_err(|error| told("a body", &error))?;
        }
        Ok(Sent { answer, stream })
    }
}

impl Drop for Http2 {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Sent {
    pub(crate) async fn head(self) -> Outcome<(Head, Incoming)> {
        let answer = patiently("an answer", self.answer).await?;
        let (parts, body) = answer.map_err(|error| told("an answer", &error))?.into_parts();
        let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers =
            parts.headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
        Ok((Head { status: parts.status.as_u16(), headers }, Incoming { body, stream: self.stream }))
    }

    /// Lets go of it.
    pub(crate) fn reset(mut self) {
        self.stream.send_reset(Reason::CANCEL);
    }
}

impl Incoming {
    /// The next piece of the body.
    pub(crate) async fn piece(&mut self) -> Outcome<Option<Bytes>> {
        let Some(data) = patiently("the rest of an answer", self.body.data()).await? else { return Ok(None) };
        let data = data.map_err(|error| told("the rest of an answer", &error))?;
        let released = self.body.flow_control().release_capacity(data.len());
        released.map_err(|error| told("a window", &error))?;
        Ok(Some(data))
    }

    /// Lets go of it.
    pub(crate) fn reset(mut self) {
        self.stream.send_reset(Reason::CANCEL);
    }
}
