//! A client, what it heard, what it was asked, and what it will answer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, CreateMessageRequestParams,
    CreateMessageResult, ElicitRequestParams, ElicitResult, ErrorCode, ErrorData, Implementation,
    ListRootsResult, LoggingMessageNotificationParam, ProgressNotificationParam, ProtocolVersion,
    RequestMetaObject, ResourceUpdatedNotificationParam,
};
use rmcp::service::{NotificationContext, RequestContext, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient, ServiceError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::wire::Wire;

pub const ELICIT: &str = "elicitation/create";
pub const SAMPLE: &str = "sampling/createMessage";
pub const ROOTS: &str = "roots/list";

/// How a question is answered: after how long, and with a result or, as a string, a refusal.
pub type Answer = Arc<dyn Fn(&Value) -> (Duration, Value) + Send + Sync>;

#[derive(Default)]
pub struct Ears {
    pub heard: Mutex<Vec<(&'static str, Value)>>,
    pub asked: Mutex<Vec<(&'static str, Value)>>,
    pub answers: Mutex<HashMap<&'static str, Answer>>,
}

impl Ears {
    fn hear(&self, method: &'static str, params: &impl Serialize) {
        let params = serde_json::to_value(params).expect("params as JSON");
        self.heard.lock().expect("what was heard").push((method, params));
    }

    async fn answer<T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: &impl Serialize,
    ) -> Result<T, ErrorData> {
        let params = serde_json::to_value(params).expect("params as JSON");
        let answer = self.answers.lock().expect("the answers").get(method).cloned();
        let answer = answer.unwrap_or_else(|| panic!("was asked {method} {params}"));
        let (after, value) = answer(&params);
        self.asked.lock().expect("what was asked").push((method, params));
        tokio::time::sleep(after).await;
        match value {
            Value::String(refusal) => Err(ErrorData::new(ErrorCode(-1), refusal, None)),
            value => Ok(serde_json::from_value(value).expect("an answer of the right shape")),
        }
    }
}

pub struct Handler {
    config: ClientConfig,
    ears: Arc<Ears>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.ears.answer(SAMPLE, &params).await
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.ears.answer(ELICIT, &params).await
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        self.ears.answer(ROOTS, &json!({})).await
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.ears.hear("progress", &params);
    }

    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.ears.hear("message", &params);
    }

    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.ears.hear("updated", &params);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.ears.hear("tools", &json!({}));
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.ears.hear("prompts", &json!({}));
    }
}

pub struct Peer {
    pub label: String,
    pub modern: bool,
    pub version: ProtocolVersion,
    pub client: RunningService<RoleClient, Handler>,
    pub ears: Arc<Ears>,
    pub wire: Wire,
}

pub async fn connect(
    url: &str,
    mode: ClientLifecycleMode,
    version: ProtocolVersion,
    capabilities: ClientCapabilities,
) -> Peer {
    let ears = Arc::new(Ears::default());
    let wire = Wire::default();
    let name = Implementation::new("twolane-rmcp-test", "1.0.0");
    let config = ClientConfig::new(capabilities, name).with_protocol_version(version.clone());
    let transport = StreamableHttpClientTransport::with_client(
        wire.clone(),
        StreamableHttpClientTransportConfig::with_uri(url),
    );
    let handler = Handler { config, ears: Arc::clone(&ears) };
    let client = handler.serve_with_lifecycle(transport, mode).await.expect("a connection");
    let modern = version >= ProtocolVersion::V_2026_07_28;
    Peer { label: version.to_string(), modern, version, client, ears, wire }
}

impl Peer {
    pub fn step_name(&self, what: &str) -> String {
        format!("{}: {what}", self.label)
    }

    pub fn negotiated(&self) -> ProtocolVersion {
        self.client.peer().peer_info().expect("what the server said of itself").protocol_version.clone()
    }

    pub async fn try_call(
        &self,
        name: &'static str,
        arguments: Value,
        meta: Option<RequestMetaObject>,
    ) -> Result<CallToolResult, ServiceError> {
        self.client.call_tool(request(name, arguments, meta)).await
    }

    /// The text of the first block of a result that must be no error.
    pub async fn call(&self, name: &'static str, arguments: Value) -> String {
        let result =
            self.try_call(name, arguments, None).await.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_ne!(result.is_error, Some(true), "{result:?}");
        text(&result)
    }

    pub fn heard_since(&self, from: usize, method: &str) -> Vec<Value> {
        let heard = self.ears.heard.lock().expect("what was heard");
        heard[from..].iter().filter(|(heard, _)| *heard == method).map(|(_, params)| params.clone()).collect()
    }

    pub fn heard(&self) -> usize {
        self.ears.heard.lock().expect("what was heard").len()
    }

    pub fn will_answer(
        &self,
        method: &'static str,
        answer: impl Fn(&Value) -> (Duration, Value) + Send + Sync + 'static,
    ) {
        self.ears.answers.lock().expect("the answers").insert(method, Arc::new(answer));
    }

    /// What was asked since the last time.
    pub fn take_asked(&self) -> Vec<(&'static str, Value)> {
        std::mem::take(&mut *self.ears.asked.lock().expect("what was asked"))
    }
}

pub fn request(
    name: &'static str,
    arguments: Value,
    meta: Option<RequestMetaObject>,
) -> CallToolRequestParams {
    let mut params = CallToolRequestParams::new(name);
    if let Value::Object(arguments) = arguments {
        params = params.with_arguments(arguments);
    }
    params.meta = meta;
    params
}

pub fn text(result: &CallToolResult) -> String {
    let block = result.content.first().and_then(|block| block.as_text());
    block.unwrap_or_else(|| panic!("expected a text block, got {result:?}")).text.clone()
}

/// The code of a JSON-RPC error, which this must be.
pub fn refused<T: std::fmt::Debug>(outcome: Result<T, ServiceError>) -> ErrorData {
    match outcome {
        Err(ServiceError::McpError(error)) => error,
        other => panic!("expected a JSON-RPC error, got {other:?}"),
    }
}
