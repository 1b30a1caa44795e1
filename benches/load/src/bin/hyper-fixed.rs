//! A peer: hyper, which reads the body and answers the same to everything. What a good HTTP server costs that knows nothing of MCP.
//!
//! `hyper-fixed --port PORT [--bytes N] [--workers N] [--http2]`: HTTP/1.1, or HTTP/2 with prior knowledge.

use std::convert::Infallible;
use std::error::Error;
use std::net::Ipv4Addr;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::TcpStream;
use twolane_load::{canned_body, flag, listen, raise_open_files, runtime};

fn main() -> Result<(), Box<dyn Error>> {
    raise_open_files();
    let body = Bytes::from(canned_body(flag("--bytes", 16)?));
    let http2 = std::env::args().any(|argument| argument == "--http2");
    let (port, workers) = (flag("--port", 8080)?, flag("--workers", 1)?);
    runtime(workers)?.block_on(async {
        let listener = listen(Ipv4Addr::LOCALHOST, port)?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            tokio::spawn(serve(stream, body.clone(), http2));
        }
    })
}

async fn serve(stream: TcpStream, body: Bytes, http2: bool) {
    let service = service_fn(|request: Request<Incoming>| {
        let body = body.clone();
        async move {
            // A body that breaks off is answered like any other: nobody reads the answer.
            let _ = request.into_body().collect().await;
            let mut response = Response::new(Full::new(body));
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            Ok::<_, Infallible>(response)
        }
    });
    let io = TokioIo::new(stream);
    // How a connection ends is the client's to judge.
    let _ = if http2 {
        http2::Builder::new(TokioExecutor::new()).timer(TokioTimer::new()).serve_connection(io, service).await
    } else {
        http1::Builder::new().timer(TokioTimer::new()).serve_connection(io, service).await
    };
}
