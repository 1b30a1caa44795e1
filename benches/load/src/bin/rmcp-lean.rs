//! A peer: the official Rust SDK at its leanest, answering with JSON, its handler written by hand.
//!
//! `rmcp-lean --port PORT [--workers N]`. Modern requests need no session, as the revision has it; legacy ones have one.

use std::error::Error;
use std::net::Ipv4Addr;
use std::sync::{Arc, LazyLock};

use axum::serve::ListenerExt;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use twolane_load::{flag, listen, raise_open_files, runtime};

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

static ECHO: LazyLock<Tool> = LazyLock::new(|| {
    let schema =
        json!({"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]});
    Tool::new("echo", "Says the message back.", Arc::new(schema.as_object().cloned().unwrap_or_default()))
});

struct Echo;

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        (name == ECHO.name).then(|| ECHO.clone())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![ECHO.clone()]))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if call.name != ECHO.name {
            return Err(ErrorData::invalid_params("there is no such tool", None));
        }
        match call.arguments.and_then(|mut arguments| arguments.remove("message")) {
            Some(Value::String(message)) => {
                Ok(CallToolResult::success(vec![ContentBlock::text(message)]).into())
            }
            _ => Err(ErrorData::invalid_params("message must be a string", None)),
        }
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    raise_open_files();
    let (port, workers) = (flag("--port", 8080)?, flag("--workers", 1)?);
    runtime(workers)?.block_on(async {
        let config =
            StreamableHttpServerConfig::default().with_json_response(true).enforce_origin_validation();
        let service =
            StreamableHttpService::new(|| Ok(Echo), Arc::new(LocalSessionManager::default()), config);
        let router = axum::Router::new().nest_service("/mcp", service);
        let listener = listen(Ipv4Addr::LOCALHOST, port)?.tap_io(|stream| {
            // Without it answers wait for the client's acknowledgements.
            if let Err(error) = stream.set_nodelay(true) {
                eprintln!("TCP_NODELAY: {error}");
            }
        });
        Ok(axum::serve(listener, router).await?)
    })
}
