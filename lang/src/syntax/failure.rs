//! What the grammar fails with: where, and which tokens would have been right there.

use chumsky::DefaultExpected;
use chumsky::error::{Error, LabelError};
use chumsky::span::SimpleSpan;
use chumsky::util::MaybeRef;

use super::kind::{Kind, KindSet};
use crate::diagnostic::Diagnostic;

/// A failure of the grammar. It is made at every token that some alternative does not take, so it
/// is small and made without allocation; [`super::explain`] turns the last one into words.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    /// The index of the token, in its item.
    pub(super) at: usize,
    /// The tokens that would have been right.
    pub(super) expected: KindSet,
    /// Whether the end of the item would have been right.
    pub(super) end_expected: bool,
    /// What was found to be wrong although the tokens were right.
    pub(super) finding: Option<Box<Diagnostic>>,
}

impl Failure {
    /// None of `expected` is at `at`.
    pub(super) fn expected(at: usize, expected: KindSet) -> Failure {
        Failure { at, expected, end_expected: false, finding: None }
    }

    /// The item does not end at `at`.
    pub(super) fn not_the_end(at: usize) -> Failure {
        Failure { at, expected: KindSet::EMPTY, end_expected: true, finding: None }
    }

    /// A finished report.
    pub(super) fn finding(diagnostic: Diagnostic) -> Failure {
        Failure {
            at: 0,
            expected: KindSet::EMPTY,
            end_expected: false,
            finding: Some(Box::new(diagnostic)),
        }
    }
}

impl<'a> Error<'a, &'a [Kind]> for Failure {
    fn merge(mut self, other: Failure) -> Failure {
        self.expected = self.expected.and(other.expected);
        self.end_expected |= other.end_expected;
        self.finding = self.finding.or(other.finding);
        self
    }
}

impl<'a> LabelError<'a, &'a [Kind], DefaultExpected<'a, Kind>> for Failure {
    fn expected_found<E: IntoIterator<Item = DefaultExpected<'a, Kind>>>(
        expected: E,
        _found: Option<MaybeRef<'a, Kind>>,
        span: SimpleSpan,
    ) -> Failure {
        let mut failure = Failure::expected(span.start, KindSet::EMPTY);
        for pattern in expected {
            match pattern {
                DefaultExpected::Token(kind) => {
                    failure.expected = failure.expected.and(KindSet::of(&[*kind]));
                }
                DefaultExpected::EndOfInput => failure.end_expected = true,
                _ => {}
            }
        }
        failure
    }
}
