//! Examples of how values print.

use std::num::NonZeroU8;
use std::sync::Arc;

use weft_ir::{Array, Column, Name, Scalar, ScalarType, Type, Value};

use super::{Options, bound_type, discovered_type, html, latex, left_out, literal, text};
use crate::sink::Cancel;

const I64: Type = Type::Scalar(ScalarType::I64);
const F64: Type = Type::Scalar(ScalarType::F64);

fn ints(values: &[i64]) -> Column {
    Column::I64(values.to_vec().into())
}

fn floats(values: &[f64]) -> Column {
    Column::F64(values.to_vec().into())
}

fn array(elements: Column) -> Value {
    Value::Array(Arc::new(Array::new(elements)))
}

fn record(fields: &[(&str, Type)]) -> Type {
    Type::Record(fields.iter().map(|(name, ty)| (Name::from(*name), ty.clone())).collect())
}

fn dense(extent: usize, inner: Column) -> Column {
    Column::Dense { len: inner.len() / extent, extent, inner: Box::new(inner) }
}

fn texts(texts: &[&str]) -> Column {
    let lengths: Vec<usize> = texts.iter().map(|text| text.len()).collect();
    Column::from_lengths(&lengths, Column::Char(texts.concat().into_bytes().into()))
}

fn text_type() -> Type {
    Type::array(Type::Scalar(ScalarType::Char))
}

fn written(value: &Value, ty: &Type, options: &Options) -> String {
    text(value, ty, options, &Cancel::new()).expect("nobody cancels it")
}

fn statistics(value: &Value, ty: &Type, digits: super::Digits) -> Option<String> {
    super::statistics(value, ty, digits, &Cancel::new())
}

#[track_caller]
fn check(value: &Value, ty: &Type, expect: &str) {
    assert_eq!(written(value, ty, &Options::new(60)), expect.trim_matches('\n'));
}

#[test]
fn a_short_array_stands_beside_its_type() {
    check(&array(ints(&[1, 2, 3])), &Type::array(I64), "[3]i64 [1, 2, 3]");
    check(&array(ints(&[])), &Type::array(I64), "[0]i64 []");
    check(&array(floats(&[1.0, f64::NAN])), &Type::array(F64), "[2]f64 [1.0, nan]");
}

#[test]
fn short_arrays_in_a_tuple_are_whole() {
    let values = [0.123456789012345, 0.223456789012345, 0.323456789012345, 0.423456789012345];
    let ty = Type::Tuple([Type::array(F64), I64].into());
    let value = Value::Tuple([array(floats(&values)), Value::Scalar(Scalar::I64(1))].into());
    check(
        &value,
        &ty,
        "([4]f64, i64)\n.0 = [4]f64\n  [0.123456789012345, 0.223456789012345, 0.323456789012345,\n   \
         0.423456789012345]\n.1 = 1",
    );
    let long = values.repeat(10);
    let value = Value::Tuple([array(floats(&long)), Value::Scalar(Scalar::I64(1))].into());
    check(
        &value,
        &ty,
        "([40]f64, i64)\n.0 = [40]f64 [0.123456789012345, …, 0.423456789012345]\n.1 = 1",
    );
}

#[test]
fn of_many_columns_some_are_shown() {
    let names: Vec<String> = (0..30).map(|index| format!("day{index}")).collect();
    let fields: Vec<(&str, Type)> = names.iter().map(|name| (&**name, Type::array(I64))).collect();
    let ty = record(&fields);
    let value = Value::Tuple((0..30).map(|index| array(ints(&[index, 100]))).collect());
    check(
        &value,
        &ty,
        "
{day0: [2]i64, day1: [2]i64, day2: [2]i64, … 27 more}
 day0  day1  day2  day3  …  day26  day27  day28  day29
──────────────────────────────────────────────────────
    0     1     2     3  …     26     27     28     29
  100   100   100   100  …    100    100    100    100
22 of 30 columns are left out; `:type it` names them
",
    );
    let bound = bound_type("days", &value, &ty, 30);
    let expect = "{day0: [2]i64, day1: [2]i64, day2: [2]i64, day3: [2]i64, day4: [2]i64, … 25 more} (`:type days` shows all)";
    assert_eq!(bound, expect);
    assert_eq!(bound_type("one", &array(ints(&[1])), &Type::array(I64), 30), "[1]i64");
}

#[test]
fn texts_in_tables_are_as_they_are() {
    let ty = record(&[("says", Type::array(text_type()))]);
    let value = Value::Tuple([array(texts(&["say \"hi\"", "C:\\a\n"]))].into());
    check(
        &value,
        &ty,
        "
{says: [2][~]char}
 says
─────────
 say \"hi\"
 C:\\a\\n
",
    );
}

#[test]
fn a_long_array_shows_its_ends() {
    let data: Vec<f32> = (0..1_000_000).map(|i| i as f32 / 10.0).collect();
    check(
        &array(Column::F32(data.into())),
        &Type::array(Type::Scalar(ScalarType::F32)),
        "[1000000]f32 [0.0, 0.1, 0.2, …, 99999.8, 99999.9]",
    );
}

#[test]
fn a_list_too_long_for_a_line_is_broken_into_aligned_ones() {
    let data: Vec<i64> = (90..120).collect();
    check(
        &array(ints(&data)),
        &Type::array(I64),
        "
[30]i64
[ 90,  91,  92,  93,  94,  95,  96,  97,  98,  99, 100,
 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111,
 112, 113, 114, 115, 116, 117, 118, 119]",
    );
}

#[test]
fn a_matrix_is_a_table_with_aligned_points() {
    let ty = Type::array(Type::array(F64));
    check(
        &array(dense(2, floats(&[1.0, 20.25, -300.5, 4.0]))),
        &ty,
        "
[2][2]f64
    1.0  20.25
 -300.5   4.0",
    );
    let large: Vec<f64> = (0..1_000_000).map(f64::from).collect();
    check(
        &array(dense(1000, floats(&large))),
        &ty,
        "
[1000][1000]f64
      0.0       1.0       2.0  …     998.0     999.0
   1000.0    1001.0    1002.0  …    1998.0    1999.0
   2000.0    2001.0    2002.0  …    2998.0    2999.0
   3000.0    3001.0    3002.0  …    3998.0    3999.0
   4000.0    4001.0    4002.0  …    4998.0    4999.0
   5000.0    5001.0    5002.0  …    5998.0    5999.0
        …         …         …  …         …         …
 994000.0  994001.0  994002.0  …  994998.0  994999.0
 995000.0  995001.0  995002.0  …  995998.0  995999.0
 996000.0  996001.0  996002.0  …  996998.0  996999.0
 997000.0  997001.0  997002.0  …  997998.0  997999.0
 998000.0  998001.0  998002.0  …  998998.0  998999.0
 999000.0  999001.0  999002.0  …  999998.0  999999.0",
    );
}

#[test]
fn ragged_arrays_show_the_tilde() {
    let ty = Type::array(Type::array(I64));
    let small = Column::from_lengths(&[2, 0, 1], ints(&[1, 2, 3]));
    check(&array(small), &ty, "[3][~]i64 [[1, 2], [], [3]]");
    let data: Vec<i64> = (0..200).collect();
    let large = Column::from_lengths(&[4, 190, 6], ints(&data));
    check(
        &array(large),
        &ty,
        "
[3][~]i64
[0, 1, 2, 3]
[4, 5, 6, …, 192, 193]
[194, 195, 196, 197, 198, 199]",
    );
}

#[test]
fn empty_axes_keep_their_extents() {
    let ty = Type::array(Type::array(F64));
    let none = Column::Dense { len: 0, extent: 3, inner: Box::new(floats(&[])) };
    check(&array(none), &ty, "[0][3]f64 []");
    let zero = Column::Dense { len: 3, extent: 0, inner: Box::new(floats(&[])) };
    check(&array(zero), &ty, "[3][0]f64 [[], [], []]");
}

#[test]
fn higher_ranks_print_matrix_by_matrix() {
    let data: Vec<i64> = (0..8).collect();
    let cube = dense(2, dense(2, ints(&data)));
    let ty = Type::array(Type::array(Type::array(I64)));
    check(
        &array(cube),
        &ty,
        "
[2][2][2]i64
[0]
 0  1
 2  3
[1]
 4  5
 6  7",
    );
    let data: Vec<i64> = (0..60).collect();
    let tesseract = dense(5, dense(3, dense(2, ints(&data))));
    let ty = Type::array(ty);
    let shown = written(&array(tesseract), &ty, &Options::new(60));
    assert_eq!(shown.lines().next(), Some("[2][5][3][2]i64"));
    assert!(shown.contains("\n[0, 0]\n 0  1\n 2  3\n 4  5\n…\n[0, 4]\n"), "{shown}");
}

#[test]
fn tuples_and_records_print_as_their_literals() {
    let pair =
        Value::Tuple([Value::Scalar(Scalar::I64(1)), Value::Scalar(Scalar::F64(2.0))].into());
    check(&pair, &Type::Tuple([I64, F64].into()), "(1, 2.0)");
    check(&pair, &record(&[("x", I64), ("y", F64)]), "{x = 1, y = 2.0}");
    check(&Value::Tuple([].into()), &Type::Tuple([].into()), "()");
    let nested = Value::Tuple([array(ints(&[1, 2])), Value::Scalar(Scalar::F64(2.0))].into());
    let ty = Type::Tuple([Type::array(I64), F64].into());
    check(&nested, &ty, "([2]i64, f64) ([1, 2], 2.0)");
}

#[test]
fn a_wide_record_prints_a_line_a_field() {
    let data: Vec<i64> = (0..1000).collect();
    let value = Value::Tuple(
        [Value::Scalar(Scalar::I64(3)), array(ints(&data)), Value::text("a name")].into(),
    );
    let ty = record(&[("rows", I64), ("colIndex", Type::array(I64)), ("name", text_type())]);
    check(
        &value,
        &ty,
        "
{rows: i64, colIndex: [1000]i64, name: [6]char}
rows     = 3
colIndex = [1000]i64 [0, 1, 2, …, 998, 999]
name     = \"a name\"",
    );
}

#[test]
fn arrays_of_records_and_records_of_columns_are_tables() {
    let names = texts(&["setosa", "a\nb"]);
    let sizes = floats(&[1.5, 10.25]);
    let rows = Column::Tuple { len: 2, parts: vec![names.clone(), sizes.clone()] };
    let ty = record(&[("name", text_type()), ("size", F64)]);
    let table = "
 name     size
──────────────
 setosa   1.5
 a\\nb    10.25";
    check(&array(rows), &Type::array(ty), &format!("[2]{{name: [~]char, size: f64}}{table}"));
    check(
        &Value::Tuple([array(names), array(sizes)].into()),
        &record(&[("name", Type::array(text_type())), ("size", Type::array(F64))]),
        &format!("{{name: [2][~]char, size: [2]f64}}{table}"),
    );
    let pairs = Column::Tuple { len: 2, parts: vec![ints(&[1, 2]), ints(&[30, 4])] };
    check(
        &array(pairs),
        &Type::array(Type::Tuple([I64, I64].into())),
        "
[2](i64, i64)
 .0  .1
───────
  1  30
  2   4",
    );
}

#[test]
fn text_prints_as_text() {
    check(&Value::text("two\nlines"), &text_type(), "two\nlines");
    let list = Type::array(text_type());
    check(&array(texts(&["a", "bc"])), &list, "[2][~]char [\"a\", \"bc\"]");
    let long = "word ".repeat(40);
    check(
        &array(texts(&["short", &long])),
        &list,
        "
[2][~]char
\"short\"
\"word word word word word word word word word word word wor…",
    );
}

#[test]
fn a_long_text_is_elided_between_characters() {
    let long = "é".repeat(100_000);
    let shown = written(&Value::text(&long), &text_type(), &Options::new(60));
    assert!(shown.contains("\n… 180000 bytes …\n"), "{}", shown.len());
    assert!(!shown.contains("\\x"), "cut within a character");
}

#[test]
fn columns_that_do_not_fit_are_left_out_of_the_middle() {
    let fields: Vec<(String, Type)> = (0..30).map(|i| (format!("column{i}"), I64)).collect();
    let ty = Type::Record(fields.iter().map(|(n, t)| (Name::from(&**n), t.clone())).collect());
    let rows = Column::Tuple { len: 1, parts: (0..30).map(|i| ints(&[i])).collect() };
    let shown = written(&array(rows), &Type::array(ty), &Options::new(60));
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[1], " column0  column1  column2  …  column27  column28  column29");
    assert!(lines.iter().all(|line| line.chars().count() <= 60), "{shown}");
}

#[test]
fn literals_read_back() {
    let ragged = array(Column::from_lengths(&[2, 1], ints(&[1, 2, 3])));
    assert_eq!(literal(&ragged, &Type::array(Type::array(I64))), "[[1, 2], [3]]");
    let value = Value::Tuple([Value::text("a\"b"), Value::Scalar(Scalar::Bool(true))].into());
    let ty = record(&[("name", text_type()), ("ok", Type::Scalar(ScalarType::Bool))]);
    assert_eq!(literal(&value, &ty), "{name = \"a\\\"b\", ok = true}");
    assert_eq!(literal(&array(texts(&["", "x"])), &Type::array(text_type())), "[\"\", \"x\"]");
}

#[test]
fn statistics_of_numbers() {
    let ty = Type::array(Type::array(F64));
    let ragged = array(Column::from_lengths(&[1, 2], floats(&[1.0, f64::NAN, 2.0])));
    assert_eq!(
        statistics(&ragged, &ty, None).as_deref(),
        Some("min 1.0, max 2.0, mean 1.5, nan 1")
    );
    let ints = array(ints(&[3, -1, 1]));
    assert_eq!(
        statistics(&ints, &Type::array(I64), None).as_deref(),
        Some("min -1, max 3, mean 1.0")
    );
    let of = |numbers: &[i64]| statistics(&array(self::ints(numbers)), &Type::array(I64), None);
    // A mean is between the least and the greatest number, and a half is shown.
    assert_eq!(of(&[0, 9_999_999]).as_deref(), Some("min 0, max 9999999, mean 4999999.5"));
    assert_eq!(
        of(&[9_007_199_254_740_993; 2]).as_deref(),
        Some("min 9007199254740993, max 9007199254740993, mean ≈ 9007200000000000.0")
    );
    let of = |numbers: &[f64]| statistics(&array(floats(numbers)), &Type::array(F64), None);
    assert_eq!(
        of(&[1_234_567.891, 1_234_710.605]).as_deref(),
        Some("min 1234567.891, max 1234710.605, mean 1234639.248, nan 0")
    );
    assert_eq!(
        of(&[0.123_456_789]).as_deref(),
        Some("min 0.123456789, max 0.123456789, mean 0.123456789, nan 0")
    );
    assert_eq!(of(&[1.0, 2.0, 2.0]).as_deref(), Some("min 1.0, max 2.0, mean 1.66667, nan 0"));
    assert_eq!(statistics(&Value::text("text"), &text_type(), None), None);
    let third = array(floats(&[1.0 / 3.0, 2.0 / 3.0]));
    let three = statistics(&third, &Type::array(F64), NonZeroU8::new(3));
    assert_eq!(three.as_deref(), Some("min 0.333, max 0.667, mean 0.5, nan 0"));
    assert_eq!(discovered_type(&ragged, &ty), "[2][~]f64");
}

#[test]
fn floats_are_shown_with_the_digits_that_are_asked_for() {
    let options = Options { digits: NonZeroU8::new(3), ..Options::new(40) };
    let third = array(floats(&[1.0 / 3.0, 1234.5]));
    let ty = Type::array(F64);
    assert_eq!(written(&third, &ty, &options), "[2]f64 [0.333, 1230.0]");
    let rows = array(dense(2, floats(&[1.0 / 3.0, 1234.5])));
    let matrix = written(&rows, &Type::array(ty.clone()), &options);
    assert!(matrix.contains("0.333") && matrix.contains("1230.0"), "{matrix}");
    let html = html(&rows, &Type::array(ty.clone()), &options, 10_000).expect("a table");
    assert!(html.contains(">0.333<") && html.contains(">1230.0<"), "{html}");
    let formula = latex(&third, &ty, options.digits).expect("a formula");
    assert!(formula.contains("0.333 & 1230.0"), "{formula}");
    // What is saved, and what the suite compares, has all of them.
    assert_eq!(literal(&third, &ty), "[0.3333333333333333, 1234.5]");
}

#[test]
fn tables_say_how_to_see_the_columns_that_are_left_out() {
    let options = Options { max_columns: 4, ..Options::new(80) };
    let matrix = array(dense(9, floats(&[0.5; 9])));
    let html = html(&matrix, &Type::array(Type::array(F64)), &options, 10_000).expect("a table");
    assert!(
        html.contains(">4 of 9 columns; <code>:set columns 9</code> shows all of them<"),
        "{html}"
    );
}

#[test]
fn tables_have_as_many_rows_and_columns_as_there_is_room_for() {
    let all = Options { max_rows: 1 << 30, max_columns: 1000, ..Options::new(80) };
    let rows = |count: i64| {
        let column = || array(ints(&(0..count).collect::<Vec<_>>()));
        let value = Value::Tuple(vec![column(), column()].into());
        let ty = record(&[("a", Type::array(I64)), ("b", Type::array(I64))]);
        html(&value, &ty, &all, 10_000).expect("a table")
    };
    // More data never shows less, and another row would not fit.
    for count in [130, 200, 1000] {
        let table = rows(count);
        assert!((9_800..=10_000).contains(&table.len()), "{count}: {}", table.len());
        assert!(table.contains(" rows; a table takes at most 10kB here<"), "{table}");
    }
    let wide = array(dense(1000, ints(&(0..30_000).collect::<Vec<_>>())));
    let wide = html(&wide, &Type::array(Type::array(I64)), &all, 50_000).expect("a table");
    assert!(wide.len() <= 50_000 && wide.matches("<tr>").count() >= 20, "{}", wide.len());
    assert!(wide.contains(" of 1000 columns; a table takes at most 50kB here<"), "{wide}");
}

#[test]
fn blanks_of_texts_stay_in_notebooks() {
    let columns = record(&[("x", Type::array(text_type()))]);
    let Value::Array(letters) = Value::text("a ba  b c") else { panic!("a text is an array") };
    let texts = Column::from_lengths(&[3, 4, 2], letters.elements.clone());
    let value = Value::Tuple(vec![array(texts)].into());
    let html = html(&value, &columns, &Options::new(80), 10_000).expect("a table");
    assert_eq!(html.matches("; white-space: pre\">").count(), 2, "{html}");
}

#[test]
fn points_of_numbers_stand_below_each_other_in_notebooks() {
    let columns = record(&[("x", Type::array(F64))]);
    let value = Value::Tuple(vec![array(floats(&[1.25, 10.5, f64::NAN]))].into());
    let html = html(&value, &columns, &Options::new(80), 10_000).expect("a table");
    assert!(html.contains("<table class=\"weft tex2jax_ignore mathjax_ignore\""), "{html}");
    for cell in [">1.25<", ">10.5\u{2007}<", ">nan\u{2008}\u{2007}\u{2007}<"] {
        assert!(html.contains(cell), "{html}");
    }
}

/// Values of every layout that takes long where there is much of it.
fn large() -> Vec<(Value, Type)> {
    let row = || Type::array(I64);
    let many: Vec<i64> = (0..200_000).collect();
    let texts: Vec<&str> = vec!["a text"; 200_000];
    let pairs = Column::Tuple { len: many.len(), parts: [ints(&many), ints(&many)].into() };
    let ragged: Vec<usize> = (0..600).collect();
    let uneven = Column::from_lengths(&ragged, ints(&many[..ragged.iter().sum()]));
    let columns = Value::Tuple([array(ints(&many)), array(floats(&[0.5; 200_000]))].into());
    vec![
        (array(ints(&many)), row()),
        (array(dense(400, ints(&many))), Type::array(row())),
        (array(dense(20, dense(20, ints(&many)))), Type::array(Type::array(row()))),
        (array(uneven), Type::array(row())),
        (array(self::texts(&texts)), Type::array(text_type())),
        (Value::text(&"long … ".repeat(100_000)), text_type()),
        (array(pairs), Type::array(Type::Tuple([I64, I64].into()))),
        (columns, record(&[("a", row()), ("b", Type::array(F64))])),
    ]
}

#[test]
fn what_is_large_can_be_cancelled() {
    let everything = Options { max_elements: 1 << 30, max_rows: 1 << 30, ..Options::new(60) };
    let everything = Options { max_text: 1 << 30, max_columns: 1000, ..everything };
    let (calm, cancelled) = (Cancel::new(), Cancel::new());
    cancelled.cancel();
    for (value, ty) in large() {
        assert_eq!(text(&value, &ty, &everything, &cancelled), None, "{ty}");
        let shown = text(&value, &ty, &everything, &calm).expect("nobody cancels it");
        assert!(shown.len() > 1000, "{ty}");
        assert_eq!(super::statistics(&value, &ty, None, &cancelled), None);
        let remark = left_out(&shown, &value, &calm);
        assert_eq!(remark.is_some(), shown.contains('…') && ty != text_type(), "{ty}");
    }
}

#[test]
fn only_the_columns_that_fit_are_written() {
    let options = Options { max_columns: 1 << 20, max_rows: 4, ..Options::new(24) };
    let (columns, asked) = (1_000_000_usize, std::cell::Cell::new(0));
    let numbers: Vec<i64> = (0..2 * columns as i64).collect();
    let value = array(dense(columns, ints(&numbers)));
    let shown = written(&value, &Type::array(Type::array(I64)), &options);
    assert_eq!(shown, "[2][1000000]i64\n       0  …   999999\n 1000000  …  1999999",);
    let strip = |_: usize| {
        asked.set(asked.get() + 1);
        Some(super::table::Strip::new(None, vec![Some("12".to_owned())], &I64))
    };
    let positions: Vec<Option<usize>> = (0..columns).map(Some).collect();
    super::table::draw(&positions, &strip, &options, &Cancel::new()).expect("nobody cancels it");
    assert!(asked.get() < 10, "{}", asked.get());
}

#[test]
fn columns_of_many_rows_line_up_from_the_first_to_the_last() {
    let count = 2500_i64;
    let names = |at: i64| if at % 1000 == 7 { "a long name" } else { "no" };
    let numbers: Vec<i64> =
        (0..count).map(|at| if at < 1500 { at } else { at * 1_000_000 }).collect();
    let texts: Vec<String> = (0..count).map(|at| names(at).to_owned()).collect();
    let strip = |position: usize| {
        let (cells, ty): (Vec<Option<String>>, _) = match position {
            0 => (numbers.iter().map(|number| Some(number.to_string())).collect(), I64),
            _ => (texts.iter().cloned().map(Some).collect(), text_type()),
        };
        Some(super::table::Strip::new(Some(["n", "name"][position].to_owned()), cells, &ty))
    };
    let options = Options::new(80);
    let drawn = super::table::draw(&[Some(0), Some(1)], &strip, &options, &Cancel::new());
    let (text, columns) = drawn.expect("nobody cancels it");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((columns, lines.len()), (2, 2502));
    assert_eq!(lines[0], "          n  name");
    assert_eq!(lines[1], "─".repeat(24));
    for (at, line) in lines[2..].iter().enumerate() {
        assert_eq!(*line, format!(" {:>10}  {}", numbers[at], names(at as i64)), "{at}");
    }
}
