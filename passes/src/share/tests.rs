//! Tests of sharing, from text to text.
