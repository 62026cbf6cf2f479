//! What fusion did, for people: kernels, edges that did not fuse with the reason, objectives.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use weft_ir::flat::{Size, Space, Var};
use weft_ir::{Name, ScalarType, Span};

use super::apart::Apart;

/// Why a reader does not compute an array's elements itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The program or the block yields the array.
    Result,
    /// It is read at an index that depends on values.
    DataIndex,
    /// Several points read one element.
    SharedElement,
    /// It is read in another order than it is computed, and in more than one place.
    OtherOrder,
    /// Reader and producer run over different points, as far as the program says.
    OtherSpace,
    /// The reader needs a reduction to be complete.
    Reduction,
    /// The reader needs a scan, but not point by point.
    Scan,
    /// A filter, scatter or sort ends a kernel.
    Boundary,
    /// The host, an `if` or a loop stands between.
    HostControl,
    /// The reader reads it inside a loop.
    Repeated,
    /// It is used as a whole: as a descriptor or a destination.
    Structure,
    /// A combining operator or a start value reads it.
    Operator,
    /// A scalar that must be complete first.
    WholeResult,
    /// It is seen with other extents, which needs it in memory.
    View,
    /// Something between the two must be complete first, or their kernels do not fit together.
    NoCommonKernel,
    /// Fusing other edges saves more.
    Solver,
    /// Fusion is switched off.
    Off,
    /// A reduction, filter, sort or another scan reads a scan's values.
    AfterScan,
    /// A reduction combines what a filter keeps.
    AfterFilter,
    /// The kernel would have more branches and loops in each other than it may.
    TooDeep,
    /// Its reader sends it into the array that it is computed of.
    InPlace,
}

impl Reason {
    /// Every reason, in the order of the codes; between them are those of [`Remark`].
    pub const ALL: [Reason; 21] = [
        Reason::Result,
        Reason::DataIndex,
        Reason::SharedElement,
        Reason::OtherOrder,
        Reason::OtherSpace,
        Reason::Reduction,
        Reason::Scan,
        Reason::Boundary,
        Reason::HostControl,
        Reason::Repeated,
        Reason::Structure,
        Reason::Operator,
        Reason::WholeResult,
        Reason::View,
        Reason::NoCommonKernel,
        Reason::Solver,
        Reason::Off,
        Reason::AfterScan,
        Reason::AfterFilter,
        Reason::TooDeep,
        Reason::InPlace,
    ];

    /// The stable code.
    pub fn code(self) -> &'static str {
        match self {
            Reason::Result => "F01",
            Reason::DataIndex => "F02",
            Reason::SharedElement => "F03",
            Reason::OtherOrder => "F04",
            Reason::OtherSpace => "F05",
            Reason::Reduction => "F06",
            Reason::Scan => "F07",
            Reason::Boundary => "F08",
            Reason::HostControl => "F09",
            Reason::Repeated => "F10",
            Reason::Structure => "F11",
            Reason::Operator => "F12",
            Reason::WholeResult => "F13",
            Reason::View => "F15",
            Reason::NoCommonKernel => "F16",
            Reason::Solver => "F17",
            Reason::Off => "F18",
            Reason::AfterScan => "F19",
            Reason::AfterFilter => "F20",
            Reason::TooDeep => "F23",
            Reason::InPlace => "F24",
        }
    }

    /// One sentence.
    pub fn explanation(self) -> &'static str {
        match self {
            Reason::Result => "it is a result, so it is kept in memory anyway",
            Reason::DataIndex => {
                "it is read at an index that depends on values, and computing an element again \
                 would cost more than a load"
            }
            Reason::SharedElement => {
                "several points read the same element, and computing it again would cost more \
                 than a load"
            }
            Reason::OtherOrder => {
                "it is read in another order than it is computed, or in part, and in more than one place"
            }
            Reason::OtherSpace => {
                "its reader runs over other points than it does, or nothing says before the run that they are the same"
            }
            Reason::Reduction => "a reduction has to be complete before its result is read there",
            Reason::Scan => "a scan's values are read at other points than they are computed",
            Reason::Boundary => "a filter, a scatter or a sort has to be complete first",
            Reason::HostControl => "the host reads it, or an `if` or loop stands between",
            Reason::Repeated => "its reader reads it inside a loop",
            Reason::Structure => "it is used as a whole: as row offsets or as a destination",
            Reason::Operator => "a combining operator or a start value reads it",
            Reason::WholeResult => "a scalar between the two has to be complete first",
            Reason::View => "it is seen with other extents, for which it has to be in memory",
            Reason::NoCommonKernel => {
                "something between the two has to be complete first, or their kernels differ"
            }
            Reason::Solver => "fusing other arrays saves more",
            Reason::Off => "fusion is switched off",
            Reason::AfterScan => {
                "only a map follows a scan in one kernel; a fold whose operator carries the running \
                 value along with the result needs no scan"
            }
            Reason::AfterFilter => {
                "the tree of a fold is over what the filter keeps, which has to be complete; a fold \
                 of `if … then x else 0` has another tree and no filter"
            }
            Reason::TooDeep => {
                "one kernel of all of it would be too deep: what stands in each other there, such as one `++` in \
                 another, has a limit"
            }
            Reason::InPlace => {
                "it replaces elements of the array that it is computed of, which is done in that array itself, without a \
                 copy, once all of them are there"
            }
        }
    }
}

/// What there is to say beside the reasons why arrays are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Remark {
    /// Something is computed again in every turn of what is around it, as it stands in a condition.
    InCondition,
    /// Kernels read one array at the same points.
    Apart,
}

impl Remark {
    /// Every remark, in the order of the codes.
    pub const ALL: [Remark; 2] = [Remark::InCondition, Remark::Apart];

    /// The stable code.
    pub fn code(self) -> &'static str {
        match self {
            Remark::InCondition => "F21",
            Remark::Apart => "F22",
        }
    }

    /// What stands before the places.
    pub fn heading(self) -> &'static str {
        match self {
            Remark::InCondition => {
                "Computed again in every turn: in a condition it may not be needed, and it can take long or fail; a \
                 `let` before the map or loop computes it once:"
            }
            Remark::Apart => "Apart, although they read one array at the same points:",
        }
    }
}

/// What a plan costs. Compared from left to right: arrays, reads, kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Objective {
    /// Arrays that kernels write.
    pub arrays: usize,
    /// Arrays that kernels read, one by one for every kernel.
    pub reads: usize,
    /// Kernels.
    pub kernels: usize,
}

impl std::ops::Add for Objective {
    type Output = Objective;

    fn add(self, other: Objective) -> Objective {
        Objective {
            arrays: self.arrays + other.arrays,
            reads: self.reads + other.reads,
            kernels: self.kernels + other.kernels,
        }
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |count: u64, name: &str| match count {
            1 => format!("1 {name}"),
            count => format!("{count} {name}s"),
        };
        let (arrays, reads) =
            (counted(self.arrays as u64, "array"), counted(self.reads as u64, "read"));
        write!(f, "{arrays}, {reads}, {}", counted(self.kernels as u64, "kernel"))
    }
}

/// How the plan was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// There was nothing to choose, or the greedy plan was proved best or just as good.
    Greedy,
    /// The solver found a better plan.
    Solver,
    /// Fusion is switched off.
    Unfused,
    /// Kernels would be too deep, wherever they are divided: as if fusion were switched off.
    TooDeep,
}

/// A kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelReport {
    /// As in the plan.
    pub name: Name,
    /// Its points.
    pub space: Space,
    /// Arrays that it reads.
    pub reads: Vec<Var>,
    /// Those of them of which it reads no elements, and that [`Objective::reads`] does not count: the row
    /// offsets of its points, and what a scatter starts from.
    pub whole: Vec<Var>,
    /// Arrays that it writes.
    pub writes: Vec<Var>,
    /// Arrays that it computes without storing them, and the expressions they come from.
    pub fused: Vec<(Var, Span)>,
    /// The expression of its first operation.
    pub span: Span,
}

/// An array that is stored though something reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfused {
    /// The array.
    pub array: Var,
    /// The expression that computes it.
    pub producer: Span,
    /// The expression that reads it; none if it is a result.
    pub reader: Option<Span>,
    /// Why.
    pub reason: Reason,
    /// For [`Reason::NoCommonKernel`]: an expression that needs the array complete and that the
    /// reader needs, or that shares the reader's kernel.
    pub between: Option<Span>,
    /// For [`Reason::HostControl`]: what stands there.
    pub control: Option<Control>,
    /// Whether it is what a sort brings into order (`Note [Sorts of values]`).
    pub sorted: bool,
}

/// What stands between a producer and its reader, when no kernel does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Code of the host.
    Host,
    /// An `if` outside of kernels.
    If,
    /// A loop outside of kernels.
    Loop,
}

impl Unfused {
    /// Why, in one sentence: as [`Reason::explanation`], but for this very array.
    pub fn explanation(&self) -> &'static str {
        match (self.reason, self.control, self.between) {
            (Reason::Boundary, ..) if self.sorted => {
                "what a sort brings into order is not computed together with what reads it, so that the \
                 elements themselves can be sorted"
            }
            (Reason::HostControl, Some(Control::Host), _) => "the host reads it",
            (Reason::HostControl, Some(Control::If), _) => {
                "an `if` that the host decides stands between"
            }
            (Reason::HostControl, Some(Control::Loop), _) => {
                "a loop stands between, each of whose turns launches kernels"
            }
            (Reason::NoCommonKernel, _, Some(_)) => {
                "something between the two has to be complete first"
            }
            (Reason::NoCommonKernel, _, None) => {
                "their kernels differ: what else the one does has no place in the other"
            }
            (reason, ..) => reason.explanation(),
        }
    }
}

/// An array that is never stored: what that saves is its elements, written once and read by each
/// reader.
#[derive(Clone, Debug, PartialEq)]
pub struct Saved {
    /// The array.
    pub array: Var,
    /// Its element type.
    pub element: ScalarType,
    /// Its extents.
    pub extents: Vec<Size>,
}

/// What fusion did.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The expression of every variable that the program computes.
    pub spans: BTreeMap<Var, Span>,
    /// The kernels in the order of the plan's text.
    pub kernels: Vec<KernelReport>,
    /// What did not fuse.
    pub unfused: Vec<Unfused>,
    /// Kernels that read one array at the same points.
    pub apart: Vec<Apart>,
    /// What is not stored.
    pub saved: Vec<Saved>,
    /// How the plan was found.
    pub chosen: Chosen,
    /// What it costs.
    pub objective: Objective,
    /// What the greedy plan costs.
    pub greedy: Objective,
    /// What the plan without fusion costs.
    pub unfused_objective: Objective,
}

impl Report {
    /// Whether the chosen plan is better than the greedy one.
    pub fn gained(&self) -> bool {
        self.objective.cmp(&self.greedy) == Ordering::Less
    }
}
