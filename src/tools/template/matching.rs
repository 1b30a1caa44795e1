//! From a text to variables: where each run ends, then what stands in it.
//!
//! Whether the rest of the template fits the rest of the URI is worked out from the back, once for every step and place, so that no URI
//! makes the search go back and forth.

use super::expand::is_triplet;
use super::plan::{Plan, Run, Step};
use super::{Modifier, Spec, Variable, Variables};

pub(super) fn variables(plan: &Plan, uri: &str) -> Option<Variables> {
    if let Some(Step::Literal(literal)) = plan.steps.first()
        && !uri.as_bytes().starts_with(literal)
    {
        return None;
    }
    let mut found = Vec::new();
    for (run, span) in spans(plan, uri)? {
        read(run, span, &mut found)?;
    }
    collect(&found)
}

/// The runs that have something in them, each with its text.
fn spans<'p, 'u>(plan: &'p Plan, uri: &'u str) -> Option<Vec<(&'p Run, &'u str)>> {
    let table = Table::new(plan, uri);
    if !table.fits(0, 0) {
        return None;
    }
    let mut spans = Vec::with_capacity(plan.steps.len());
    let mut at = 0;
    for (number, step) in plan.steps.iter().enumerate() {
        match step {
            Step::Literal(literal) => at += literal.len(),
            Step::Run(run) => {
                let end = table.longest(number, run, at);
                if end > at {
                    spans.push((run, uri.get(at..end)?));
                    at = end;
                }
            }
        }
    }
    Some(spans)
}

/// Where the steps from one on fit the text from a place on.
struct Table<'u> {
    bytes: &'u [u8],
    /// Whether a place lies within a percent-encoded byte, where nothing begins or ends.
    within: Vec<bool>,
    /// A row for each step and one for their end, a column for each place.
    fits: Vec<bool>,
}

impl<'u> Table<'u> {
    fn new(plan: &Plan, uri: &'u str) -> Self {
        let bytes = uri.as_bytes();
        let places = bytes.len() + 1;
        let mut within = vec![false; places];
        let mut at = 0;
        while at < bytes.len() {
            let triplet = is_triplet(&bytes[at..]);
            if triplet {
                within[at + 1..at + 3].fill(true);
            }
            at += if triplet { 3 } else { 1 };
        }
        let mut table = Self { bytes, within, fits: vec![false; places * (plan.steps.len() + 1)] };
        table.fits[places * plan.steps.len() + bytes.len()] = true;
        for (number, step) in plan.steps.iter().enumerate().rev() {
            match step {
                Step::Literal(literal) => table.literal(number, literal),
                Step::Run(run) => table.run(number, run),
            }
        }
        table
    }

    fn index(&self, step: usize, at: usize) -> usize {
        step * self.within.len() + at
    }

    fn fits(&self, step: usize, at: usize) -> bool {
        self.fits.get(self.index(step, at)).is_some_and(|&fits| fits) && !self.within[at]
    }

    /// Whether a run may go on over the byte at a place.
    fn goes_on(&self, run: &Run, at: usize) -> bool {
        self.within[at]
            || self.bytes.get(at).is_some_and(|&byte| run.has(byte) || is_triplet(&self.bytes[at..]))
    }

    fn literal(&mut self, step: usize, literal: &[u8]) {
        for at in 0..(self.bytes.len() + 1).saturating_sub(literal.len()) {
            let index = self.index(step, at);
            self.fits[index] =
                self.fits(step + 1, at + literal.len()) && self.bytes[at..].starts_with(literal);
        }
    }

    fn run(&mut self, step: usize, run: &Run) {
        // Whether the run may end at the place after this one, or later.
        let mut ends = false;
        for at in (0..=self.bytes.len()).rev() {
            let index = self.index(step, at);
            self.fits[index] = if run.has_lead() {
                self.fits(step + 1, at) || (ends && run.begins(self.bytes.get(at)))
            } else {
                ends && self.goes_on(run, at)
            };
            ends = self.fits(step + 1, at) || (ends && self.goes_on(run, at));
        }
    }

    /// The last place where a run from `at` on may end. A run that is left out ends where it begins.
    fn longest(&self, step: usize, run: &Run, at: usize) -> usize {
        let mut end = at;
        let mut place = at;
        if run.has_lead() {
            if !run.begins(self.bytes.get(at)) {
                return at;
            }
            place += 1;
            if self.fits(step + 1, place) {
                end = place;
            }
        }
        while place < self.bytes.len() && self.goes_on(run, place) {
            place += 1;
            if self.fits(step + 1, place) {
                end = place;
            }
        }
        end
    }
}

/// A variable as one place has it.
type Found<'p> = (&'p Spec, Variable);

/// Reads the values in a run.
fn read<'p>(run: &'p Run, span: &str, found: &mut Vec<Found<'p>>) -> Option<()> {
    let text = if run.has_lead() { span.get(1..)? } else { span };
    if !run.splits() {
        found.push((run.variables.first()?, Variable::Text(decode(text)?)));
        return Some(());
    }
    let items = text.split(char::from(run.operator.separator()));
    if run.operator.is_named() { read_named(run, items, found) } else { read_in_order(run, items, found) }
}

fn read_in_order<'p, 'u>(
    run: &'p Run,
    mut items: impl Iterator<Item = &'u str>,
    found: &mut Vec<Found<'p>>,
) -> Option<()> {
    for spec in &run.variables {
        if spec.modifier == Modifier::Explode {
            let items: Vec<_> = items.by_ref().collect();
            if !items.is_empty() {
                found.push((spec, exploded(&items)?));
            }
        } else if let Some(item) = items.next() {
            found.push((spec, Variable::Text(decode(item)?)));
        }
    }
    items.next().is_none().then_some(())
}

/// A map where every item has an equals sign, a list where none has one: in a value it is percent-encoded.
fn exploded(items: &[&str]) -> Option<Variable> {
    if items.iter().any(|item| !item.contains('=')) {
        return Some(Variable::List(items.iter().map(|item| decode(item)).collect::<Option<_>>()?));
    }
    let pair = |item: &&str| {
        let (key, value) = item.split_once('=')?;
        Some((decode(key)?, decode(value)?))
    };
    Some(Variable::Map(items.iter().map(pair).collect::<Option<_>>()?))
}

/// Named values may come in any order.
fn read_named<'p, 'u>(
    run: &'p Run,
    items: impl Iterator<Item = &'u str>,
    found: &mut Vec<Found<'p>>,
) -> Option<()> {
    let from = found.len();
    let (mut list, mut map) = (Vec::new(), Vec::new());
    for item in items {
        let (name, value) = item.split_once('=').unwrap_or((item, ""));
        let spec = run.variables.iter().find(|spec| *spec.name == *name);
        match spec.filter(|spec| spec.modifier != Modifier::Explode) {
            Some(spec) if found[from..].iter().any(|(other, _)| std::ptr::eq(*other, spec)) => return None,
            Some(spec) => found.push((spec, Variable::Text(decode(value)?))),
            None if spec.is_some() => list.push(decode(value)?),
            None => map.push((decode(name)?, decode(value)?)),
        }
    }
    let value = match (list.is_empty(), map.is_empty()) {
        (true, true) => return Some(()),
        (false, true) => Variable::List(list),
        (true, false) => Variable::Map(map),
        (false, false) => return None,
    };
    found.push((run.exploded()?, value));
    Some(())
}

/// Brings together what the places of a variable have: they must agree, a prefix with the whole.
fn collect(found: &[Found<'_>]) -> Option<Variables> {
    let mut variables = Variables::new();
    for (spec, value) in found {
        let longer = match (variables.value(&spec.name), value) {
            (Some(Variable::Text(old)), Variable::Text(new)) => new.len() > old.len(),
            (Some(_), _) => false,
            (None, _) => true,
        };
        if longer {
            variables.set(&spec.name, value.clone());
        }
    }
    let agrees = |(spec, value): &Found<'_>| match (variables.value(&spec.name), value, spec.modifier) {
        (Some(Variable::Text(whole)), Variable::Text(part), Modifier::Prefix(most)) => {
            let end = whole.char_indices().nth(most).map_or(whole.len(), |(at, _)| at);
            whole[..end] == **part
        }
        (whole, part, Modifier::None | Modifier::Explode | Modifier::Prefix(_)) => whole == Some(part),
    };
    found.iter().all(agrees).then_some(variables)
}

/// Percent-decodes; `None` where that gives no text.
fn decode(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if let (b'%', [high, low, tail @ ..]) = (first, tail) {
            bytes.push(hex(*high)? << 4 | hex(*low)?);
            rest = tail;
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}
