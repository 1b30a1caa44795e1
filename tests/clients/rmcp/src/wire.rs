//! rmcp's HTTP client, with a record of what was asked and how it was answered.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use futures::stream::BoxStream;
use http::{HeaderName, HeaderValue};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Error as SseError, Sse};

type Failure = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;

#[derive(Debug, Clone)]
pub struct Exchange {
    pub verb: &'static str,
    pub resumes: bool,
    pub session: bool,
    /// What rmcp made of the answer, where it was none that it wanted.
    pub fault: Option<String>,
}

#[derive(Debug, Clone, Default)]
pub struct Wire {
    http: reqwest::Client,
    log: Arc<Mutex<Vec<Exchange>>>,
}

impl Wire {
    pub fn exchanges(&self) -> Vec<Exchange> {
        self.log.lock().expect("the log").clone()
    }

    fn record<T>(&self, verb: &'static str, session: bool, resumes: bool, answer: &Result<T, Failure>) {
        let fault = answer.as_ref().err().map(ToString::to_string);
        self.log.lock().expect("the log").push(Exchange { verb, resumes, session, fault });
    }
}

impl StreamableHttpClient for Wire {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        auth: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let has_session = session.is_some();
        let answer = self.http.post_message(uri, message, session, auth, headers).await;
        self.record("POST", has_session, false, &answer);
        answer
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        auth: Option<String>,
        headers: Headers,
    ) -> Result<(), Failure> {
        let answer = self.http.delete_session(uri, session, auth, headers).await;
        self.record("DELETE", true, false, &answer);
        answer
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth: Option<String>,
        headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        let (has_session, resumes) = (session.is_some(), last_event_id.is_some());
        let answer = self.http.get_stream(uri, session, last_event_id, auth, headers).await;
        self.record("GET", has_session, resumes, &answer);
        answer
    }
}
