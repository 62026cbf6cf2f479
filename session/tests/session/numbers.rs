//! Numbers as texts and back: what the prelude promises, held against Rust's own.

use weft_ir::{Column, Value};

use crate::transcript::Transcript;

/// Numbers that look arbitrary, the same each time.
struct Choices(u64);

impl Choices {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % below
    }

    /// A decimal number with that many digits at most, and an exponent up to `exponent` either way.
    fn decimal(&mut self, digits: u64, exponent: u64) -> String {
        let count = 1 + self.next(digits);
        let mut text = ["", "-", "+"][self.next(3) as usize].to_owned();
        let point = self.next(count + 2);
        for place in 0..count {
            if place == point {
                text.push('.');
            }
            text.push((b'0' + self.next(10) as u8) as char);
        }
        if self.next(3) > 0 {
            let sign = ["", "-", "+"][self.next(3) as usize];
            text +=
                &format!("{}{sign}{}", ["e", "E"][self.next(2) as usize], self.next(exponent + 1));
        }
        text
    }
}

/// The column of numbers that an expression about `texts` is.
fn numbers(texts: &[String], expression: &str) -> Column {
    let mut session = Transcript::new();
    session.session.bind_texts("texts", texts);
    session.eval(&format!("numbers = {expression}"));
    match session.session.value("numbers") {
        Some((Value::Array(array), _)) => array.elements.clone(),
        other => panic!("{expression}: {other:?}\n{}", session.last_report()),
    }
}

fn floats(texts: &[String]) -> Vec<f64> {
    match numbers(texts, "parseFloat texts") {
        Column::F64(values) => values.as_slice().to_vec(),
        other => panic!("{other:?}"),
    }
}

/// The texts that an expression about `values` is.
#[track_caller]
fn check_texts(values: &str, expression: &str, expect: &[String]) {
    let mut session = Transcript::new();
    session.eval(&format!("values = {values}"));
    let expect: Vec<String> = expect.iter().map(|text| format!("{text:?}")).collect();
    session.eval(&format!(
        "differs = map (\\(a, b) -> !same a b) (zip ({expression}) [{}])",
        expect.join(", ")
    ));
    session
        .check("{ v : v in values ; d in differs | d }", &format!("[0]{} []", values_type(values)));
}

fn values_type(values: &str) -> &'static str {
    if values.contains('.') { "f64" } else { "i64" }
}

#[test]
fn few_digits_are_read_as_the_nearest_float() {
    let mut choices = Choices(1);
    // 15 digits, of which some may stand behind the point: the exponent of the whole is -22 to 22.
    let texts: Vec<String> = (0..5000).map(|_| choices.decimal(15, 7)).collect();
    for (text, found) in texts.iter().zip(floats(&texts)) {
        let expected: f64 = text.parse().expect("a number");
        assert!(found.to_bits() == expected.to_bits(), "{text}: {found:?}, not {expected:?}");
    }
}

#[test]
fn all_numbers_are_read_as_a_float_next_to_them() {
    let mut choices = Choices(2);
    let mut texts: Vec<String> = (0..5000).map(|_| choices.decimal(30, 340)).collect();
    for text in
        ["1.7976931348623157e308", "1.8e308", "4.9e-324", "2e-324", "2.2250738585072014e-308"]
    {
        texts.push(text.to_owned());
    }
    let mut exact = 0;
    for (text, found) in texts.iter().zip(floats(&texts)) {
        let expected: f64 = text.parse().expect("a number");
        let apart = found.to_bits().abs_diff(expected.to_bits());
        assert!(apart <= 1, "{text}: {found:?}, not {expected:?}");
        exact += usize::from(apart == 0);
    }
    assert!(exact * 100 > texts.len() * 98, "{exact} of {}", texts.len());
}

#[test]
fn what_is_no_number_is_none() {
    let texts = [
        "",
        " ",
        "n/a",
        "-",
        "+",
        ".",
        "e5",
        "1e",
        "1e+",
        "1.2.3",
        "1 2",
        "--1",
        "1-",
        "0x10",
        "1,5",
        "1_000",
        "infx",
        "in",
        "infinityinfinity",
        "inf inf",
        "nan",
        "١",
    ];
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    for (text, found) in texts.iter().zip(floats(&texts)) {
        assert!(found.is_nan(), "{text:?}: {found:?}");
    }
}

#[test]
fn spaces_and_words() {
    let texts = ["5.", ".5", " \t-1.5\r\n", "inf", "-Infinity ", "+INF", "-0", "00012.50", "1E2"];
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    let expected =
        [5.0, 0.5, -1.5, f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY, -0.0, 12.5, 100.0];
    for ((text, found), expected) in texts.iter().zip(floats(&texts)).zip(expected) {
        assert!(found.to_bits() == f64::to_bits(expected), "{text:?}: {found:?}");
    }
}

#[test]
fn integers() {
    let mut choices = Choices(3);
    let mut texts: Vec<String> = (0..2000).map(|_| choices.decimal(20, 3)).collect();
    for text in [i64::MAX.to_string(), i64::MIN.to_string(), "9223372036854775808".to_owned()] {
        texts.push(text.clone());
        texts.push(format!("-{}", text.trim_start_matches('-')));
        texts.push(format!("{text}0"));
    }
    for text in ["", "-", "+", "+7", " 12 ", "1 2", "1.0", "--1", "-9223372036854775809"] {
        texts.push(text.to_owned());
    }
    let Column::I64(found) = numbers(&texts, "parseInt 77 texts") else { panic!("no integers") };
    for (text, found) in texts.iter().zip(found.as_slice()) {
        assert_eq!(*found, text.trim().parse().unwrap_or(77), "{text:?}");
    }
}

#[test]
fn integers_as_texts() {
    let mut values: Vec<i64> = vec![0, 9, 10, -1, -10, 99, 100, i64::MAX, i64::MIN + 1];
    let mut choices = Choices(4);
    values.extend((0..200).map(|shift| ((choices.next(1 << 30) as i64) << (shift % 32)) - 1000));
    let texts: Vec<String> = values.iter().map(i64::to_string).collect();
    check_texts(&format!("[{}]", texts.join(", ")), "showInt values", &texts);
    let least = [i64::MIN.to_string()];
    check_texts("[-9223372036854775807 - 1]", "showInt values", &least);
}

#[test]
fn decimals_as_texts() {
    let mut choices = Choices(5);
    let mut values =
        vec![0.5, 1.5, 2.5, 0.125, 0.375, 0.285, 1.005, 99.995, 0.1, -0.001, 1e15, 9e18];
    values.extend((0..300).map(|place| {
        let value = choices.next(1 << 31) as f64 - 1e9;
        value / 10_f64.powi(place % 12) + 1e-7
    }));
    let source: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
    let source = format!("[{}]", source.join(", "));
    for digits in [0, 1, 2, 7, 15] {
        let texts: Vec<String> = values.iter().map(|value| format!("{value:.digits$}")).collect();
        check_texts(&source, &format!("showFixed {digits} values"), &texts);
    }
    let mut session = Transcript::new();
    session.check("showFixed 1 [nan, inf, -inf]", "[3][~]char [\"nan\", \"inf\", \"-inf\"]");
    session.check("showFixed 16 1.0", "E0612");
    session.check("showFixed (-1) 1.0", "E0612");
    session.check("showFixed 2 1e19", "E0612");
}
