//! Resources of every kind.

use serde_json::json;
use twolane::Builder;
use twolane::tools::{Resource, ResourceTemplate, Variables};

use crate::content::PNG;

/// The one that is told of when it is touched.
pub(crate) const WATCHED: &str = "test://watched-resource";

async fn data(variables: Variables) -> String {
    let id = variables.get("id").unwrap_or_default();
    json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")}).to_string()
}

pub(crate) fn register(server: Builder) -> Builder {
    let text = "This is the content of the static text resource.";
    server
        .resource(
            Resource::text("test://static-text", "static-text", text)
                .description("A text that stays what it is.")
                .mime_type("text/plain"),
        )
        .resource(
            Resource::blob("test://static-binary", "static-binary", PNG)
                .description("An image that stays what it is.")
                .mime_type("image/png"),
        )
        .resource(
            Resource::text(WATCHED, "watched-resource", "Somebody may watch this.")
                .description("A text that may be watched.")
                .mime_type("text/plain"),
        )
        .resource_template(
            ResourceTemplate::new("test://template/{id}/data", "template-data", data)
                .description("Data by id.")
                .mime_type("application/json")
                .complete("id", ["123", "456"]),
        )
}
