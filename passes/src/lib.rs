//! The middle end: pure functions between the intermediate languages, one verb a file. Each takes a
//! program and a configuration and yields a program; none knows the language or a back end.
