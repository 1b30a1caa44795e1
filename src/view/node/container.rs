//! Arrays and objects on the tape.

use simd_json::Node;

use super::Value;

/// The value that starts `nodes` and the nodes after it.
fn split_value<'t, 'b>(nodes: &'t [Node<'b>]) -> Option<(Value<'t, 'b>, &'t [Node<'b>])> {
    let below = match *nodes.first()? {
        Node::Object { count, .. } | Node::Array { count, .. } => count,
        Node::Static(_) | Node::String(_) => 0,
    };
    Some((Value::new(nodes), nodes.get(below + 1..).unwrap_or_default()))
}

/// An object on the tape.
#[derive(Debug, Clone, Copy)]
pub struct Object<'t, 'b> {
    rest: &'t [Node<'b>],
    len: usize,
}

impl<'t, 'b> Object<'t, 'b> {
    /// `rest` starts with the first node inside.
    pub(super) const fn new(rest: &'t [Node<'b>], len: usize) -> Self {
        Self { rest, len }
    }

    /// The number of members, repeated keys counted each time.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The members in order, repeated keys too.
    #[must_use]
    pub const fn iter(&self) -> Members<'t, 'b> {
        Members { rest: self.rest, left: self.len }
    }

    /// The first member with this key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Value<'t, 'b>> {
        self.iter().find(|(other, _)| *other == key).map(|(_, value)| value)
    }
}

impl<'t, 'b> IntoIterator for Object<'t, 'b> {
    type Item = (&'b str, Value<'t, 'b>);
    type IntoIter = Members<'t, 'b>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Iterator over an object's members.
#[derive(Debug, Clone)]
pub struct Members<'t, 'b> {
    rest: &'t [Node<'b>],
    left: usize,
}

impl<'t, 'b> Iterator for Members<'t, 'b> {
    type Item = (&'b str, Value<'t, 'b>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        let (Node::String(key), after) = self.rest.split_first()? else { return None };
        let (value, rest) = split_value(after)?;
        self.rest = rest;
        self.left -= 1;
        Some((key, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Members<'_, '_> {}

/// An array on the tape.
#[derive(Debug, Clone, Copy)]
pub struct Array<'t, 'b> {
    rest: &'t [Node<'b>],
    len: usize,
}

impl<'t, 'b> Array<'t, 'b> {
    /// `rest` starts with the first node inside.
    pub(super) const fn new(rest: &'t [Node<'b>], len: usize) -> Self {
        Self { rest, len }
    }

    /// The number of elements.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The elements in order.
    #[must_use]
    pub const fn iter(&self) -> Elements<'t, 'b> {
        Elements { rest: self.rest, left: self.len }
    }
}

impl<'t, 'b> IntoIterator for Array<'t, 'b> {
    type Item = Value<'t, 'b>;
    type IntoIter = Elements<'t, 'b>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Iterator over an array's elements.
#[derive(Debug, Clone)]
pub struct Elements<'t, 'b> {
    rest: &'t [Node<'b>],
    left: usize,
}

impl<'t, 'b> Iterator for Elements<'t, 'b> {
    type Item = Value<'t, 'b>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        let (value, rest) = split_value(self.rest)?;
        self.rest = rest;
        self.left -= 1;
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Elements<'_, '_> {}
