//! What a handler may return.

use schemars::JsonSchema;
use serde::Serialize;
use smallvec::SmallVec;

use crate::schema::Map;

use super::content::Content;
use super::derive;
use super::error::ToolError;
use super::result::ToolResult;

/// A value that a handler may return: text, numbers, content, [`Json`], a whole [`ToolResult`], nothing, or a `Result` of one of these
/// with [`ToolError`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool's result",
    note = "return text, a number, a bool, Content, Json, ToolResult, (), or a Result of one of these with ToolError; `?` turns every error into a ToolError"
)]
pub trait IntoToolResult {
    /// Makes the result.
    fn into_tool_result(self) -> ToolResult;

    /// The schema that every result's structured content keeps to, where the type tells.
    #[must_use]
    fn output_schema() -> Option<Map>
    where
        Self: Sized,
    {
        None
    }
}

/// Structured content: the value for programs, and the same JSON as text for models. Its schema becomes the tool's output schema.
///
/// ```
/// use twolane::tools::{IntoToolResult, Json};
///
/// #[derive(serde::Serialize, schemars::JsonSchema)]
/// struct Weather { celsius: f64 }
///
/// let result = Json(Weather { celsius: 21.5 }).into_tool_result();
/// assert_eq!(result.content[0].as_text(), Some(r#"{"celsius":21.5}"#));
/// assert_eq!(result.structured.unwrap()["celsius"], 21.5);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Json<T>(pub T);

impl<T: Serialize + JsonSchema> IntoToolResult for Json<T> {
    fn into_tool_result(self) -> ToolResult {
        match serde_json::to_value(self.0) {
            Ok(value) => ToolResult::structured(value),
            Err(error) => {
                tracing::error!(%error, "structured content cannot be written as JSON");
                ToolResult::error("The tool's result cannot be written as JSON")
            }
        }
    }

    fn output_schema() -> Option<Map> {
        derive::output_schema::<T>()
    }
}

impl<T: IntoToolResult> IntoToolResult for Result<T, ToolError> {
    fn into_tool_result(self) -> ToolResult {
        match self {
            Ok(value) => value.into_tool_result(),
            Err(error) => error.into(),
        }
    }

    fn output_schema() -> Option<Map> {
        T::output_schema()
    }
}

/// Nothing is a result without content. No output schema: it would refuse that.
impl<T: IntoToolResult> IntoToolResult for Option<T> {
    fn into_tool_result(self) -> ToolResult {
        self.map_or_else(ToolResult::default, IntoToolResult::into_tool_result)
    }
}

impl IntoToolResult for ToolResult {
    fn into_tool_result(self) -> ToolResult {
        self
    }
}

impl IntoToolResult for ToolError {
    fn into_tool_result(self) -> ToolResult {
        self.into()
    }
}

impl IntoToolResult for () {
    fn into_tool_result(self) -> ToolResult {
        ToolResult::default()
    }
}

impl IntoToolResult for Content {
    fn into_tool_result(self) -> ToolResult {
        ToolResult::new(self)
    }
}

impl IntoToolResult for Vec<Content> {
    fn into_tool_result(self) -> ToolResult {
        ToolResult { content: SmallVec::from_vec(self), ..ToolResult::default() }
    }
}

impl<const N: usize> IntoToolResult for [Content; N] {
    fn into_tool_result(self) -> ToolResult {
        ToolResult { content: self.into_iter().collect(), ..ToolResult::default() }
    }
}

impl IntoToolResult for String {
    fn into_tool_result(self) -> ToolResult {
        ToolResult::text(self)
    }
}

impl IntoToolResult for &'static str {
    fn into_tool_result(self) -> ToolResult {
        ToolResult::text(self)
    }
}

impl IntoToolResult for std::borrow::Cow<'static, str> {
    fn into_tool_result(self) -> ToolResult {
        ToolResult::text(self)
    }
}

macro_rules! as_text {
    ($($kind:ty)+) => {$(
        impl IntoToolResult for $kind {
            fn into_tool_result(self) -> ToolResult {
                ToolResult::text(self.to_string())
            }
        }
    )+};
}

as_text! { bool char i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 }

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(value: impl IntoToolResult) -> (Vec<String>, bool) {
        let result = value.into_tool_result();
        (result.content.iter().map(|c| c.as_text().unwrap_or("?").to_owned()).collect(), result.is_error)
    }

    #[test]
    fn values_become_text() {
        for (got, text) in [
            (texts("a"), "a"),
            (texts(String::from("b")), "b"),
            (texts(5), "5"),
            (texts(2.5), "2.5"),
            (texts(3.0), "3"),
            (texts(true), "true"),
            (texts(Content::text("c")), "c"),
            (texts(Some("d")), "d"),
            (texts(Ok::<_, ToolError>("e")), "e"),
            (texts(ToolResult::text("f")), "f"),
        ] {
            assert_eq!(got, (vec![text.to_owned()], false));
        }
        assert_eq!(texts(()), (vec![], false));
        assert_eq!(texts(None::<String>), (vec![], false));
        assert_eq!(texts(vec![Content::text("a"), Content::text("b")]).0, ["a", "b"]);
        assert_eq!(texts([Content::text("a"), Content::text("b")]).0, ["a", "b"]);
        assert_eq!(texts(Err::<(), _>(ToolError::new("no"))), (vec!["no".to_owned()], true));
    }

    #[test]
    fn errors_of_every_kind_convert() {
        fn run(which: u8) -> Result<(), ToolError> {
            match which {
                0 => Err("plain")?,
                1 => Err(String::from("owned"))?,
                2 => Err(std::io::Error::other("io"))?,
                3 => Err(ToolError::new("own"))?,
                _ => Err(Box::<dyn std::error::Error>::from("boxed"))?,
            }
        }
        let texts: Vec<_> = (0..5).map(|which| run(which).unwrap_err().text().to_owned()).collect();
        assert_eq!(texts, ["plain", "owned", "io", "own", "boxed"]);
    }

    #[test]
    fn a_value_that_json_cannot_hold_is_an_error() {
        let map = std::collections::BTreeMap::from([((1, 2), 3)]);
        #[derive(Serialize, JsonSchema)]
        struct Bad {
            #[schemars(with = "String")]
            map: std::collections::BTreeMap<(i32, i32), i32>,
        }
        let result = Json(Bad { map }).into_tool_result();
        assert!(result.is_error && result.structured.is_none());
    }
}
