//! Loops of one point as functions of C: what is written.

use weft_codegen::{RowLoop, row_loop, row_loop_in_place};
use weft_ir::plan::{self, Step};

/// A loop over `a3` below nine whose state is rows of `a0` numbers; `given` is what stands behind `rows`, and `steps`
/// compute the next row as `a12` from `a9`.
fn function(steps: &str) -> RowLoop {
    let text = format!(
        "input a2: [a1][a0]i64
a5: i64 = host
  yield 0i64
a6: i64, a7: [a1][a0]i64 = while (a3: i64 = a5, a4: [a1][a0]i64 = a2)
  a8: bool = host
    r0: i64 = read a3
    r1: bool = lt r0 9i64
    yield r1
  yield a8
do
  yield a3 a4
rows a1
  given a0 all a3
  given a1 size a0
  given a2 row a4 1
  state all 0
  state point 1
  input a0: i64
  input a2: [a1]i64
  a6: i64, a7: [a1]i64 = while (a8: i64 = a0, a9: [a1]i64 = a2)
    a10: bool = host
      r0: i64 = read a8
      r1: bool = lt r0 9i64
      yield r1
    yield a10
  do
    a11: i64 = host
      r0: i64 = read a8
      r1: i64 = add r0 1i64
      yield r1
{steps}
    yield a11 a12
  output a6: i64
  output a7: [a1]i64
end
output a7: [a1][a0]i64
"
    );
    row_loop_of(&text)
}

/// The function of the first loop of a plan.
fn row_loop_of(text: &str) -> RowLoop {
    let program = plan::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    plan::check(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let of = |step: &Step| match step {
        Step::While { state, rows: Some(rows), .. } => row_loop(rows, state),
        _ => None,
    };
    program.body.steps.iter().find_map(of).expect("a function")
}

/// Whether the first loop of a plan has a function that needs no memory of its own, and nobody who looks before.
fn runs_in_place(text: &str) -> bool {
    let program = plan::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let of = |step: &Step| match step {
        Step::While { state, rows: Some(rows), .. } => Some(row_loop_in_place(rows, state)),
        _ => None,
    };
    program.body.steps.iter().find_map(of).expect("a loop row by row").is_some()
}

#[test]
fn elements_are_replaced_in_the_rows_of_the_state() {
    let RowLoop { text, inputs, written, has_scratch, .. } = function(
        "    launch \"scatter\" [1] (r0)
      r1: i64 = read a8
      yield r1 r1
      scatter r1 at r1 into a9 to a12: [a1]i64
    end",
    );
    assert!(!has_scratch, "{text}");
    // The extent is all that it reads beside the state, of which it writes all.
    assert_eq!((inputs.len(), written.len()), (1, 2), "{text}");
    assert!(text.contains("for (; point < all->end; point++)"), "{text}");
    assert!(text.contains("all->state[1]) + point * "), "{text}");
    assert!(text.contains("if (point == 0) ((i64 *)all->state[0])[1] = "), "{text}");
}

#[test]
fn arrays_are_computed_in_memory_of_its_own() {
    let RowLoop { text, inputs, has_scratch, .. } = function(
        "    launch \"map\" [a1] (r0)
      r1: i64 = read a9 r0
      r2: i64 = add r1 3i64
      yield r2
      store r2 to a12: [a1]i64
    end",
    );
    assert!(has_scratch, "{text}");
    // The state at hand stays as it is: it is an input too.
    assert_eq!(inputs.len(), 2, "{text}");
    assert!(text.contains("leave:;"), "{text}");
}

#[test]
fn beside_arrays_that_are_computed_others_are_updated_where_they_are() {
    let computed = "    launch \"map\" [3] (r0)
      r1: i64 = read a8
      r2: i64 = add r1 r0
      yield r2
      store r2 to a13: [3]i64
    end
    launch \"scatter\" [3] (r0)
      r1: i64 = read a13 r0
      yield r1 r1
      scatter r1 at r1 into a9 to a12: [a1]i64
    end";
    let RowLoop { text, has_scratch, .. } = function(computed);
    assert!(has_scratch, "{text}");
    // Once in front of the loop: a turn copies nothing, and keeps nothing to put it back.
    assert_eq!(text.matches("TAKE_OWN(").count(), 1, "{text}");
    assert_eq!(text.matches("TAKE(").count(), 1, "{text}");
    let (before, turns) = text.split_once("for (;;) {").expect("a loop");
    assert!(before.contains("TAKE_OWN("), "{text}");
    assert!(!turns.contains("kept") && !turns.contains("KEEP("), "{text}");
    // Of an array that somebody looks at behind that, a turn updates a copy.
    let late = computed.replace(
        "    launch \"scatter\" [3] (r0)
      r1: i64 = read a13 r0
      yield r1 r1
      scatter r1 at r1 into a9 to a12: [a1]i64
    end",
        "    launch \"scatter\" [3] (r0)
      r1: i64 = read a13 r0
      yield r1 r1
      scatter r1 at r1 into a9 to a14: [a1]i64
    end
    launch \"map\" [a1] (r0)
      r1: i64 = read a9 r0
      r2: i64 = read a14 r0
      r3: i64 = add r1 r2
      yield r3
      store r3 to a12: [a1]i64
    end",
    );
    let RowLoop { text, .. } = function(&late);
    assert!(!text.contains("TAKE_OWN("), "{text}");
}

#[test]
fn an_array_that_is_needed_as_it_was_is_copied_before_it_is_updated() {
    // The first update is of an array that the second reads, and the last one of its own.
    let RowLoop { text, has_scratch, .. } = function(
        "    launch \"scatter\" [1] (r0)
      r1: i64 = read a8
      yield r1 r1
      scatter r1 at r1 into a9 to a13: [a1]i64
    end
    launch \"scatter\" [1] (r0)
      r1: i64 = read a8
      r2: i64 = read a9 r1
      yield r1 r2
      scatter r2 at r1 into a13 to a12: [a1]i64
    end
    free a9 a13",
    );
    assert!(has_scratch, "{text}");
    // In front of the loop and before the first update; the second is where the first one was.
    assert_eq!(text.matches("TAKE(").count(), 2, "{text}");
    assert_eq!(text.matches("] = r").count(), 2, "{text}");
}

#[test]
fn an_array_that_a_condition_passes_on_is_copied_before_it_is_updated() {
    // What passes it on has a name that is gone behind the condition.
    for passed_on in [
        "a22: [a1]i64 = if a20\n        yield a9\n      else\n        yield a2",
        "a22: [a1]i64 = reshape a9",
    ] {
        let RowLoop { text, .. } = function(&format!(
            "    a20: bool = host
      r0: i64 = read a8
      r1: bool = lt r0 3i64
      yield r1
    a21: [a1]i64 = if a20
      {passed_on}
      yield a22
    else
      yield a2
    launch \"scatter\" [1] (r0)
      r1: i64 = read a8
      yield r1 r1
      scatter r1 at r1 into a9 to a13: [a1]i64
    end
    free a9
    launch \"scatter\" [1] (r0)
      r1: i64 = read a8
      r2: i64 = read a21 r1
      yield r1 r2
      scatter r2 at r1 into a13 to a12: [a1]i64
    end
    free a13 a21"
        ));
        // In front of the loop and before the first update.
        assert_eq!(text.matches("TAKE(").count(), 2, "{passed_on}\n{text}");
    }
}

/// A loop whose rows grow at each turn, all of them by one.
const GROWING: &str = "input a2: [a1][a0]i64
a5: i64, a6: i64 = host
  r0: i64 = read a0
  yield 0i64 r0
a7: i64, a8: i64, a9: [a1][a8]i64 = while (a3: i64 = a5, a10: i64 = a6, a4: [a1][a10]i64 = a2)
  a11: bool = host
    r0: i64 = read a3
    r1: bool = lt r0 9i64
    yield r1
  yield a11
do
  yield a3 a10 a4
rows a1
  given a0 all a3
  given a1 size a10
  given a2 row a4 1
  state all 0
  state extent 1
  state grown 1
  input a0: i64
  input a2: [a1]i64
  a6: i64, a7: i64, a8: [a7]i64 = while (a9: i64 = a0, a10: i64 = a1, a11: [a10]i64 = a2)
    a12: bool = host
      r0: i64 = read a9
      r1: bool = lt r0 9i64
      yield r1
    yield a12
  do
    a13: i64, a14: i64 = host
      r0: i64 = read a9
      r1: i64 = add r0 1i64
      r2: i64 = read a10
      r3: i64 = add r2 1i64
      yield r1 r3
    launch \"map\" [a14] (r0)
      yield r0
      store r0 to a15: [a14]i64
    end
    yield a13 a14 a15
  output a6: i64
  output a8: [a7]i64
end
output a9: [a1][a8]i64
";

#[test]
fn rows_that_grow_are_written_one_behind_the_other() {
    let RowLoop { text, written, growing, has_scratch, .. } = row_loop_of(GROWING);
    assert!(has_scratch, "{text}");
    assert_eq!((growing, written.len()), (vec![2], 3), "{text}");
    // Only if there is room, and behind what is there; the point where that ends is told.
    for part in [
        "i64 *to2 = (i64 *)all->state[2] + all->extents[1];",
        "if (more2 > ((i64 *)all->ends[2]) - to2) NEED_ROOM;",
        "to2 += more2;",
        "all->extents[0] = point;",
        "all->extents[1] = to2 - (i64 *)all->state[2];",
        "if (point == 0) ((i64 *)all->state[1])[1] = ",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    // There is no function without memory of its own, as a device has.
    assert!(!runs_in_place(GROWING));
}

/// Replaces an element in each row of a matrix of each point.
const MATRICES: &str = "input a7: [a0][~a2 a3][~a5 a6]i64 where a2: [a1]i64, a5: [a4]i64
a8: i64 = host
  yield 0i64
a12: i64, a13: [a6]i64 = while (a10: i64 = a8, a11: [a6]i64 = a7)
  a14: bool = host
    r0: i64 = read a10
    r1: bool = lt r0 9i64
    yield r1
  yield a14
do
  yield a10 a11
rows a0
  given a0 all a10
  given a1 length a2 1
  given a2 width a5 of a2
  given a3 matrix a11 a5 of a2
  state all 0
  state matrix 1 a5 of a2
  input a0: i64
  input a3: [a1][a2]i64
  a14: i64, a15: [a1][a2]i64 = while (a4: i64 = a0, a5: [a1][a2]i64 = a3)
    a6: bool = host
      r0: i64 = read a4
      r1: bool = lt r0 9i64
      yield r1
    yield a6
  do
    a9: i64 = host
      r0: i64 = read a4
      r1: i64 = add r0 1i64
      yield r1
    launch \"scatter\" [1] (r0)
      r1: i64 = read a4
      yield r1
      scatter r1 at r1 0i64 into a5 to a10: [a1][a2]i64
    end
    free a5
    yield a9 a10
  output a14: i64
  output a15: [a1][a2]i64
end
output a13: [a0][~a2 a3][~a5 a6]i64
";

#[test]
fn an_element_of_a_matrix_is_found_by_its_indices() {
    let RowLoop { text, written, has_scratch, .. } = row_loop_of(MATRICES);
    assert!(written.contains(&1) && !has_scratch, "{text}");
    // Its first row begins where the descriptor of the points says, and is as long as all others; there may be none.
    for part in [
        "in0[point + 1] > in0[point] ? in1[in0[point] + 1] - in1[in0[point]] : 0;",
        "+ in1[in0[point]]",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    // On a device nobody looks whether its rows are as long as each other.
    assert!(!runs_in_place(MATRICES));
}
