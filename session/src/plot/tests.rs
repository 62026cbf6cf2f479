//! Plots, pictures and formulas as they are shown, from the text of a program.

use crate::session::{Cell, Config, Session};
use crate::sink::{Cancel, Collected, Event, Shown};

fn shown(program: &str) -> Shown {
    let mut session = Session::new(&Config { memory: 1 << 30, io: false });
    let mut sink = Collected::default();
    let outcome = session.eval(Cell::typed(program), &mut sink, &Cancel::new());
    let shown = sink.events.into_iter().rev().find_map(|event| match event {
        Event::Shown(shown) => Some(shown),
        _ => None,
    });
    shown.unwrap_or_else(|| panic!("{program}: {outcome:?}"))
}

fn written(shown: &Shown, width: usize, colour: bool) -> String {
    shown.text(width, colour, &Cancel::new()).expect("nobody cancels it")
}

#[track_caller]
fn check(program: &str, expected: &str) {
    let found = written(&shown(program), 40, false);
    let found: Vec<&str> = found.lines().map(str::trim_end).collect();
    let expected: Vec<&str> = expected.trim_matches('\n').lines().collect();
    assert_eq!(found, expected, "\n{}", found.join("\n"));
}

#[test]
fn a_line_in_braille() {
    check(
        "{plot [0.0, 1.0, 0.5] with title = \"Up\", xLabel = \"step\", yLabel = \"height\"}",
        "
                   Up
height
1┤               ⢀⡠⠔⠚⠒⠢⠤⢄⣀⡀
 │           ⢀⡠⠔⠊⠁        ⠈⠉⠑⠒⠢⠤⢄⣀⡀
 │        ⣀⠔⠊⠁                    ⠈⠉⠑⠒⠂
 │    ⣀⠤⠒⠉
0┤⢀⠤⠒⠉
 └┬────────┬────────┬────────┬────────┬
  0       0.5      1.0      1.5      2.0
                  step
",
    );
}

#[test]
fn series_without_colours_have_letters() {
    check(
        "[{plot [1, 2] with label = \"a\"}, {plot [2, 1] with label = \"b\"}]",
        "
 ** a  ++ b
2┤+++++                           *****
 │    +++++++               *******
 │          ++++++     ******
 │                +++++
 │          ******     ++++++
 │    *******               +++++++
1┤*****                           +++++
 └┬────────┬────────┬────────┬────────┬
  0      0.25     0.50     0.75     1.00
",
    );
}

#[test]
fn bars_stand_on_zero() {
    check(
        "histogramBins 4 [1.0, 2.0, 2.1, 3.0, nan, inf]",
        "
2┤                   ▅▅▅▅▅▅▅▅
 │                   ████████
 │                   ████████
 │                   ████████
1┤ ▆▆▆▆▆▆▆▆▆         ████████▆▆▆▆▆▆▆▆▆
 │ █████████         █████████████████
 │ █████████         █████████████████
0┤ █████████         █████████████████
 └┬────────┬────────┬────────┬────────┬
 1.0      1.5      2.0      2.5      3.0
",
    );
}

#[test]
fn cells_have_densities() {
    check(
        "heatMap (outer (+) (iota 6) (iota 8))",
        "
0┤        ░░░░░░▒▒▒▒▒▒▒  ██
 │        ░░░░░░▒▒▒▒▒▒▒  ██ 10
 │      ░░░░░▒▒▒▒▒▒▒▒▓▓  ▓▓
2┤   ░░░░░▒▒▒▒▒▒▒▒▓▓▓▓▓  ▒▒
 │░░░░░░▒▒▒▒▒▒▒▒▓▓▓▓▓██  ▒▒
 │░░░░░░▒▒▒▒▒▒▒▒▓▓▓▓▓██  ░░
4┤░░░▒▒▒▒▒▒▒▒▓▓▓▓▓█████
 │▒▒▒▒▒▒▒▒▓▓▓▓▓▓███████     0
 └─┬────────────┬──────
   0            5
",
    );
}

#[test]
fn nothing_to_draw_is_an_empty_frame() {
    let text = written(&shown("plot ([] : []f64)"), 60, false);
    assert!(text.contains('└') && text.contains("0.5"), "{text}");
    let svg = shown("linePlot [nan] [nan]").svg().expect("a plot");
    assert!(svg.contains("<path d=\"\" "), "{svg}");
    assert!(shown("heatMap [[nan, nan]]").svg().is_some());
    assert!(shown("histogramPlot ([] : []f32)").svg().is_some());
    assert!(shown("{plot [0, -1] with logY = true}").svg().is_some());
}

#[test]
fn svg_is_escaped_and_small() {
    let svg = shown("{plot [1] with title = \"a < b & c\", label = \"</svg>\"}").svg();
    let svg = svg.expect("a plot");
    assert!(svg.contains("a &lt; b &amp; c") && svg.contains("&lt;/svg&gt;"), "{svg}");
    assert_eq!(svg.matches("</svg>").count(), 1);
    // Without neighbours a point is no line.
    assert!(
        shown("plot [1.0, nan, 2.0, 3.0]").svg().expect("a plot").contains("stroke-width=\"5\"")
    );
    assert!(!shown("plot [2.0, 3.0]").svg().expect("a plot").contains("stroke-width=\"5\""));
    // Long words become smaller, and in the end shorter.
    let titled = |length: usize| {
        let program = format!("{{plot [1] with title = \"{}\"}}", "abcde ".repeat(length));
        shown(&program).svg().expect("a plot")
    };
    assert!(titled(3).contains("font-size=\"15\" font-weight"));
    assert!(titled(12).contains("font-size=\"13.6\" font-weight") && !titled(12).contains('…'));
    assert!(titled(40).contains("font-size=\"10\" font-weight") && titled(40).contains('…'));
    for large in ["plot (random 1 300000)", "scatterPlot (random 1 300000) (random 2 300000)"] {
        let svg = shown(large).svg().expect("a plot");
        assert!(svg.len() < 100_000, "{large}: {}", svg.len());
    }
}

#[test]
fn text_stays_within_the_width() {
    let programs = [
        "{plot [1e300, -1e-300] with title = \"a very long title, longer than the terminal\"}",
        "heatMap (outer (*) (iota 300) (iota 2))",
        "linePlot (iota 3) (outer (+) (iota 10) (iota 3))",
    ];
    for program in programs {
        for colour in [false, true] {
            let text = written(&shown(program), 40, colour);
            for line in text.lines() {
                let mut width = 0;
                let mut escape = false;
                for c in line.chars() {
                    escape |= c == '\x1b';
                    width += usize::from(!escape);
                    escape &= c != 'm';
                }
                assert!(width <= 40, "{program}\n{text}");
            }
        }
    }
}

#[test]
fn other_records_are_no_plots() {
    assert!(shown("{mark = \"line\", x = [1.0]}").svg().is_none());
    assert!(shown("{plot [1] with mark = \"unknown\"}").svg().is_none());
    assert!(shown("take 0 [plot [1]]").svg().is_none());
}

#[test]
fn matrices_are_pictures_when_asked_for() {
    let small = shown("image [[0.0, 1.0], [0.5, nan]]").picture().expect("a picture");
    assert_eq!((small.width, small.height, small.colour), (256, 256, false));
    assert_eq!((small.bytes[0], small.bytes[255], small.bytes[256 * 256 - 1]), (0, 255, 0));
    let colours = shown("image [[(255u8, 0u8, 1u8)]]").picture().expect("a picture");
    assert_eq!(colours.bytes[..3], [255, 0, 1]);
    assert_eq!(shown("image [[1, 300], [-5, 7]]").picture().expect("a picture").bytes[255], 255);
    assert!(shown("image [[1], [2, 3]]").picture().is_none());
    assert_eq!(written(&shown("image [[1, 2]]"), 80, false), "a picture of 2 by 1 pixels");
    assert!(shown("fill (40, 40) 7u8").picture().is_some());
    assert!(shown("fill (40, 40) 7i64").picture().is_none());
}

#[test]
fn small_numbers_and_matrices_are_formulas() {
    let latex = |program: &str| shown(program).latex();
    assert_eq!(latex("42").as_deref(), Some("$42$"));
    assert_eq!(latex("-1.5e-7").as_deref(), Some("$-1.5 \\times 10^{-7}$"));
    assert_eq!(latex("(1, true)").as_deref(), Some("$\\left(1,\\; \\mathrm{true}\\right)$"));
    let matrix = "$\\begin{bmatrix} 1.0 & \\infty \\\\ \\mathrm{nan} & 0.5 \\end{bmatrix}$";
    assert_eq!(latex("[[1.0, inf], [nan, 0.5]]").as_deref(), Some(matrix));
    assert_eq!(latex("[1, 2]").as_deref(), Some("$\\begin{bmatrix} 1 & 2 \\end{bmatrix}$"));
    for other in ["'c'", "\"text$\"", "iota 11", "[[1], [2, 3]]", "([] : []i64)", "{x = 1}", "()"] {
        assert_eq!(latex(other), None, "{other}");
    }
}

#[test]
fn plots_that_show_nothing_say_why() {
    let last = |program: &str| {
        let text = written(&shown(program), 60, false);
        text.lines().last().unwrap_or_default().to_owned()
    };
    let nothing = "a plot with nothing in it: none of its numbers can be drawn";
    assert_eq!(last("plot [nan, nan]"), nothing);
    assert_eq!(last("heatMap [[nan]]"), nothing);
    assert_eq!(last("{plot [0.0, -1.0] with logY = true}"), nothing);
    assert_ne!(last("plot [nan, 1.0]"), nothing);
    assert_ne!(last("[plot [1.0], plot [nan]]"), nothing);
    assert_eq!(
        last("heatMap [[1, 2], [3]]"),
        "this cannot be drawn: the rows of its grid have one length, but row 1 has 1 and row 0 has 2"
    );
    assert_eq!(
        last("{plot [1] with mark = \"dots\"}"),
        "this cannot be drawn: its mark is \"dots\", not \"line\", \"points\", \"bars\" or \"cells\""
    );
    assert_eq!(
        last("replicate 65 (plot [1])"),
        "one frame shows at most 64 plots, and these are 65"
    );
}
