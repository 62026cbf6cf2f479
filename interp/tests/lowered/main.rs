//! Lowered programs against the reference interpreter: what the typed program yields, its lowered
//! form yields too, or it reports a fault, after which the interpreter decides.

mod cases;
mod compare;

use compare::{Summary, compare_all};

/// The examples of the table of builtins.
#[test]
fn documented_examples() {
    let examples = weft_lang::builtins::all().map(|entry| entry.example.to_owned());
    let summary = compare_all(examples.collect());
    let report = summary.report();
    assert!(report.is_empty(), "{report}");
}

/// The cells of the suite; what it expects is the business of its own test.
#[test]
fn cells_of_the_suite() {
    let summary = compare_all(cases::suite());
    assert!(summary.compared > 300, "only {} were compared", summary.compared);
    let report = summary.report();
    assert!(report.is_empty(), "{report}");
}

/// The examples that read no files.
#[test]
fn examples() {
    let summary = compare_all(cases::examples());
    assert!(summary.compared > 5, "only {} were compared", summary.compared);
    let report = summary.report();
    assert!(report.is_empty(), "{report}");
}

/// Programs about corners that neither of the two has.
#[test]
fn corners() {
    let summary: Summary = compare_all(cases::corners());
    let report = summary.report();
    assert!(report.is_empty(), "{report}");
}
