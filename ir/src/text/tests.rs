//! Tests of the lexer, the writer, and the text of scalars, operators and columns.

use std::fmt::Write;

use super::{Reader, TextError, Token, Writer, parse_column, write_column};
use crate::{Column, Scalar, ScalarOp};

fn tokens(text: &str) -> Vec<Token> {
    let mut reader = Reader::new(text).expect("tokens");
    std::iter::from_fn(|| reader.next_token()).collect()
}

fn word(text: &str) -> Token {
    Token::Word(text.to_owned())
}

#[test]
fn tokens_of_all_kinds() {
    assert_eq!(
        tokens("x1: [][a3]f32 = add x0 -1.5e-7f32 -- why\n  'a' -> 0..12 \"m\\\"y\""),
        [
            word("x1"),
            Token::Symbol(":"),
            Token::Symbol("["),
            Token::Symbol("]"),
            Token::Symbol("["),
            word("a3"),
            Token::Symbol("]"),
            word("f32"),
            Token::Symbol("="),
            word("add"),
            word("x0"),
            Token::Scalar(Scalar::F32(-1.5e-7)),
            Token::Scalar(Scalar::Char(b'a')),
            Token::Symbol("->"),
            Token::Number(0),
            Token::Symbol(".."),
            Token::Number(12),
            Token::Text("m\"y".to_owned()),
        ]
    );
}

#[test]
fn an_error_says_where() {
    let error = Reader::new("x1\n  1.5q").expect_err("no such type");
    let message = "`1.5q` is no constant of a scalar type".to_owned();
    assert_eq!(error, TextError { line: 2, column: 3, message });
    assert_eq!(
        Reader::new("é ♠").expect_err("no such token").to_string(),
        "1:1: no token begins with 'é'"
    );
    let mut reader = Reader::new("x1 yield").expect("tokens");
    assert_eq!(reader.numbered('x'), Ok(1));
    let error = reader.numbered('x').expect_err("no variable");
    assert_eq!(error.to_string(), "1:4: expected `x` with a number, not `yield`");
}

#[test]
fn lines_end_where_the_next_token_is_on_another() {
    let mut reader = Reader::new("yield x1\n\nx2").expect("tokens");
    assert!(!reader.at_line_end());
    assert!(reader.take_word("yield"));
    assert!(!reader.at_line_end());
    assert_eq!(reader.numbered('x'), Ok(1));
    assert!(reader.at_line_end());
    assert_eq!(reader.numbered('x'), Ok(2));
    assert!(reader.at_line_end() && reader.at_end());
}

#[test]
fn scalars_read_back() {
    let scalars = [
        Scalar::I8(-128),
        Scalar::I16(7),
        Scalar::I32(i32::MIN),
        Scalar::I64(i64::MIN),
        Scalar::U8(255),
        Scalar::U16(1),
        Scalar::U32(2),
        Scalar::U64(u64::MAX),
        Scalar::F32(-0.0),
        Scalar::F32(1e20),
        Scalar::F32(f32::NEG_INFINITY),
        Scalar::F64(f64::NAN),
        Scalar::F64(5e-324),
        Scalar::F64(f64::INFINITY),
        Scalar::Bool(true),
        Scalar::Bool(false),
        Scalar::Char(b' '),
        Scalar::Char(b'\''),
        Scalar::Char(b'\\'),
        Scalar::Char(0xff),
    ];
    for scalar in scalars {
        let text = scalar.to_string();
        match tokens(&text)[..] {
            [Token::Scalar(found)] => assert!(found.same_bits(scalar), "{text}"),
            ref found => panic!("{text}: {found:?}"),
        }
    }
}

#[test]
fn operators_read_back() {
    for op in ScalarOp::all() {
        assert_eq!(ScalarOp::from_name(&op.to_string()), Some(op));
    }
    assert_eq!(ScalarOp::from_name("map"), None);
}

#[test]
fn columns_read_back() {
    let texts = [
        "i64[1i64 -2i64]",
        "f32[]",
        "dense 2 3 char['a' 'b' 'c' 'd' 'e' 'f']",
        "dense 3 0 f64[]",
        "ragged [0 2 2 3] dense 3 1 bool[true false true]",
    ];
    for text in texts {
        let column = parse_column(&mut Reader::new(text).expect("tokens")).expect("a column");
        let mut written = String::new();
        write_column(&mut written, &column).expect("a string takes everything");
        assert_eq!(written, text);
    }
    let slice = Column::from_lengths(&[1, 2, 3], Column::U8(vec![1, 2, 3, 4, 5, 6].into()));
    let mut written = String::new();
    write_column(&mut written, &slice.slice(1, 2)).expect("a string takes everything");
    assert_eq!(written, "ragged [0 2 5] u8[2u8 3u8 4u8 5u8 6u8]");
}

#[test]
fn columns_that_are_none() {
    for (text, message) in [
        ("dense 2 2 i64[1i64]", "1:20: 2 × 2 elements, not 1"),
        ("ragged [0 2] i64[1i64]", "1:23: offsets ascend from 0 to the number of elements"),
        ("i64[true]", "1:5: expected a constant of type i64 or `]`, not `true`"),
    ] {
        let error = parse_column(&mut Reader::new(text).expect("tokens")).expect_err("no column");
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn the_writer_indents() {
    let mut writer = Writer::new();
    let write = |writer: &mut Writer| {
        writeln!(writer, "a")?;
        writer.indented(|writer| write!(writer, "b\n\nc {}\n", 1))?;
        writeln!(writer, "d")
    };
    write(&mut writer).expect("a string takes everything");
    assert_eq!(writer.finish(), "a\n  b\n\n  c 1\nd\n");
}
