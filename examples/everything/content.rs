//! Tools that answer at once, with every kind of content.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use twolane::Builder;
use twolane::tools::{Content, ToolResult, Typed};

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Nothing {}

#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// Whom to greet.
    name: String,
}

/// A red pixel.
pub(crate) const PNG: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, b'I', b'H', b'D', b'R', 0, 0, 0, 1, 0, 0,
    0, 1, 8, 2, 0, 0, 0, 0x90, 0x77, 0x53, 0xde, 0, 0, 0, 0x0c, b'I', b'D', b'A', b'T', 8, 0xd7, 0x63, 0xf8,
    0xcf, 0xc0, 0, 0, 3, 1, 1, 0, 0x18, 0xdd, 0x8d, 0xb0, 0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42,
    0x60, 0x82,
];

/// One silent sample at 8 kHz.
const WAV: &[u8] =
    b"RIFF\x26\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\x02\0\0\0\0\0";

pub(crate) fn register(server: Builder) -> Builder {
    server
        .tool(Typed::new("test_simple_text", "Answers with one text block.", |_: Nothing| async {
            "This is a simple text response for testing."
        }))
        .tool(Typed::new("test_image_content", "Answers with an image.", |_: Nothing| async {
            Content::image(PNG, "image/png")
        }))
        .tool(Typed::new("test_audio_content", "Answers with a sound.", |_: Nothing| async {
            Content::audio(WAV, "audio/wav")
        }))
        .tool(Typed::new("test_embedded_resource", "Answers with a resource.", |_: Nothing| async {
            Content::resource_text(
                "test://embedded-resource",
                "text/plain",
                "This is an embedded resource content.",
            )
        }))
        .tool(Typed::new(
            "test_multiple_content_types",
            "Answers with text, an image and a resource.",
            |_: Nothing| async {
                let data = json!({"test": "data", "value": 123}).to_string();
                [
                    Content::text("Multiple content types test:"),
                    Content::image(PNG, "image/png"),
                    Content::resource_text("test://mixed-content-resource", "application/json", data),
                ]
            },
        ))
        .tool(Typed::new("test_error_handling", "Always fails.", |_: Nothing| async {
            ToolResult::error("This tool intentionally returns an error for testing")
        }))
        .tool(Typed::new("greet", "Greets somebody.", |greet: Greet| async move {
            format!("Hello, {}!", greet.name)
        }))
}
