//! What sequences are made of. The prelude alone sees these names; what users see of sequences is written
//! there, in the language.

use super::{Builtin, Entry};

pub(super) const INTERNAL: &[Entry] = &[
    internal(
        "makeSequence",
        Builtin::SeqMake,
        "i64 -> bool -> (i64 -> i64 -> []a) -> seq a",
        "length filtered part",
    ),
    internal("sequenceLength", Builtin::SeqLength, "seq a -> i64", "s"),
    internal("isFiltered", Builtin::SeqFiltered, "seq a -> bool", "s"),
    internal("sequenceWeight", Builtin::SeqWeight, "[]a -> i64", "items"),
    internal("part", Builtin::SeqPart, "seq a -> i64 -> i64 -> []a", "s low high"),
];

const fn internal(
    name: &'static str,
    builtin: Builtin,
    signature: &'static str,
    parameters: &'static str,
) -> Entry {
    Entry {
        name,
        builtin,
        signature,
        parameters,
        doc: "",
        complexity: "",
        example: "",
        result: "",
        subject: "",
    }
}
