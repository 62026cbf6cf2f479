//! Which functions are compiled together.
//!
//! Note [Units of compilation]. A text of its own costs the compiler some time before the first function, so what
//! is small is compiled together. But it works on one text with one thread, and on several at once: so what takes
//! long is divided among the processors there are. What sorts is the same in all programs that sort alike; its texts
//! have nothing of the program, so that their code is found again.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::text::{Code, Entry};

/// What is compiled at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The whole translation unit.
    pub text: String,
    /// Its `__global__` functions.
    pub functions: Vec<String>,
}

/// What functions take beyond the text that they come with, in milliseconds of NVRTC 13.0 for `sm_90` on one core
/// (`bench/LOG.md`). By what their names have behind the number of the kernel; all others take [`OTHERS`].
const TIMES: [(&str, usize); 19] = [
    ("scan_tiles", 95),
    ("scan_blocks", 95),
    ("scan_rows", 30),
    ("scan_groups", 50),
    ("reduce_tiles", 65),
    ("reduce_rows", 25),
    ("reduce_groups", 60),
    ("reduce_grid", 95),
    ("reduce_large_grid", 150),
    ("reduce_pairs", 75),
    ("reduce_path", 80),
    // And `reduce_longest`.
    ("reduce_long", 45),
    ("filter", 75),
    ("sort_pass", 105),
    ("sort_histogram", 25),
    ("scatter_runs", 85),
    ("scatter_long", 45),
    ("scatter_bins", 40),
    ("scatter_update", 35),
];
const OTHERS: usize = 15;

/// Bytes of scalar code that take a millisecond.
const BYTES: usize = 250;

/// Units that take less than so many milliseconds are not divided.
const LEAST: usize = 60;

impl Code {
    /// What is compiled before the plan runs, in at most that many units beside those of what sorts, of which there
    /// are two, or one if that is the most.
    pub fn units(&self, most: usize) -> Vec<Unit> {
        let sorts = |entry: &&Entry| entry.name.starts_with("sort_");
        let usual = |entry: &&Entry| !entry.rare;
        let shared: Vec<&Entry> = self.common_entries.iter().filter(usual).filter(sorts).collect();
        let own = self.entries.iter().chain(&self.common_entries).filter(usual);
        let own: Vec<&Entry> = own.filter(|entry| !shared.contains(entry)).collect();
        let mut units: Vec<Unit> =
            divided(own, most).iter().map(|entries| self.unit(entries)).collect();
        // A pass takes longer than all else of it together.
        let is_pass = |entry: &&Entry| most > 1 && entry.name.starts_with("sort_pass");
        let (passes, others): (Vec<&Entry>, Vec<&Entry>) = shared.into_iter().partition(is_pass);
        let shared = [passes, others].into_iter().filter(|entries| !entries.is_empty());
        units.extend(shared.map(|entries| self.unit(&entries)));
        units
    }

    fn unit(&self, entries: &[&Entry]) -> Unit {
        let functions: Vec<String> = entries.iter().map(|entry| entry.name.clone()).collect();
        let names: BTreeSet<&str> = functions.iter().map(String::as_str).collect();
        Unit { text: self.text_with(&|entry| names.contains(entry.name.as_str())), functions }
    }
}

/// Functions in groups that take about as long as each other, no more than are of use.
fn divided(mut entries: Vec<&Entry>, most: usize) -> Vec<Vec<&Entry>> {
    let total: usize = entries.iter().map(|entry| time(entry)).sum();
    let longest = entries.iter().map(|entry| time(entry)).max().unwrap_or(0);
    let count = total.div_ceil(longest.max(LEAST)).clamp(1, most.max(1));
    let mut groups = vec![(0, Vec::new()); count];
    // The longest first, each to where there is least.
    entries.sort_by_key(|entry| Reverse(time(entry)));
    for entry in entries {
        if let Some(group) = groups.iter_mut().min_by_key(|(time, _)| *time) {
            group.0 += time(entry);
            group.1.push(entry);
        }
    }
    groups.into_iter().map(|(_, group)| group).filter(|group| !group.is_empty()).collect()
}

fn time(entry: &Entry) -> usize {
    let behind_number = |name: &'static str| {
        entry.name.starts_with(name)
            || entry.name.split_once('_').is_some_and(|(_, rest)| rest.starts_with(name))
    };
    let known = TIMES.iter().find(|(name, _)| behind_number(name));
    known.map_or(OTHERS, |(_, time)| *time) + entry.written / BYTES
}

#[cfg(test)]
mod tests {
    use weft_ir::plan;

    use crate::{Policy, generate};

    /// The functions of each unit of a golden plan.
    fn units(text: &str, most: usize) -> Vec<Vec<String>> {
        let plan = plan::parse(text).expect("a plan");
        let code = generate(&plan, &Policy::SM_90);
        let units = code.units(most);
        let all: Vec<&str> = code.usual_entries().collect();
        let mut found: Vec<&str> =
            units.iter().flat_map(|unit| unit.functions.iter().map(String::as_str)).collect();
        found.sort_by_key(|name| all.iter().position(|own| own == name));
        assert_eq!(found, all);
        for unit in &units {
            for name in &all {
                let is_own = unit.functions.iter().any(|own| own == name);
                assert_eq!(unit.text.contains(&format!("{name}(")), is_own, "{name}");
            }
        }
        units.into_iter().map(|unit| unit.functions).collect()
    }

    #[test]
    fn what_is_small_is_compiled_together() {
        let dot = include_str!("../gate/plans/dot.plan");
        assert_eq!(units(dot, 8), [["k0_reduce_tiles"]]);
        let scatters = include_str!("../gate/plans/scatter.plan");
        let (replace, _) = scatters.split_once("launch \"combine\"").expect("two kernels");
        let replace = format!("{replace}output a4: [a0]f64\n");
        assert_eq!(units(&replace, 8), [["k0_scatter_vote", "k0_scatter_write"]]);
    }

    #[test]
    fn what_takes_long_is_divided() {
        let histogram = include_str!("../gate/plans/histogram.plan");
        assert_eq!(units(histogram, 8), [["k0_scatter_bins"], ["k0_scatter_update"]]);
        let ragged = include_str!("../gate/plans/spmv.plan");
        assert_eq!(
            units(ragged, 8),
            [
                vec!["k0_reduce_path"],
                vec!["k0_reduce_long", "path_of_rows"],
                vec!["k0_reduce_longest"]
            ]
        );
        assert_eq!(units(ragged, 2).len(), 2);
        assert_eq!(units(ragged, 1).len(), 1);
    }

    #[test]
    fn what_sorts_is_the_same_for_all() {
        let sort = include_str!("../gate/plans/sort.plan");
        let text = |ty: &str| {
            let plan = plan::parse(&sort.replace("f32", ty)).expect("a plan");
            generate(&plan, &Policy::SM_90).units(1)
        };
        let [first, second] = [text("f32"), text("i32")];
        assert_eq!((first.len(), &first[1]), (2, &second[1]));
        assert_ne!(first[0], second[0]);
        let steps = ["sort_histogram", "sort_order"];
        assert_eq!(units(sort, 2), [&["k0_sort_keys"][..], &["sort_pass"], &steps]);
    }
}
