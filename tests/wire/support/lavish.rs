//! A server that says all there is to say: everything it lists or returns carries every member that some revision has. And those who ask
//! it.

use serde_json::{Value, json};
use twolane::LogLevel;
use twolane::server::Builder;
use twolane::tables::versions::{Era, Revision};
use twolane::tools::{
    CompletionInput, Content, Contents, Context, Elicitation, Field, Form, Format, Icon, IncludeContext,
    Prompt, PromptArgument, PromptMessage, PromptResult, RawTool, ReadResult, Resource, ResourceLink,
    ResourceTemplate, Role, Sampling, ServerInfo, TaskSupport, Theme, ToolAnnotations, ToolChoice, ToolError,
    ToolResult, ToolSpec, Typed,
};

use super::message::Response;
use super::party::{Party, Talk};
use super::{Server, messages};

const KEY: &str = "example.test/k";
const INSTANT: &str = "2025-01-01T00:00:00Z";

fn icon() -> Icon {
    Icon::new("data:,").mime_type("image/png").size("48x48").theme(Theme::Dark)
}

/// Every kind of content.
fn contents() -> [Content; 6] {
    let link = ResourceLink::new("file:///a", "a")
        .title("A")
        .description("A link.")
        .mime_type("text/plain")
        .size(1)
        .icon(icon());
    [
        Content::text("text"),
        Content::image([1], "image/png"),
        Content::audio([1], "audio/wav"),
        Content::resource_text("file:///t", "text/plain", "text"),
        Content::resource_blob("file:///b", "image/png", [1]),
        Content::resource_link(link),
    ]
    .map(|content| {
        content.audience([Role::User, Role::Assistant]).priority(0.5).last_modified(INSTANT).meta(KEY, 1)
    })
}

fn info() -> ServerInfo {
    let mut info = ServerInfo::new("lavish", "1");
    info.title = Some("Lavish".to_owned());
    info.description = Some("Says all there is to say.".to_owned());
    info.website_url = Some("https://example.test/".to_owned());
    info.instructions = Some("Listen.".to_owned());
    info
}

fn tools(builder: Builder) -> Builder {
    let schema = || json!({"type": "object"});
    let everything = RawTool::new("lavish", "Returns everything.", schema(), |_: Value| async {
        let result = ToolResult::structured(json!({"n": 1})).meta(KEY, 1);
        contents().into_iter().fold(result, ToolResult::with)
    });
    let list = RawTool::new("list", "Returns a list.", schema(), |_: Value| async {
        ToolResult::structured(json!([1]))
    });
    let hints = ToolAnnotations {
        destructive_hint: Some(false),
        idempotent_hint: Some(true),
        open_world_hint: Some(false),
        ..ToolAnnotations::read_only()
    };
    builder
        .tool(
            everything
                .title("Lavish")
                .annotations(hints)
                .icon(icon())
                .tasks(TaskSupport::Optional)
                .output_schema(json!({"type": "object", "properties": {"n": {"type": "integer"}}}))
                .meta(KEY, 1),
        )
        .tool(list.title("List").output_schema(json!({"type": "array"})))
}

fn resources(builder: Builder) -> Builder {
    let read = || async {
        let text = Contents::text("text").uri("test://text").mime_type("text/plain").meta(KEY, 1);
        ReadResult::new([text, Contents::blob([1]).mime_type("image/png").meta(KEY, 1)]).meta(KEY, 1)
    };
    builder
        .resource(
            Resource::new("test://lavish", "lavish", read)
                .title("Lavish")
                .description("Has everything.")
                .mime_type("text/plain")
                .size(4)
                .audience([Role::User])
                .priority(0.5)
                .last_modified(INSTANT)
                .icon(icon())
                .meta(KEY, 1),
        )
        .resource_template(
            ResourceTemplate::new("test://{id}/x", "template", |_| async { "text" })
                .title("Template")
                .description("Has everything.")
                .mime_type("text/plain")
                .audience([Role::User])
                .priority(0.5)
                .last_modified(INSTANT)
                .icon(icon())
                .meta(KEY, 1)
                .complete_with("id", |input: CompletionInput| async move {
                    let settled = input.settled.get("other").unwrap_or("nothing").to_owned();
                    [settled]
                }),
        )
}

fn prompts(builder: Builder) -> Builder {
    let argument = PromptArgument::new("a").title("A").description("An argument.").required();
    let get = |_| async {
        let messages = contents().map(PromptMessage::user).into_iter();
        PromptResult::new(messages.chain([PromptMessage::assistant("text")]))
            .description("Everything.")
            .meta(KEY, 1)
    };
    builder.prompt(
        Prompt::new("lavish", "Has everything.", get)
            .title("Lavish")
            .argument(argument)
            .icon(icon())
            .meta(KEY, 1)
            .complete("a", ["one", "two"]),
    )
}

fn form() -> Form {
    let choices = [("a", "A"), ("b", "B")];
    Form::new()
        .field(
            "text",
            Field::string().title("T").description("D").min_length(1).max_length(9).format(Format::Email),
        )
        .field("default", Field::string().default("d"))
        .field("number", Field::number().minimum(0).maximum(9))
        .field("integer", Field::integer().default(1))
        .field("boolean", Field::boolean().default(true))
        .field("one", Field::one_of(["a", "b"]))
        .optional("titled", Field::one_of_titled(choices))
}

fn sampling() -> Sampling {
    Sampling::new("Hi", 10)
        .system_prompt("Be brief.")
        .temperature(0.5)
        .stop_sequences(["."])
        .metadata(serde_json::Map::from_iter([("k".to_owned(), json!(1))]))
        .hint("a-model")
        .cost_priority(0.1)
        .speed_priority(0.2)
        .intelligence_priority(0.3)
}

/// Asks the client for all there is to ask for.
fn asking(builder: Builder) -> Builder {
    let several = || {
        let titled = Field::any_of_titled([("a", "A")]);
        Form::new()
            .field("several", Field::any_of(["a", "b"]).min_items(1).max_items(2))
            .field("titled", titled)
    };
    let page = || Elicitation::url("Open it.", "https://example.test/").id("page");
    let with_tools = || {
        let mut tool = ToolSpec::new("t", "A tool.", json!({"type": "object"}));
        tool.title = Some("T".to_owned());
        sampling().include_context(IncludeContext::ThisServer).tool(tool).tool_choice(ToolChoice::Auto)
    };
    builder
        .tool(Typed::new("ask_form", "Asks.", |_: Value, context: Context| async move {
            context
                .elicit("k", Elicitation::form("Fill it in.", form()))
                .await
                .map(|_| "done")
                .map_err(ToolError::from)
        }))
        .tool(Typed::new("ask_several", "Asks.", move |_: Value, context: Context| async move {
            context
                .elicit("k", Elicitation::form("Choose.", several()))
                .await
                .map(|_| "done")
                .map_err(ToolError::from)
        }))
        .tool(Typed::new("ask_page", "Asks.", move |_: Value, context: Context| async move {
            context.elicit("k", page()).await.map(|_| "done").map_err(ToolError::from)
        }))
        .tool(Typed::new("ask_model", "Asks.", |_: Value, context: Context| async move {
            context.sample("k", sampling()).await.map(|_| "done").map_err(ToolError::from)
        }))
        .tool(Typed::new("ask_model_with_tools", "Asks.", move |_: Value, context: Context| async move {
            context.sample("k", with_tools()).await.map(|_| "done").map_err(ToolError::from)
        }))
        .tool(Typed::new("ask_roots", "Asks.", |_: Value, context: Context| async move {
            context.roots("k").await.map(|_| "done").map_err(ToolError::from)
        }))
}

/// A client that can do everything.
pub fn able() -> Value {
    json!({
        "elicitation": {"form": {}, "url": {}},
        "sampling": {"tools": {}, "context": {}},
        "roots": {},
    })
}

/// Tells the client about what it does.
fn talking(builder: Builder) -> Builder {
    builder.tool(Typed::new("talk", "Reports and logs.", |_: Value, context: Context| async move {
        context.progress(1.0, Some(2.0), Some("half"));
        context.log(LogLevel::Error, Some("lavish"), &json!({"said": 1}));
        "done"
    }))
}

/// Registers `lavish` among the tools, resources and prompts, and the tools `list`, whose structured content is an array,
/// `talk`, which reports progress and logs, and those whose names begin with `ask`.
pub fn lavish(builder: Builder) -> Builder {
    asking(talking(prompts(resources(tools(builder.info(info()))))))
}

/// Who asks, in one revision.
#[derive(Debug)]
pub struct Visitor<'s> {
    pub server: &'s Server,
    pub party: Party,
    pub revision: Revision,
}

impl<'s> Visitor<'s> {
    /// One for each revision over each protocol, who can do so much.
    pub fn all(server: &'s Server, capabilities: &Value) -> Vec<Self> {
        let of = |party: Party| {
            let revision = Revision::from_wire(party.version.as_bytes()).expect("a served revision");
            Self { server, party, revision }
        };
        Party::all(server, capabilities).into_iter().map(of).collect()
    }

    /// Asks, and reads the whole answer.
    #[track_caller]
    pub fn ask(&self, method: &str, params: Value) -> Response {
        self.party.send(self.server, &self.party.request(7, method, params))
    }

    /// The result of what is asked.
    #[track_caller]
    pub fn result(&self, method: &str, params: Value) -> Value {
        self.ask(method, params).result()
    }

    /// The result of a tool that needs no arguments.
    #[track_caller]
    pub fn call(&self, tool: &str) -> Value {
        self.result("tools/call", messages::call(tool, json!({})))
    }

    /// The question that a tool asks, as a request; `None` where it is not put to this client. It is left without an answer.
    pub fn question(&self, tool: &str) -> Option<Value> {
        let request = self.party.call(tool, json!({}));
        if self.revision.era() == Era::Modern {
            let mut result = self.party.send(self.server, &request).result();
            return result.get_mut("inputRequests").map(|questions| questions["k"].take());
        }
        let mut client = self.server.http1();
        client.write(&request.bytes());
        let head = client.read_head();
        assert_eq!(head.status, 200, "{head:?}");
        (head.header("content-type") == Some("text/event-stream")).then(|| Talk::Http1(client).message())
    }

    /// What the server says of itself.
    #[track_caller]
    pub fn welcome(&self) -> Value {
        match self.revision.era() {
            Era::Legacy => self.server.send(&messages::initialize(self.party.version)).result(),
            Era::Modern => self.result("server/discover", json!({})),
        }
    }
}
