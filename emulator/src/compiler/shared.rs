//! How much shared memory the functions of a module declare.
//!
//! Shared memory is thread-local memory of the host (`runtime/cuda.h`), and what a function declares of it are symbols
//! whose names begin with the function's. So the file says it, without anything having run.

use std::collections::BTreeMap;

/// The most bytes that a function may declare, as on every device: the programming guide's table of technical
/// specifications.
pub(super) const MOST_SHARED: u64 = 48 << 10;

/// Why a module is no program for a device, if a function of it declares too much.
pub(super) fn complaint(module: &[u8]) -> Option<String> {
    let Some(symbols) = thread_local_symbols(module) else {
        return Some("the module's symbols cannot be read".to_owned());
    };
    let mut declared: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, bytes) in symbols {
        if let Some(function) = function_of(name) {
            *declared.entry(function).or_default() += bytes;
        }
    }
    let (function, bytes) = declared.into_iter().find(|(_, bytes)| *bytes > MOST_SHARED)?;
    Some(format!(
        "{function} declares {bytes} bytes of shared memory, of which {MOST_SHARED} are there"
    ))
}

/// The mangled name of the function whose variable a mangled name is: `_ZZ` function `E` length name, and maybe a number.
fn function_of(name: &str) -> Option<&str> {
    let inner = name.strip_prefix("_ZZ")?;
    let is_variable = |rest: &str| {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let length: usize = rest[..digits].parse().unwrap_or(usize::MAX);
        let behind = rest[digits..].get(length..);
        behind.is_some_and(|behind| behind.is_empty() || behind.starts_with('_'))
    };
    let mut ends = inner.rmatch_indices('E').map(|(at, _)| at);
    ends.find(|at| is_variable(&inner[at + 1..])).map(|at| &inner[..at])
}

/// The names and sizes of the thread-local symbols of an ELF file of 64 bits, in the byte order of x86 and most ARM.
fn thread_local_symbols(file: &[u8]) -> Option<Vec<(&str, u64)>> {
    const SYMBOL_TABLE: u64 = 2;
    const THREAD_LOCAL: u64 = 6;
    if !file.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let number = |at: usize, bytes: usize| {
        let field = file.get(at..at.checked_add(bytes)?)?;
        Some(field.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte)))
    };
    let offset = |at: usize| usize::try_from(number(at, 8)?).ok();
    let (sections, size, count) = (offset(0x28)?, number(0x3a, 2)? as usize, number(0x3c, 2)?);
    let section = |at: u64| sections.checked_add(at as usize * size);
    let mut found = Vec::new();
    for at in 0..count {
        let table = section(at)?;
        if number(table + 4, 4)? != SYMBOL_TABLE {
            continue;
        }
        let names = offset(section(number(table + 0x28, 4)?)? + 0x18)?;
        let (first, bytes) = (offset(table + 0x18)?, offset(table + 0x20)?);
        for symbol in (first..first.checked_add(bytes)?).step_by(24) {
            if number(symbol + 4, 1)? & 15 == THREAD_LOCAL {
                let name = file.get(names + number(symbol, 4)? as usize..)?;
                let end = name.iter().position(|byte| *byte == 0)?;
                found.push((std::str::from_utf8(&name[..end]).ok()?, number(symbol + 16, 8)?));
            }
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::function_of;

    #[test]
    fn variables_have_the_names_of_their_functions() {
        assert_eq!(function_of("_ZZ6kernelE1s"), Some("6kernel"));
        let scan = "10scan_tilesI8K0_scan0EvRKNT_9ArgumentsE4Rowsj";
        assert_eq!(function_of(&format!("_ZZ{scan}E6memory")), Some(scan));
        assert_eq!(function_of(&format!("_ZZ{scan}E6memory_0")), Some(scan));
        assert_eq!(function_of("_ZL11weft_anchor"), None);
    }
}
