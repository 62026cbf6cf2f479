//! What `:set` shows and changes.

use std::num::NonZeroU8;

use weft_ir::ScalarType;
use weft_lang::suggest;

use crate::display::{self, Pictures};
use crate::engine::Backend;

/// The modes of a session. They are part of its state: `:undo` restores them too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Modes {
    /// The type of a literal with a point where nothing else fixes it.
    pub float: ScalarType,
    /// Bytes that the arrays of a run may take.
    pub memory: u64,
    /// How deep calls may nest.
    pub recursion: u64,
    /// Bytes of results that `Out[n]` keeps.
    pub outputs: u64,
    /// What runs programs.
    pub backend: Backend,
    /// Whether the compiler fuses.
    pub fusion: bool,
    /// Whether the compiler shares common terms.
    pub sharing: bool,
    /// Whether inner maps are split, which takes memory. Nobody sets it: what has no room runs again without.
    pub split: bool,
    /// Whether lines of a cell that share arrays run as one program.
    pub join: bool,
    /// Threads that kernels run on.
    pub threads: usize,
    /// Whether kernels are interpreted block by block, or compiled to machine code.
    pub tier: weft_cpu::Tier,
    /// Whether the cost of a cell is shown; `None` for long ones.
    pub footer: Option<bool>,
    /// How much of a value is shown. (The width is the front end's.)
    pub limits: display::Options,
}

/// One mode, for the table that `:set` prints.
struct Mode {
    name: &'static str,
    values: &'static str,
    /// The values, where there are few.
    choices: &'static [&'static str],
    doc: &'static str,
    get: fn(&Modes) -> String,
    set: fn(&mut Modes, &str) -> Option<()>,
}

const MODES: &[Mode] = &[
    Mode {
        name: "float",
        values: "f32 or f64",
        choices: &["f32", "f64"],
        doc: "the type of a literal with a point where nothing else fixes it",
        get: |modes| modes.float.name().to_owned(),
        set: |modes, text| {
            modes.float = ScalarType::from_name(text).filter(|ty| ty.is_float())?;
            Some(())
        },
    },
    Mode {
        name: "memory",
        values: "bytes, such as 512M or 4G",
        choices: &[],
        doc: "what the arrays of one run may take",
        get: |modes| bytes_text(modes.memory),
        set: |modes, text| {
            modes.memory = parse_bytes(text)?;
            Some(())
        },
    },
    Mode {
        name: "recursion",
        values: "a number from 1 on",
        choices: &[],
        doc: "how deep calls may nest",
        get: |modes| modes.recursion.to_string(),
        set: |modes, text| {
            modes.recursion = text.parse().ok().filter(|depth| *depth > 0)?;
            Some(())
        },
    },
    Mode {
        name: "outputs",
        values: "bytes, such as 512M or 4G",
        choices: &[],
        doc: "what the results kept as Out[n] and for :undo may take",
        get: |modes| bytes_text(modes.outputs),
        set: |modes, text| {
            modes.outputs = parse_bytes(text)?;
            Some(())
        },
    },
    Mode {
        name: "backend",
        values: "auto, cpu, gpu, interp, or gpu-emulated, plan, flat or nested to test the compiler",
        choices: &["auto", "cpu", "gpu", "interp", "gpu-emulated", "flat", "nested"],
        doc: "what runs programs",
        get: |modes| modes.backend.name().to_owned(),
        set: |modes, text| {
            modes.backend = Backend::from_name(text)?;
            Some(())
        },
    },
    Mode {
        name: "fusion",
        values: "on or off",
        choices: &["on", "off"],
        doc: "whether the compiler fuses loops",
        get: |modes| switch_text(modes.fusion),
        set: |modes, text| set_switch(&mut modes.fusion, text),
    },
    Mode {
        name: "sharing",
        values: "on or off",
        choices: &["on", "off"],
        doc: "whether the compiler computes common terms once",
        get: |modes| switch_text(modes.sharing),
        set: |modes, text| set_switch(&mut modes.sharing, text),
    },
    Mode {
        name: "join",
        values: "on or off",
        choices: &["on", "off"],
        doc: "whether lines of a cell that share arrays run as one program",
        get: |modes| switch_text(modes.join),
        set: |modes, text| set_switch(&mut modes.join, text),
    },
    Mode {
        name: "threads",
        values: "a number from 1 to 1024",
        choices: &[],
        doc: "the threads that kernels run on",
        get: |modes| modes.threads.to_string(),
        set: |modes, text| {
            modes.threads = text.parse().ok().filter(|count| (1..=1024).contains(count))?;
            Some(())
        },
    },
    Mode {
        name: "tier",
        values: "auto, 0 or 1",
        choices: &["auto", "0", "1"],
        doc: "whether kernels are interpreted (0), machine code (1), or become that when it pays",
        get: |modes| {
            let name = match modes.tier {
                weft_cpu::Tier::Automatic => "auto",
                weft_cpu::Tier::Interpreted => "0",
                weft_cpu::Tier::Native | weft_cpu::Tier::Turning => "1",
            };
            name.to_owned()
        },
        set: |modes, text| {
            modes.tier = match text {
                "auto" => weft_cpu::Tier::Automatic,
                "0" => weft_cpu::Tier::Interpreted,
                "1" => weft_cpu::Tier::Native,
                _ => return None,
            };
            Some(())
        },
    },
    Mode {
        name: "elements",
        values: "a number from 2 on",
        choices: &[],
        doc: "a longer list shows its ends only",
        get: |modes| modes.limits.max_elements.to_string(),
        set: |modes, text| set_count(&mut modes.limits.max_elements, text),
    },
    Mode {
        name: "rows",
        values: "a number from 2 on",
        choices: &[],
        doc: "the rows of a table that are shown",
        get: |modes| modes.limits.max_rows.to_string(),
        set: |modes, text| set_count(&mut modes.limits.max_rows, text),
    },
    Mode {
        name: "columns",
        values: "a number from 2 on",
        choices: &[],
        doc: "the columns of a table that are shown, if they fit",
        get: |modes| modes.limits.max_columns.to_string(),
        set: |modes, text| set_count(&mut modes.limits.max_columns, text),
    },
    Mode {
        name: "text",
        values: "bytes, such as 20k",
        choices: &[],
        doc: "the bytes of a text that are shown",
        get: |modes| bytes_text(modes.limits.max_text as u64),
        set: |modes, text| {
            modes.limits.max_text = usize::try_from(parse_bytes(text)?).ok()?;
            Some(())
        },
    },
    Mode {
        name: "digits",
        values: "all, or a number from 1 to 17",
        choices: &["all"],
        doc: "the significant digits that floats are shown with",
        get: |modes| modes.limits.digits.map_or("all".to_owned(), |digits| digits.to_string()),
        set: |modes, text| {
            modes.limits.digits = match text {
                "all" => None,
                text => Some(text.parse().ok().filter(|digits: &NonZeroU8| digits.get() <= 17)?),
            };
            Some(())
        },
    },
    Mode {
        name: "pictures",
        values: "auto, kitty, sixel, blocks or off",
        choices: &["auto", "kitty", "sixel", "blocks", "off"],
        doc: "how a terminal shows pictures",
        get: |modes| {
            let known = Pictures::ALL.into_iter().find(|(_, own)| *own == modes.limits.graphics);
            known.map_or("", |(name, _)| name).to_owned()
        },
        set: |modes, text| {
            modes.limits.graphics = Pictures::ALL.into_iter().find(|(name, _)| *name == text)?.1;
            Some(())
        },
    },
    Mode {
        name: "footer",
        values: "auto, on or off",
        choices: &["auto", "on", "off"],
        doc: "whether times are shown after each cell; auto: after long ones",
        get: |modes| match modes.footer {
            None => "auto".to_owned(),
            Some(wanted) => if wanted { "on" } else { "off" }.to_owned(),
        },
        set: |modes, text| {
            modes.footer = match text {
                "auto" => None,
                "on" => Some(true),
                "off" => Some(false),
                _ => return None,
            };
            Some(())
        },
    },
];

impl Modes {
    /// The defaults with that memory limit, in bytes.
    pub(crate) fn new(memory: u64) -> Modes {
        Modes {
            float: ScalarType::F64,
            memory,
            recursion: 10_000,
            outputs: 256 << 20,
            backend: Backend::Auto,
            fusion: true,
            sharing: true,
            split: true,
            join: true,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            tier: weft_cpu::Tier::Automatic,
            footer: None,
            limits: display::Options::new(80),
        }
    }

    /// Whether lines of a cell run as one program where that gains something: it is fusion and sharing
    /// that gain it, and the interpreter has neither.
    pub(crate) fn joins_lines(&self) -> bool {
        self.join && self.fusion && self.sharing && self.backend != Backend::Interp
    }

    /// All modes with their values, a line each.
    pub(crate) fn table(&self) -> String {
        let lines: Vec<String> = MODES.iter().map(|mode| self.line(mode)).collect();
        lines.join("\n")
    }

    /// Shows (`value` empty) or changes one mode. The error says what would be right.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<String, String> {
        let Some(mode) = MODES.iter().find(|mode| mode.name == name) else {
            let names: Vec<&str> = MODES.iter().map(|mode| mode.name).collect();
            return Err(match suggest::closest(name, names.iter().copied()) {
                Some(closest) => format!("there is no mode `{name}`: did you mean `{closest}`?"),
                None => format!("there is no mode `{name}`; there are {}", names.join(", ")),
            });
        };
        if !value.is_empty() {
            (mode.set)(self, value)
                .ok_or_else(|| format!("`{name}` takes {}, not `{value}`", mode.values))?;
        }
        Ok(self.line(mode))
    }

    /// The modes with their values.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&'static str, String)> {
        MODES.iter().map(|mode| (mode.name, format!("{}: {}", (mode.get)(self), mode.doc)))
    }

    /// The values of a mode, where there are few.
    pub(crate) fn choices(name: &str) -> &'static [&'static str] {
        MODES.iter().find(|mode| mode.name == name).map_or(&[], |mode| mode.choices)
    }

    fn line(&self, mode: &Mode) -> String {
        format!("{:<10} {:<8} {} ({})", mode.name, (mode.get)(self), mode.doc, mode.values)
    }
}

fn switch_text(on: bool) -> String {
    if on { "on" } else { "off" }.to_owned()
}

fn set_switch(switch: &mut bool, text: &str) -> Option<()> {
    *switch = match text {
        "on" => true,
        "off" => false,
        _ => return None,
    };
    Some(())
}

fn set_count(count: &mut usize, text: &str) -> Option<()> {
    *count = text.parse().ok().filter(|count| *count > 1)?;
    Some(())
}

/// `512M`, `4G`, `20k`, `1000`: powers of 1024.
fn parse_bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let shift = match &text[digits.len()..] {
        "" | "B" => 0,
        "k" | "K" | "kB" | "KiB" => 10,
        "M" | "MB" | "MiB" => 20,
        "G" | "GB" | "GiB" => 30,
        "T" | "TB" | "TiB" => 40,
        _ => return None,
    };
    let number: u64 = digits.parse().ok()?;
    number.checked_mul(1 << shift)
}

/// A number of bytes in decimal units, as rates are: `800B`, `20kB`; rounded down to a unit in which it is at
/// least 10.
pub(crate) fn size_text(bytes: u64) -> String {
    let units =
        [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    let fits = |unit: u64| bytes / unit >= 10 || bytes >= 10_000 && bytes.is_multiple_of(unit);
    match units.into_iter().find(|(unit, _)| fits(*unit)) {
        Some((unit, name)) => format!("{}{name}", bytes / unit),
        None => format!("{bytes}B"),
    }
}

/// The inverse of [`parse_bytes`], for limits: units of powers of 1024, rounded down to a unit in which it is at least 10.
pub(crate) fn bytes_text(bytes: u64) -> String {
    let units = [(40, "T"), (30, "G"), (20, "M"), (10, "k")];
    let unit = units.into_iter().find(|(shift, _)| {
        bytes >> shift >= 10 || { bytes >> shift >= 1 && bytes.trailing_zeros() >= *shift }
    });
    match unit {
        Some((shift, unit)) => format!("{}{unit}", bytes >> shift),
        None => bytes.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_back() {
        assert_eq!(parse_bytes("4G"), Some(4 << 30));
        assert_eq!(parse_bytes("20k"), Some(20 << 10));
        assert_eq!(parse_bytes("7"), Some(7));
        assert_eq!(parse_bytes("7Q"), None);
        assert_eq!(parse_bytes("99999999999T"), None);
        assert_eq!(bytes_text(4 << 30), "4G");
        assert_eq!(bytes_text(20_000), "19k");
        assert_eq!(bytes_text(7), "7");
    }

    #[test]
    fn sizes_are_decimal() {
        let texts = [8, 8_000, 10_240, 8_000_000, 1_562_500, 25_000_000_000].map(size_text);
        let expected = ["8B", "8000B", "10kB", "8MB", "1562kB", "25GB"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn modes_are_checked() {
        let mut modes = Modes::new(1 << 30);
        assert!(modes.set("float", "f32").is_ok());
        assert_eq!(modes.float, ScalarType::F32);
        assert_eq!(modes.set("float", "i8").unwrap_err(), "`float` takes f32 or f64, not `i8`");
        assert!(modes.set("flaot", "f32").unwrap_err().starts_with("there is no mode `flaot`"));
        for (name, value, right) in [
            ("rows", "0", "a number from 2 on"),
            ("elements", "0", "a number from 2 on"),
            ("columns", "1", "a number from 2 on"),
            ("threads", "0", "a number from 1 to 1024"),
            ("recursion", "0", "a number from 1 on"),
            ("digits", "0", "all, or a number from 1 to 17"),
        ] {
            let expect = format!("`{name}` takes {right}, not `{value}`");
            assert_eq!(modes.set(name, value).unwrap_err(), expect);
        }
        assert!(modes.set("digits", "0").is_err() && modes.set("digits", "18").is_err());
        assert!(modes.set("digits", "4").is_ok() && modes.set("digits", "all").is_ok());
    }
}
