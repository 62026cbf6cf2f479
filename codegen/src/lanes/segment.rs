//! The parts of a function: statements that run once, segments, and loops around them.

use super::{Builder, Value};

/// A statement of a segment.
#[derive(Debug)]
pub(super) struct Line {
    /// The value that it defines, and its type.
    pub(super) defines: Option<(String, &'static str)>,
    /// The value, or the whole statement.
    pub(super) text: String,
    /// The values of lanes that it uses.
    pub(super) uses: Vec<String>,
    /// If its function has a slow path that is rarely taken: the value without it, and whether it is
    /// taken.
    pub(super) rare: Option<(String, String)>,
    /// Whether it may leave the function.
    pub(super) leaves: bool,
}

/// A loop over lanes.
#[derive(Debug, Default)]
pub(super) struct Segment {
    /// Told apart by number.
    pub(super) number: usize,
    pub(super) lines: Vec<Line>,
    /// The arrays of lanes that get values at its end.
    pub(super) assigns: Vec<(String, Line)>,
    /// Whether it sets `failed`.
    pub(super) fails: bool,
    /// The flags that it sets where something holds for some lane.
    pub(super) any: Vec<String>,
}

/// A part of a function.
#[derive(Debug)]
pub(super) enum Node {
    /// A statement that runs once.
    Scalar(String),
    Segment(Segment),
    /// A loop around segments. It is left by a statement in its body.
    Loop(Vec<Node>),
}

/// The function, or a loop.
#[derive(Debug, Default)]
pub(super) struct Scope {
    pub(super) nodes: Vec<Node>,
    /// The segment that lines are appended to, after all nodes.
    open: Option<Segment>,
}

impl Scope {
    /// The segment that lines are appended to.
    ///
    /// # Panics
    /// If none has been begun.
    pub(super) fn open_segment(&mut self) -> &mut Segment {
        self.open.as_mut().expect("a segment is open")
    }
}

impl Builder<'_> {
    pub(super) fn top(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("the function is a scope")
    }

    /// Appends a statement that runs once. It uses no lanes, so that it may stand before the open
    /// segment.
    pub(super) fn scalar(&mut self, statement: &str) {
        self.top().nodes.push(Node::Scalar(statement.to_owned()));
    }

    fn segment(&mut self) -> &mut Segment {
        if self.top().open.is_none() {
            self.segments += 1;
            let number = self.segments;
            self.top().open = Some(Segment { number, ..Segment::default() });
        }
        self.top().open_segment()
    }

    /// Appends a line to the open segment.
    pub(super) fn line(
        &mut self,
        defines: Option<(&str, &'static str)>,
        text: &str,
        values: &[&Value],
    ) {
        let line = Line {
            defines: defines.map(|(name, ty)| (name.to_owned(), ty)),
            text: text.to_owned(),
            uses: uses(values),
            rare: None,
            leaves: false,
        };
        self.segment().lines.push(line);
    }

    /// Notes that the last line calls a function with a slow path.
    pub(super) fn rare(&mut self, usual: String, condition: String) {
        let line = self.segment().lines.last_mut().expect("the line that calls the function");
        line.rare = Some((usual, condition));
    }

    /// Appends a line that leaves the function if a condition holds.
    pub(super) fn leave_if(&mut self, condition: &str, result: &str, values: &[&Value]) {
        let text = format!("if (__builtin_expect({condition}, 0)) return {result};");
        self.line(None, &text, values);
        self.segment().lines.last_mut().expect("the line above").leaves = true;
    }

    /// Gives an array of lanes a value at the end of the open segment.
    pub(super) fn assign(&mut self, array: &str, text: &str, values: &[&Value]) {
        let (text, uses) = (text.to_owned(), uses(values));
        let line = Line { defines: None, text, uses, rare: None, leaves: false };
        self.segment().assigns.push((array.to_owned(), line));
    }

    /// Makes the open segment say by a flag whether a condition holds for some lane.
    pub(super) fn any(&mut self, flag: &str, condition: &Value) {
        self.line(None, &format!("{flag} |= {} ? 1U : 0U;", condition.text), &[condition]);
        self.segment().any.push(flag.to_owned());
    }

    /// Ends the open segment. All lanes that come after it have held.
    pub(super) fn close_segment(&mut self) {
        self.alive = None;
        let scope = self.top();
        if let Some(segment) = scope.open.take() {
            scope.nodes.push(Node::Segment(segment));
        }
    }
}

fn uses(values: &[&Value]) -> Vec<String> {
    values.iter().filter(|value| value.varies).map(|value| value.text.clone()).collect()
}
