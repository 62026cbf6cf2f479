//! Loops of the host as functions: which become one, and what is written.

use weft_codegen::{SequentialLoop, sequential_code, sequential_loop, small_loop};
use weft_ir::plan::{self, Step};

/// The function of the last loop of a plan.
fn function(text: &str) -> Option<SequentialLoop> {
    let program = plan::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let of = |step: &Step| match step {
        Step::While { state, condition, body, .. } => {
            Some(sequential_loop(state, condition, body, &program.types))
        }
        Step::Host { code, .. } => sequential_code(code, &program.types).map(Some),
        _ => None,
    };
    program.body.steps.iter().rev().find_map(of).expect("a loop")
}

/// A loop over `i` below 9 with an array `a5` of four numbers, whose next value some steps compute as `a9`.
fn updates(steps: &str) -> Option<SequentialLoop> {
    function(&format!(
        "input a1: [4]i64
a0: i64 = host
  yield 0i64
a2: [4]i64 = reshape a1
a10: i64, a11: [4]i64 = while (a3: i64 = a0, a5: [4]i64 = a2)
  a6: bool = host
    r0: i64 = read a3
    r1: bool = lt r0 9i64
    yield r1
  yield a6
do
  a8: i64 = host
    r0: i64 = read a3
    r1: i64 = add r0 1i64
    yield r1
{steps}
  yield a8 a9
output a11: [4]i64
"
    ))
}

const UPDATE: &str = "  launch \"scatter\" [1] (r0)
    r1: i64 = read a3
    r2: i64 = read a5 r0
    yield r1 r2
    scatter r2 at r1 into a5 to a9: [4]i64
  end";

#[test]
fn elements_are_replaced_in_place() {
    let function = updates(UPDATE).expect("a function");
    assert!(function.inputs.is_empty(), "{function:?}");
    let text = function.text;
    assert!(text.contains("a2[r1] = r2"), "{text}");
    assert!(text.contains("END_OF_TURN"), "{text}");
}

#[test]
fn host_code_with_a_loop_is_a_function() {
    let function = function(
        "input a0: i64
input a1: [a0]f64
a2: f64 = host
  r0: i64 = read a0
  r12: i64, r13: f64 = while (r1: i64 = 0i64, r2: f64 = 0.0f64)
    r3: bool = lt r1 r0
    yield r3
  do
    r4: i64 = add r1 1i64
    r5: f64 = read a1 r1
    r6: f64 = add r2 r5
    yield r4 r6
  yield r13
output a2: f64
",
    );
    let text = function.expect("a function").text;
    assert!(text.contains("const f64 r5 = a2[r1];"), "{text}");
    assert!(text.contains("*(f64 *)all->state[0] = r2;"), "{text}");
}

#[test]
fn what_was_replaced_cannot_be_read() {
    let reads = "  a7: i64 = host
    r0: i64 = read a5 0i64
    yield r0
  launch \"scatter\" [1] (r0)
    r1: i64 = read a3
    r2: i64 = read a7
    yield r1 r2
    scatter r2 at r1 into a5 to a9: [4]i64
  end";
    assert!(updates(reads).is_some(), "it is read before");
    let late = format!("{UPDATE}\n  a7: i64 = host\n    r0: i64 = read a5 0i64\n    yield r0");
    assert_eq!(updates(&late), None);
}

#[test]
fn other_kernels_are_no_part_of_it() {
    let map = "  launch \"map\" [4] (r0)
    r1: i64 = read a5 r0
    yield r1
    store r1 to a9: [4]i64
  end";
    assert_eq!(updates(map), None);
}

/// The function of the last loop of a plan that computes arrays in memory of its own.
fn small(text: &str) -> Option<SequentialLoop> {
    let program = plan::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let of = |step: &Step| match step {
        Step::While { state, condition, body, .. } => {
            Some(small_loop(state, condition, body, &program.types))
        }
        _ => None,
    };
    program.body.steps.iter().rev().find_map(of).expect("a loop")
}

/// A loop whose turns compute `a6` of numbers `a4` with these extents, by this code of the indices r0 and r1; its function.
fn mapped(extents: &str, code: &str) -> SequentialLoop {
    let indices = if extents.contains("][") { "r0 r1" } else { "r0" };
    let text = format!(
        "input a0: i64
input a1: {extents}i64
a2: {extents}i64 = reshape a1
a3: {extents}i64 = while (a4: {extents}i64 = a2)
  a5: bool = host
    yield true
  yield a5
do
  launch \"map\" {extents} ({indices})
{code}
    yield r9
    store r9 to a6: {extents}i64
  end
  yield a6
output a3: {extents}i64
"
    );
    small(&text).unwrap_or_else(|| panic!("no function for {text}"))
}

#[test]
fn kernels_over_small_arrays_are_loops() {
    let function = mapped("[a0]", "    r1: i64 = read a4 r0\n    r9: i64 = add r1 1i64");
    assert!(function.computes_arrays);
    let text = function.text;
    for line in ["const i64 r1 = a1[p", "const i64 r9 = ", "] = r9;", "END_OF_TURN"] {
        assert!(text.contains(line), "{text}");
    }
}

/// The same where elements for which a condition r2 holds stay, and others become what is before them.
fn bordered(condition: &str) -> String {
    let code = format!(
        "    r1: i64 = read a0
{condition}
    r9: i64 = if r2
      r3: i64 = read a4 r0
      yield r3
    else
      r4: i64 = sub r0 1i64
      r5: bool = ge r4 0i64
      r6: bool = lt r4 r1
      r7: bool = and r5 r6
      check r7 index
      r8: i64 = read a4 r4
      yield r8"
    );
    mapped("[a0]", &code).text
}

#[test]
fn points_away_from_the_borders_have_a_loop_without_checks() {
    let text = bordered("    r2: bool = eq r0 0i64");
    let (before, inside) = text.split_once("#pragma omp simd").expect("a loop of vectors");
    let (inside, around) = inside.split_once("}").expect("its end");
    assert!(before.contains("= max_i64(all_from"), "{text}");
    assert!(!inside.contains("if (") && inside.contains("const i64 r8 = a1["), "{text}");
    assert!(around.contains("if (r2) {") && around.contains("return 1;"), "{text}");
}

#[test]
fn a_number_that_is_no_first_or_last_one_is_no_border() {
    let looks = |condition: &str| {
        let text = bordered(condition);
        let (_, inside) = text.split_once("#pragma omp simd").expect("a loop of vectors");
        inside.split_once("}").expect("its end, or that of a side").0.contains("if (r2)")
    };
    let either = "    r10: bool = eq r0 0i64\n    r11: bool = eq r0 r1\n    r2: bool = or r10 r11";
    assert!(!looks(either));
    assert!(!looks("    r10: bool = gt r0 0i64\n    r2: bool = not r10"));
    assert!(looks("    r2: bool = eq r0 r1"), "it may be anywhere");
    assert!(looks("    r2: bool = eq r0 100i64"), "it may be anywhere");
}

#[test]
fn what_may_fail_anywhere_has_no_loop_of_vectors() {
    let text = mapped(
        "[a0]",
        "    r1: i64 = read a4 r0
    r2: i64 = read a0
    r3: bool = lt r1 r2
    check r3 index
    r9: i64 = read a4 r1",
    );
    assert!(!text.text.contains("#pragma omp simd"), "{}", text.text);
}

#[test]
fn each_row_has_its_box_and_its_side_of_a_condition() {
    // Twice the number of the row is added to the index; of one row another element is taken.
    let text = mapped(
        "[5][7]",
        "    r2: i64 = read a0
    r5: i64 = mul r0 2i64
    r6: i64 = add r1 r5
    r7: bool = lt r6 7i64
    check r7 index
    r3: bool = eq r0 r2
    r9: i64 = if r3
      r4: i64 = read a4 r0 r1
      yield r4
    else
      r8: i64 = read a4 r2 r6
      yield r8",
    )
    .text;
    assert!(text.contains("if (__builtin_add_overflow(offset"), "{text}");
    let (row, sides) = text.split_once("if (r3) {").expect("a condition on the row");
    assert!(!row.contains("#pragma omp simd"), "{text}");
    assert_eq!(sides.matches("#pragma omp simd").count(), 2, "{text}");
}

#[test]
fn loops_that_sort_are_functions() {
    let text = "input a1: [4]i64
a2: [4]i64 = reshape a1
a3: [4]i64 = while (a4: [4]i64 = a2)
  a5: bool = host
    yield true
  yield a5
do
  launch \"sort\" [4] (r0)
    r1: i64 = read a4 r0
    yield r1
    sort r1 to a6: [4]i64
  end
  yield a6
output a3: [4]i64
";
    let text = small(text).expect("a function").text;
    assert!(text.contains("if (count > MOST_OF_SORT) LEAVE;"), "{text}");
    assert!(text.contains("sort_row(keys, 1, count, 0, "), "{text}");
}

/// A loop that puts the sum of its array into it, with more steps behind that; its function.
fn sums(behind: &str, result: &str) -> SequentialLoop {
    let text = format!(
        "input a1: [a0]i64
a2: [a0]i64 = reshape a1
a12: i64 = host
  yield 0i64
a3: [a0]i64, a13: i64 = while (a4: [a0]i64 = a2, a14: i64 = a12)
  a5: bool = host
    r0: i64 = read a4 0i64
    r1: bool = lt r0 9i64
    yield r1
  yield a5
do
  launch \"sum\" [a0] (r0)
    r1: i64 = read a4 r0
    yield r1
    reduce r1 as (r2: i64) to a6: i64
    by (r3: i64) (r4: i64)
      r5: i64 = add r3 r4
      yield r5
    if_empty ()
      yield 0i64
  end
  launch \"scatter\" [1] (r0)
    r1: i64 = read a6
    yield 0i64 r1
    scatter r1 at 0i64 into a4 to a7: [a0]i64
  end
{behind}
  yield {result} a6
output a3: [a0]i64
"
    );
    small(&text).expect("a function")
}

/// A loop whose turns fill an array `a9`, beginning with one of their own or with the state `a2`, in a loop inside, so many
/// elements at once.
fn filled(first: &str, elements: usize) -> SequentialLoop {
    let text = format!(
        "input a0: [4]i64
a16: i64 = host
  yield 0i64
a18: [4]i64 = reshape a0
a17: i64, a15: [4]i64 = while (a1: i64 = a16, a2: [4]i64 = a18)
  a3: bool = host
    r0: i64 = read a1
    r1: bool = lt r0 3i64
    yield r1
  yield a3
do
  a14: i64 = host
    r0: i64 = read a1
    r1: i64 = add r0 1i64
    yield r1
  launch \"map\" [4] (r0)
    r1: i64 = read a2 r0
    r2: i64 = add r1 1i64
    yield r2
    store r2 to a19: [4]i64
  end
  a13: i64, a11: [4]i64 = while (a5: i64 = a16, a6: [4]i64 = {first})
    a7: bool = host
      r0: i64 = read a5
      r1: bool = lt r0 3i64
      yield r1
    yield a7
  do
    a8: i64, a10: i64 = host
      r0: i64 = read a5
      r1: i64 = read a19 r0
      r2: i64 = add r0 1i64
      yield r1 r2
    launch \"scatter\" [{elements}] (r0)
      r1: i64 = read a5
      r2: i64 = read a8
      r3: i64 = add r1 r0
      yield r3 r2
      scatter r2 at r3 into a6 to a9: [4]i64
    end
    free a6
    yield a10 a9
  free a2 a19
  yield a14 a11
free a18
output a15: [4]i64
"
    );
    small(&text).unwrap_or_else(|| panic!("no function for {text}"))
}

#[test]
fn a_loop_inside_fills_an_array_where_it_is() {
    for elements in [1, 2] {
        let text = filled("a19", elements).text;
        // It is copied once, before the first turn of that loop, and at the end where the next turn leaves it.
        let [before, inside] = text.split_once("__builtin_memcpy(").expect("a copy").into();
        assert!(!before.contains("COPY"), "{text}");
        let (turns, behind) = inside.split_once("END_OF_TURN").expect("a turn");
        assert!(!turns.contains("for (i64 at") && !turns.contains("KEEP("), "{text}");
        assert!(elements > 1 || !turns.contains("COPY"), "{text}");
        assert!(!behind.contains("memcpy"), "{text}");
    }
    // What is replaced in an array of the state is kept.
    let text = filled("a2", 1).text;
    assert!(!text.contains("__builtin_memcpy(a") && text.contains("KEEP("), "{text}");
}

#[test]
fn what_nobody_looks_at_later_is_updated_where_it_is() {
    let function = sums("", "a7");
    assert_eq!(function.updated.iter().collect::<Vec<_>>(), [&0]);
    let text = function.text;
    assert!(!text.contains("COPY") && !text.contains("for (i64 at"), "{text}");
    // What was there is kept until the turn ends, and put back where the host goes on with it.
    let kept = text.find("[place];").expect("it is kept");
    assert!(text[kept..].find("[place] = ").is_some(), "{text}");
    assert!(text.split_once("leave:;").expect("it may end").1.contains("(i64 *)"), "{text}");
}

#[test]
fn what_is_looked_at_later_is_copied() {
    let look =
        |array: &str| format!("  a8: i64 = host\n    r0: i64 = read {array} 0i64\n    yield r0");
    assert_eq!(sums(&look("a7"), "a7").updated.len(), 1, "the array behind the update");
    assert!(sums(&look("a4"), "a7").updated.is_empty(), "the array before it");
    assert!(sums("", "a4").updated.is_empty(), "the update is lost");
    let other = "  a8: [a0]i64 = reshape a4";
    assert!(sums(other, "a7").updated.is_empty(), "there is another name for it");
}

/// A loop over a list `a4` of `a3` numbers, whose next value of length `a6` some steps compute as `a7`.
fn list(length: &str, steps: &str) -> SequentialLoop {
    let text = format!(
        "input a1: [a0]i64
a2: [a0]i64 = reshape a1
a8: i64, a9: [a8]i64 = while (a3: i64 = a0, a4: [a3]i64 = a2)
  a5: bool = host
    r0: i64 = read a3
    r1: bool = lt r0 9i64
    yield r1
  yield a5
do
  a6: i64 = host
    r0: i64 = read a3
    r1: i64 = {length} r0 1i64
    yield r1
{steps}
  yield a6 a7
output a9: [a8]i64
"
    );
    small(&text).unwrap_or_else(|| panic!("no function for {text}"))
}

const APPENDED: &str = "  launch \"map\" [a6] (r0)
    r1: i64 = read a3
    r2: bool = lt r0 r1
    r5: i64 = if r2
      r4: i64 = read a4 r0
      yield r4
    else
      yield 7i64
    yield r5
    store r5 to a7: [a6]i64
  end";

#[test]
fn what_is_put_behind_a_list_is_put_where_the_list_is() {
    let function = list("add", APPENDED);
    assert!(function.moving.contains(&1) && function.updated.contains(&1), "{function:?}");
    assert!(function.text.contains("NEED_ROOM"), "{}", function.text);
    // Its text reads no element in front of what it puts there, but where the kernel chose to.
    assert_eq!(function.text.matches("for (i64 p").count(), 1, "{}", function.text);
}

#[test]
fn an_array_of_no_elements_is_one_that_nobody_reads() {
    let steps = |constant: &str| {
        format!(
            "  a20: [{}]i64 = constant i64[{constant}]
  launch \"map\" [a6] (r0)
    r1: i64 = read a3
    r2: bool = lt r0 r1
    r5: i64 = if r2
      r4: i64 = read a4 r0
      yield r4
    else
      r6: i64 = sub r0 r1
      r7: i64 = read a20 r6
      yield r7
    yield r5
    store r5 to a7: [a6]i64
  end",
            usize::from(!constant.is_empty())
        )
    };
    for constant in ["", "7i64"] {
        let text = list("add", &steps(constant)).text;
        let number = if constant.is_empty() { "0" } else { "7LL" };
        assert!(text.contains(&format!("[] = {{{number}}};")), "{text}");
    }
}

#[test]
fn a_part_of_a_list_is_where_it_was() {
    for (index, first) in [("", "r0"), ("    r9: i64 = add r0 1i64\n", "r9")] {
        let part = format!(
            "  launch \"map\" [a6] (r0)\n{index}    r1: i64 = read a4 {first}\n    yield r1\n    \
             store r1 to a7: [a6]i64\n  end"
        );
        let function = list("sub", &part);
        assert!(function.moving.contains(&1), "{function:?}");
        assert!(!function.text.contains("for (i64 p"), "no point is copied: {}", function.text);
    }
}

#[test]
fn a_list_that_is_looked_at_behind_the_append_is_copied() {
    let later = "
  a10: i64 = host
    r0: i64 = read a4 0i64
    yield r0";
    let function = list("add", &format!("{APPENDED}{later}"));
    assert!(function.moving.is_empty(), "{function:?}");
    assert!(!function.text.contains("NEED_ROOM"), "{}", function.text);
    // What is computed of the element on the way is no element of the list.
    let other = APPENDED.replace("      yield r4", "      r6: i64 = add r4 1i64\n      yield r6");
    assert!(list("add", &other).moving.is_empty());
}

/// A loop inside that appends twice.
const INSIDE: &str = "  a20: i64 = host
    yield 0i64
  a21: i64, a25: i64, a7: [a25]i64 = while (a22: i64 = a20, a23: i64 = a3, a24: [a23]i64 = a4)
    a27: bool = host
      r0: i64 = read a22
      r1: bool = lt r0 2i64
      yield r1
    yield a27
  do
    a28: i64, a29: i64 = host
      r0: i64 = read a22
      r1: i64 = add r0 1i64
      r2: i64 = read a23
      r3: i64 = add r2 1i64
      yield r1 r3
    launch \"map\" [a29] (r0)
      r1: i64 = read a23
      r2: bool = lt r0 r1
      r5: i64 = if r2
        r4: i64 = read a24 r0
        yield r4
      else
        yield 7i64
      yield r5
      store r5 to a30: [a29]i64
    end
    yield a28 a29 a30";

#[test]
fn what_a_loop_inside_puts_behind_a_list_is_put_where_the_list_is() {
    let function = list("add", INSIDE);
    assert!(function.moving.contains(&1) && function.updated.contains(&1), "{function:?}");
    // What is replaced goes to a log, which ends where the memory does: what is taken from its end is rounded down.
    for part in [
        "const u64 log_room = (all->room / 4) & ~63ULL;",
        "limit -= log_room;",
        "= (struct replaced *)limit,",
        "log + log_room / sizeof *log;",
        "KEEP(i64, ",
        "log = log_begin;",
        "while (log > log_begin) {",
    ] {
        assert!(function.text.contains(part), "{part}\n{}", function.text);
    }
    // There a turn would see what an earlier one has replaced.
    let known =
        INSIDE.replace("        yield 7i64", "        r7: i64 = read a4 0i64\n        yield r7");
    assert!(list("add", &known).moving.is_empty());
}

/// A conditional of which one side appends, and the other one yields another list.
fn replaced(other: &str) -> SequentialLoop {
    let appended = APPENDED.replace("a7: ", "a31: ").replace("\n", "\n  ");
    list(
        "add",
        &format!(
            "  a20: bool = host
    r0: i64 = read a3
    r1: bool = lt r0 5i64
    yield r1
  a7: [a6]i64 = if a20
  {appended}
    yield a31
  else
    launch \"map\" [a6] (r0)
      r1: i64 = read a3
      yield r1
      store r1 to a32: [a6]i64
    end
    yield {other}"
        ),
    )
}

#[test]
fn another_list_is_put_where_the_list_is() {
    let function = replaced("a32");
    assert!(function.moving.contains(&1), "{function:?}");
    let text = function.text;
    // Both sides look whether there is room.
    assert_eq!(text.matches("NEED_ROOM;").count(), 2, "{text}");
    let copied = text.split_once("} else {").expect("a side").1;
    assert!(copied.contains("for (i64 place = 0;"), "{text}");
    // No copy is made of what is there.
    let text = replaced("a4").text;
    assert!(!text.contains("for (i64 place = 0;"), "{text}");
}
