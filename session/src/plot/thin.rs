//! Fewer points for the same picture: what cannot be told apart is drawn once.

use std::collections::BTreeSet;

/// The dots of one series.
const MOST_DOTS: usize = 5000;
/// The points of a line, where it goes back and forth.
const MOST_POINTS: usize = 20_000;

/// The pieces of a line; a point without a place ends one. Of the points within one step to the
/// right only the first, the lowest, the highest and the last are kept, which draws the same.
pub(crate) fn lines(
    points: impl Iterator<Item = Option<(f64, f64)>>,
    (step, _): (f64, f64),
) -> Vec<Vec<(f64, f64)>> {
    let mut pieces: Vec<Vec<(f64, f64)>> = vec![Vec::new()];
    for point in points {
        match (point, pieces.last_mut()) {
            (Some(point), Some(piece)) => piece.push(point),
            (_, Some(piece)) if piece.is_empty() => {}
            _ => pieces.push(Vec::new()),
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces.iter().map(|piece| thinned(piece, step)).collect()
}

fn thinned(piece: &[(f64, f64)], step: f64) -> Vec<(f64, f64)> {
    let ascends = piece.windows(2).all(|pair| pair[0].0 <= pair[1].0);
    if !ascends {
        let stride = piece.len().div_ceil(MOST_POINTS);
        let last = piece.last().filter(|_| !(piece.len() - 1).is_multiple_of(stride));
        return piece.iter().step_by(stride).chain(last).copied().collect();
    }
    let column = |point: &(f64, f64)| (point.0 / step).floor();
    let mut out = Vec::new();
    for run in piece.chunk_by(|a, b| column(a) == column(b)) {
        if run.len() <= 4 {
            out.extend_from_slice(run);
            continue;
        }
        let by_height = |a: &&usize, b: &&usize| run[**a].1.total_cmp(&run[**b].1);
        let positions: Vec<usize> = (0..run.len()).collect();
        let low = positions.iter().min_by(by_height).copied().unwrap_or(0);
        let high = positions.iter().max_by(by_height).copied().unwrap_or(0);
        let mut kept = [0, low, high, run.len() - 1];
        kept.sort_unstable();
        let mut last = None;
        for position in kept {
            if last != Some(position) {
                out.push(run[position]);
            }
            last = Some(position);
        }
    }
    out
}

/// Points, of which the first is kept for each place that can be told from others; where there are
/// too many, places are made larger.
pub(crate) fn dots(
    points: impl Iterator<Item = (f64, f64)>,
    (step_x, step_y): (f64, f64),
) -> Vec<(f64, f64)> {
    let points: Vec<(f64, f64)> = points.collect();
    let mut kept = points.clone();
    let mut scale = 1.0;
    while kept.len() > MOST_DOTS {
        let mut seen = BTreeSet::new();
        kept = points.clone();
        kept.retain(|(x, y)| {
            // Beyond the limit nothing counts but that places must grow again.
            seen.len() <= MOST_DOTS
                && seen.insert(((x / step_x / scale) as i64, (y / step_y / scale) as i64))
        });
        scale *= 1.5;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::{dots, lines};

    #[test]
    fn a_long_line_keeps_its_extremes() {
        let peak = 123_456;
        let points = (0..1_000_000).map(|i| {
            Some((f64::from(i) * 1e-3, if i == peak { 9.0 } else { f64::from(i % 7) * 0.1 }))
        });
        let pieces = lines(points, (0.5, 0.5));
        assert_eq!(pieces.len(), 1);
        assert!(pieces[0].len() <= 8004, "{}", pieces[0].len());
        assert!(pieces[0].iter().any(|point| point.1 == 9.0));
        assert_eq!(pieces[0][0].0, 0.0);
    }

    #[test]
    fn a_point_without_a_place_is_a_gap() {
        let points = [None, Some((0.0, 0.0)), Some((1.0, 1.0)), None, None, Some((2.0, 0.0))];
        let pieces = lines(points.into_iter(), (0.5, 0.5));
        assert_eq!(pieces, [vec![(0.0, 0.0), (1.0, 1.0)], vec![(2.0, 0.0)]]);
    }

    #[test]
    fn many_dots_become_fewer() {
        let points = (0..200_000).map(|i| (f64::from(i % 600), f64::from(i / 600)));
        assert!(dots(points, (0.5, 0.5)).len() <= 5000);
        let two = [(1.0, 1.0), (1.0, 1.0)];
        assert_eq!(dots(two.into_iter(), (0.5, 0.5)).len(), 2);
    }
}
