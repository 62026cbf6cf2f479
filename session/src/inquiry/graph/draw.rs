//! The graph of the kernels as SVG: one file that needs nothing else, on a light ground of its own.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr as _;
use weft_passes::fuse::Reason;

use super::layered::{Layout, Size, lay_out};
use super::{Graph, Kind, Node};
use crate::plot::escaped;

/// Around the whole.
const MARGIN: f64 = 18.0;
/// Around the words of a box.
const PADDING: (f64, f64) = (12.0, 9.0);
/// Between the lines of a box.
const LINE: f64 = 17.0;
/// The width of a character; the letters of the titles are the widest.
const CHARACTER: f64 = 7.3;

const GROUND: &str = "#ffffff";
const INK: &str = "#1c1c1c";
const FAINT: &str = "#6a6a6a";
const LINK: &str = "#8a8a8a";
const DASHED: &str = "#d55e00";

/// The picture.
pub(super) fn svg(graph: &Graph) -> String {
    let sizes: Vec<Size> = graph.nodes.iter().map(size).collect();
    let links: Vec<(usize, usize)> = graph.edges.iter().map(|edge| (edge.from, edge.to)).collect();
    let layout = lay_out(&sizes, &links);
    let legend = legend(graph);
    let widest = legend.iter().map(|line| line.width() as f64 * 6.4).fold(0.0, f64::max);
    let width = layout.size.0.max(widest) + 2.0 * MARGIN;
    let below = if legend.is_empty() { 0.0 } else { 14.0 + LINE * legend.len() as f64 };
    let height = layout.size.1 + below + 2.0 * MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" font-size=\"12\" fill=\"{INK}\" \
         font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" role=\"img\" \
         aria-label=\"The kernels of a program\">\n\
         <rect width=\"{width:.0}\" height=\"{height:.0}\" rx=\"4\" fill=\"{GROUND}\"/>\n"
    );
    for (name, colour) in [("link", LINK), ("dashed", DASHED)] {
        let _ = writeln!(
            out,
            "<marker id=\"weft-{name}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" \
             markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
             <path d=\"M0 0.8L7.5 4L0 7.2z\" fill=\"{colour}\"/></marker>"
        );
    }
    let left = MARGIN + (width - 2.0 * MARGIN - layout.size.0) / 2.0;
    let _ = writeln!(out, "<g transform=\"translate({left:.1} {MARGIN})\">");
    links_between(&mut out, graph, &layout);
    for ((node, size), place) in graph.nodes.iter().zip(&sizes).zip(&layout.places) {
        draw_node(&mut out, node, *size, *place);
    }
    reasons(&mut out, graph, &layout);
    out.push_str("</g>\n");
    for (index, line) in legend.iter().enumerate() {
        let y = MARGIN + layout.size.1 + 14.0 + LINE * (index as f64 + 0.8);
        let _ = writeln!(
            out,
            "<text x=\"{MARGIN}\" y=\"{y:.1}\" font-size=\"10.5\" fill=\"{FAINT}\">{}</text>",
            escaped(line)
        );
    }
    out.push_str("</svg>\n");
    out
}

fn size(node: &Node) -> Size {
    let widest = node.lines.iter().map(|line| line.width()).max().unwrap_or(0);
    (widest as f64 * CHARACTER + 2.0 * PADDING.0, node.lines.len() as f64 * LINE + 2.0 * PADDING.1)
}

fn draw_node(out: &mut String, node: &Node, (width, height): Size, (x, y): (f64, f64)) {
    let (fill, stroke, thickness, radius) = match node.kind {
        Kind::Kernel => ("#e6f1f8", "#0072b2", 1.6, 8.0),
        Kind::Input => ("#f4f4f4", "#8a8a8a", 1.0, 2.0),
        Kind::Stored => ("#ffffff", "#8a8a8a", 1.0, 2.0),
        Kind::Result => ("#e9f6f1", "#009e73", 1.6, 2.0),
        Kind::Host => ("#fbf6e9", "#b08a2e", 1.0, 2.0),
    };
    let (left, top) = (x - width / 2.0, y - height / 2.0);
    let _ = writeln!(
        out,
        "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
         rx=\"{radius}\" fill=\"{fill}\" stroke=\"{stroke}\" stroke-width=\"{thickness}\"/>"
    );
    for (index, line) in node.lines.iter().enumerate() {
        let baseline = top + PADDING.1 + LINE * index as f64 + 12.0;
        let look = match (index, node.kind) {
            (0, Kind::Kernel) => " font-weight=\"600\"".to_owned(),
            (0, _) => String::new(),
            _ => format!(" fill=\"{FAINT}\" font-size=\"11\""),
        };
        let _ = writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{baseline:.1}\" text-anchor=\"middle\"{look}>{}</text>",
            escaped(line)
        );
    }
}

fn links_between(out: &mut String, graph: &Graph, layout: &Layout) {
    for (edge, route) in graph.edges.iter().zip(&layout.routes) {
        let mut path = format!("M{:.1} {:.1}", route[0].0, route[0].1);
        for pair in route.windows(2) {
            let [(x, y), (to_x, to_y)] = [pair[0], pair[1]];
            let middle = (y + to_y) / 2.0;
            let _ = match x == to_x {
                true => write!(path, "V{to_y:.1}"),
                false => {
                    write!(path, "C{x:.1} {middle:.1} {to_x:.1} {middle:.1} {to_x:.1} {to_y:.1}")
                }
            };
        }
        let (name, colour, dashes) = match edge.reason {
            Some(_) => ("dashed", DASHED, " stroke-dasharray=\"5 4\""),
            None => ("link", LINK, ""),
        };
        let _ = writeln!(
            out,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.4\"{dashes} \
             marker-end=\"url(#weft-{name})\"/>"
        );
    }
}

/// The codes, each in the middle of the last piece of its edge.
fn reasons(out: &mut String, graph: &Graph, layout: &Layout) {
    for (edge, route) in graph.edges.iter().zip(&layout.routes) {
        let (Some(reason), [.., from, to]) = (edge.reason, &route[..]) else { continue };
        let (x, y) = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0);
        let _ = writeln!(
            out,
            "<g><title>{}</title><rect x=\"{:.1}\" y=\"{:.1}\" width=\"28\" height=\"15\" rx=\"3\" \
             fill=\"{GROUND}\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" \
             font-size=\"11\" fill=\"{DASHED}\">{}</text></g>",
            escaped(reason.explanation()),
            x - 14.0,
            y - 7.5,
            y + 4.0,
            reason.code()
        );
    }
}

/// What the codes mean, a line each.
fn legend(graph: &Graph) -> Vec<String> {
    let used: BTreeSet<Reason> = graph.edges.iter().filter_map(|edge| edge.reason).collect();
    let lines =
        used.into_iter().map(|reason| format!("{}: {}", reason.code(), reason.explanation()));
    lines.collect()
}

#[cfg(test)]
mod tests {
    use weft_passes::fuse::Reason;

    use super::super::{Edge, Graph, Kind, Node};
    use super::svg;

    #[test]
    fn texts_are_escaped_and_reasons_explained() {
        let node = |kind, line: &str| Node { kind, lines: vec![line.to_owned()] };
        let graph = Graph {
            nodes: vec![node(Kind::Input, "a < b"), node(Kind::Kernel, "kernel 1: \"map\" & fold")],
            edges: vec![Edge { from: 0, to: 1, reason: Some(Reason::Boundary) }],
        };
        let svg = svg(&graph);
        assert!(svg.contains("a &lt; b") && svg.contains("&amp; fold"), "{svg}");
        assert!(svg.contains("stroke-dasharray") && svg.contains("F08: a filter"), "{svg}");
        assert_eq!(svg.matches("</svg>").count(), 1);
    }
}
