//! Floats as integers: of all types, and as indices that are checked.

use std::fmt::Write;

use weft_cpu::{Native, Tier};
use weft_ir::{Column, Stop, Value};

use crate::{array, config, noise, same, try_run};

const INTEGERS: [&str; 8] = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"];

/// Floats at which conversions do something special, as `f64`.
fn special() -> Vec<f64> {
    let mut all = vec![0.0, -0.0, 0.5, -0.5, 1.5, -1.5, f64::NAN, -f64::NAN, 1e300, -1e300];
    for bits in [7, 8, 15, 16, 31, 32, 33, 63, 64] {
        let power = 2_f64.powi(bits);
        for near in [power, power - 1.0, power - 0.5, power + 1.0, power + 7.0, power + 2048.0] {
            all.extend([near, -near]);
        }
    }
    all.extend([f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE, 4.9e9, -4.9e9]);
    all
}

/// The special floats, then any bits.
fn floats(single: bool) -> Value {
    let any = noise(2000).map(|bits| bits.rotate_left(11));
    array(match single {
        true => {
            let special = special().into_iter().map(|value| value as f32);
            let any = any.map(|bits| f32::from_bits(bits as u32));
            Column::F32(special.chain(any).collect::<Vec<f32>>().into())
        }
        false => {
            let any = any.map(f64::from_bits);
            Column::F64(special().into_iter().chain(any).collect::<Vec<f64>>().into())
        }
    })
}

#[test]
fn floats_of_all_kinds_become_integers_of_all_types() {
    let native = Native::new(config(None));
    for float in ["f32", "f64"] {
        let mut text = format!(
            "input a1: [a0]{float}\nlaunch \"map\" [a0] (r0)\n  r1: {float} = read a1 r0\n"
        );
        for (integer, at) in INTEGERS.iter().zip(2..) {
            writeln!(text, "  r{at}: {integer} = cast_{integer} r1").expect("a string takes all");
        }
        text += "  yield r2 r3 r4 r5 r6 r7 r8 r9\n";
        for (integer, at) in INTEGERS.iter().zip(2..) {
            writeln!(text, "  store r{at} to a{at}: [a0]{integer}").expect("a string takes all");
        }
        text += "end\n";
        for (integer, at) in INTEGERS.iter().zip(2..) {
            writeln!(text, "output a{at}: [a0]{integer}").expect("a string takes all");
        }
        let inputs = [floats(float == "f32")];
        let expected = try_run(&text, &inputs, 1, None).expect("a value");
        let found = try_run(&text, &inputs, 1, Some((&native, Tier::Native))).expect("a value");
        assert!(same(&expected, &found), "{expected:?}\n{found:?}");
    }
    assert!(native.statistics().compiled > 0);
}

#[test]
fn an_index_made_of_a_float_is_checked_as_the_number_that_it_is() {
    let native = Native::new(config(None));
    for float in ["f32", "f64"] {
        let text = format!(
            "input a1: [a0]{float}
launch \"map\" [a0] (r0)
  r1: {float} = read a1 r0
  r2: i64 = cast_i64 r1
  r3: bool = ge r2 0i64
  r4: bool = lt r2 256i64
  r5: bool = and r3 r4
  check r5 index
  r6: i64 = add r2 1i64
  yield r6
  store r6 to a2: [a0]i64
end
output a2: [a0]i64
"
        );
        let mut failed = 0;
        for value in special() {
            for place in [0, 5, 69] {
                let mut values: Vec<f64> = (0..70).map(f64::from).collect();
                values[place] = value;
                let input = match float {
                    "f32" => {
                        let values = values.iter().map(|&value| value as f32);
                        array(Column::F32(values.collect::<Vec<f32>>().into()))
                    }
                    _ => array(Column::F64(values.into())),
                };
                let inputs = [input];
                let of = |tier| try_run(&text, &inputs, 1, tier);
                match (of(None), of(Some((&native, Tier::Native)))) {
                    (Ok(expected), Ok(found)) => assert!(same(&expected, &found), "{value}"),
                    (Err(Stop::Fault(a)), Err(Stop::Fault(b))) => {
                        assert_eq!(a, b);
                        failed += 1;
                    }
                    (expected, found) => panic!("{value}: {expected:?}\n{found:?}"),
                }
            }
        }
        assert!(failed > 100 && failed < 3 * special().len(), "{failed} fail");
    }
}

/// What a kernel computes of the integers that rounded floats are: divisions, and floats again.
#[test]
fn what_is_made_of_such_an_integer_is_made_of_that() {
    let native = Native::new(config(None));
    for float in ["f32", "f64"] {
        for integer in INTEGERS {
            let mut code = format!("  r1: {float} = read a1 r0\n");
            let (mut values, mut next) = (Vec::new(), 10);
            let mut push = |ty: &str, operation: &str, code: &mut String| {
                next += 1;
                writeln!(code, "  r{next}: {ty} = {operation}").expect("a string takes all");
                next
            };
            for rounded in ["", "floor", "round", "trunc"] {
                let float_of = match rounded {
                    "" => 1,
                    rounded => push(float, &format!("{rounded} r1"), &mut code),
                };
                let cast = push(integer, &format!("cast_{integer} r{float_of}"), &mut code);
                for by in [3, 10] {
                    for op in ["floor_div", "mod", "quot", "rem"] {
                        let division = format!("{op} r{cast} {by}{integer}");
                        values.push((push(integer, &division, &mut code), integer));
                    }
                }
                for back in ["f32", "f64"] {
                    let number = push(back, &format!("cast_{back} r{cast}"), &mut code);
                    let half = push(back, &format!("mul r{number} 0.5{back}"), &mut code);
                    values.push((half, back));
                    if back == float {
                        values.push((push(back, &format!("sub r1 r{number}"), &mut code), back));
                    }
                }
            }
            let mut text =
                format!("input a1: [a0]{float}\nlaunch \"map\" [a0] (r0)\n{code}  yield");
            values.iter().for_each(|(value, _)| text += &format!(" r{value}"));
            text += "\n";
            for (value, ty) in &values {
                text += &format!("  store r{value} to a{value}: [a0]{ty}\n");
            }
            text += "end\n";
            for (value, ty) in &values {
                text += &format!("output a{value}: [a0]{ty}\n");
            }
            let inputs = [floats(float == "f32")];
            let expected = try_run(&text, &inputs, 1, None).expect("a value");
            let found = try_run(&text, &inputs, 1, Some((&native, Tier::Native))).expect("a value");
            for ((expected, found), (value, _)) in expected.iter().zip(&found).zip(&values) {
                assert!(
                    expected.same_bits(found),
                    "{}",
                    differing(*value, &code, [expected, found])
                );
            }
        }
    }
    let statistics = native.statistics();
    assert!(statistics.compiled > 0 && statistics.failed == 0, "{statistics:?}");
}

/// The code of a value, and the first elements that differ.
fn differing(value: u32, code: &str, arrays: [&Value; 2]) -> String {
    let texts = arrays.map(|array| match array {
        Value::Array(array) => format!("{:?}", array.elements),
        Value::Scalar(_) | Value::Tuple(_) => String::new(),
    });
    let [expected, found] = texts.each_ref().map(|text| text.split(", ").enumerate());
    let mut both = expected.zip(found).filter(|((_, expected), (_, found))| expected != found);
    format!("r{value}: {:?}\n{code}", both.next())
}
