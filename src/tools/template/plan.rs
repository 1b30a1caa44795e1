//! What matching looks for, worked out once: literals, and between them runs of the characters that an expression may have.

use super::parse::TemplateError;
use super::{Expression, Modifier, Operator, Part, Spec};

#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    names: Vec<Box<str>>,
}

#[derive(Debug, Clone)]
pub(super) enum Step {
    Literal(Box<[u8]>),
    Run(Run),
}

/// One expression, or several that follow each other and look like one.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) operator: Operator,
    pub(super) variables: Vec<Spec>,
    /// What it may begin with; nothing for a run that has no sign of its own.
    leads: u128,
    /// The ASCII characters that it may have, percent-encoded ones apart.
    class: u128,
}

impl Run {
    /// Whether a byte may stand in the run. What is no ASCII should have been percent-encoded, but reads the same.
    pub(super) const fn has(&self, byte: u8) -> bool {
        !byte.is_ascii() || self.class >> byte & 1 == 1
    }

    /// Whether a run without its sign is one left out.
    pub(super) const fn has_lead(&self) -> bool {
        self.leads != 0
    }

    /// Whether the run may begin with this byte.
    pub(super) fn begins(&self, byte: Option<&u8>) -> bool {
        byte.is_some_and(|byte| byte.is_ascii() && self.leads >> byte & 1 == 1)
    }

    /// Whether values are told apart by the separator.
    pub(super) fn splits(&self) -> bool {
        let single = self.variables.len() == 1 && self.exploded().is_none();
        !single || self.operator.is_named() || self.operator == Operator::Path
    }

    pub(super) fn exploded(&self) -> Option<&Spec> {
        self.variables.iter().find(|spec| spec.modifier == Modifier::Explode)
    }
}

impl Plan {
    pub(super) fn new(parts: &[Part]) -> Result<Self, TemplateError> {
        let mut steps: Vec<Step> = Vec::with_capacity(parts.len());
        let mut names: Vec<Box<str>> = Vec::new();
        for part in parts {
            match part {
                Part::Literal(text) => steps.push(Step::Literal(text.as_bytes().into())),
                Part::Expression(expression) => {
                    for spec in &expression.variables {
                        if !names.contains(&spec.name) {
                            names.push(spec.name.clone());
                        }
                    }
                    push(&mut steps, expression)?;
                }
            }
        }
        for at in 0..steps.len() {
            let follower = match steps.get(at + 1) {
                Some(Step::Run(run)) => run.leads,
                Some(Step::Literal(_)) | None => 0,
            };
            if let Step::Run(run) = &mut steps[at] {
                check_explosions(run)?;
                run.class = class(run) & !follower;
            }
        }
        Ok(Self { steps, names })
    }

    pub(super) fn names(&self) -> &[Box<str>] {
        &self.names
    }
}

/// Adds an expression, to the run before it where both look like one.
fn push(steps: &mut Vec<Step>, expression: &Expression) -> Result<(), TemplateError> {
    let new = expression.operator;
    let leads = new.lead().map_or(0, |lead| 1 << lead);
    if let Some(Step::Run(before)) = steps.last_mut() {
        let same = new == before.operator && new.lead().is_some();
        if same || (before.operator == Operator::Query && new == Operator::Continuation) {
            // Without its first part, the second begins with a sign of its own.
            before.leads |= leads;
            before.variables.extend_from_slice(&expression.variables);
            return Ok(());
        }
        let hidden = before.operator.keeps_reserved() && matches!(new, Operator::Path | Operator::Label);
        if new.lead().is_none() || hidden {
            let name = &expression.variables[0].name;
            return Err(TemplateError::new(format!(
                "where the expression before `{name}` ends cannot be told; put a literal between the two"
            )));
        }
    }
    steps.push(Step::Run(Run { operator: new, variables: expression.variables.clone(), leads, class: 0 }));
    Ok(())
}

/// An exploded variable takes whatever is left, so there can be one, and without names it must be the last.
fn check_explosions(run: &Run) -> Result<(), TemplateError> {
    let Some(at) = run.variables.iter().position(|spec| spec.modifier == Modifier::Explode) else {
        return Ok(());
    };
    let name = &run.variables[at].name;
    let twice = run.variables[at + 1..].iter().any(|spec| spec.modifier == Modifier::Explode);
    if twice || (!run.operator.is_named() && at + 1 < run.variables.len()) {
        return Err(TemplateError::new(format!(
            "`{name}*` takes everything that is left; make it the last and the only exploded one of its expression"
        )));
    }
    Ok(())
}

/// The characters of a run: what a URI allows at such a place. A client should percent-encode more, but not all do.
fn class(run: &Run) -> u128 {
    let query = matches!(run.operator, Operator::Query | Operator::Continuation);
    let allowed = |byte: u8| match byte {
        0..=0x1f | 0x7f | b'%' => false,
        // A template that nobody has filled in is no URI.
        b'{' | b'}' => false,
        _ if run.operator.keeps_reserved() => true,
        b'[' | b']' | b'#' => false,
        b'/' => query || run.operator == Operator::Path,
        b'?' => query,
        _ => true,
    };
    (0..128).filter(|&byte| allowed(byte)).fold(0, |class, byte| class | 1 << byte)
}
