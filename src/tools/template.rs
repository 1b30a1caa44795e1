//! URI templates (RFC 6570, levels 1 to 4): a text from variables, and the variables back from a text as far as that is unambiguous.

mod expand;
mod matching;
mod parse;
mod plan;
mod variables;
#[cfg(test)]
mod tests;

use std::fmt;

pub use parse::TemplateError;
use plan::Plan;
pub use variables::{Variable, Variables};

/// A URI template, such as `file:///{+path}` or `db://{table}/rows{?limit,offset}`.
///
/// ```
/// use twolane::tools::{UriTemplate, Variables};
///
/// let template = UriTemplate::parse("db://{table}/rows{?limit}")?;
/// let variables = template.matches("db://my%20table/rows?limit=5").expect("it fits");
/// assert_eq!((variables.get("table"), variables.get("limit")), (Some("my table"), Some("5")));
/// assert_eq!(template.matches("db://a/b/rows"), None);
/// assert_eq!(template.expand(&Variables::new().with("table", "é")), "db://%C3%A9/rows");
/// # Ok::<(), twolane::tools::TemplateError>(())
/// ```
#[derive(Debug, Clone)]
pub struct UriTemplate {
    text: Box<str>,
    parts: Vec<Part>,
    plan: Plan,
}

/// A template's parts in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// As it is expanded: what a URI cannot have is percent-encoded already.
    Literal(String),
    Expression(Expression),
}

/// What stands between braces.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Expression {
    operator: Operator,
    variables: Vec<Spec>,
}

/// A variable in an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Spec {
    name: Box<str>,
    modifier: Modifier,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Modifier {
    None,
    /// At most so many characters of the value.
    Prefix(usize),
    /// Each value of a list or map by itself.
    Explode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    /// `{x}`
    Simple,
    /// `{+x}`
    Reserved,
    /// `{#x}`
    Fragment,
    /// `{.x}`
    Label,
    /// `{/x}`
    Path,
    /// `{;x}`
    Parameter,
    /// `{?x}`
    Query,
    /// `{&x}`
    Continuation,
}

impl Operator {
    /// What an expression begins with, unless none of its variables is defined.
    const fn lead(self) -> Option<u8> {
        match self {
            Self::Simple | Self::Reserved => None,
            Self::Fragment => Some(b'#'),
            Self::Label => Some(b'.'),
            Self::Path => Some(b'/'),
            Self::Parameter => Some(b';'),
            Self::Query => Some(b'?'),
            Self::Continuation => Some(b'&'),
        }
    }

    /// What stands between two values.
    const fn separator(self) -> u8 {
        match self {
            Self::Simple | Self::Reserved | Self::Fragment => b',',
            Self::Label => b'.',
            Self::Path => b'/',
            Self::Parameter => b';',
            Self::Query | Self::Continuation => b'&',
        }
    }

    /// Whether values come with their variable's name.
    const fn is_named(self) -> bool {
        match self {
            Self::Parameter | Self::Query | Self::Continuation => true,
            Self::Simple | Self::Reserved | Self::Fragment | Self::Label | Self::Path => false,
        }
    }

    /// Whether reserved characters are left as they are.
    const fn keeps_reserved(self) -> bool {
        matches!(self, Self::Reserved | Self::Fragment)
    }
}

impl UriTemplate {
    /// Reads a template.
    ///
    /// # Errors
    /// [`TemplateError`] says where it breaks the grammar, or why a URI could not be told apart into its variables.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let parts = parse::parts(text)?;
        let plan = Plan::new(&parts)?;
        Ok(Self { text: text.into(), parts, plan })
    }

    /// The template as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The names of its variables, each once, in their order.
    #[must_use]
    pub fn names(&self) -> &[Box<str>] {
        self.plan.names()
    }

    /// The URI for these variables. Those that are missing leave no trace.
    #[must_use]
    pub fn expand(&self, variables: &Variables) -> String {
        let mut out = String::with_capacity(self.text.len());
        for part in &self.parts {
            match part {
                Part::Literal(literal) => out.push_str(literal),
                Part::Expression(expression) => expand::expression(&mut out, expression, variables),
            }
        }
        out
    }

    /// The variables that make this URI; `None` where none do. Values are percent-decoded, so one may well hold a slash or two dots:
    /// check it before it becomes part of a path. An expression takes as much as the rest of the template leaves it; `{x}` and `{+x}`
    /// take at least one character. Characters that belong percent-encoded pass as they are, braces apart. Takes time in proportion to
    /// the URI's length.
    #[must_use]
    pub fn matches(&self, uri: &str) -> Option<Variables> {
        matching::variables(&self.plan, uri)
    }
}

impl PartialEq for UriTemplate {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for UriTemplate {}

impl fmt::Display for UriTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
