//! Fewer points for the same picture: what cannot be told apart is drawn once.

use std::collections::BTreeMap;

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

/// Dots to draw.
#[derive(Debug)]
pub(crate) struct Dots {
    /// Their places; of those that are many, by how many points each stands for, from few to many.
    pub(crate) groups: Vec<Vec<(f64, f64)>>,
    /// How far the places of those are apart that stand for several points.
    pub(crate) apart: Option<f64>,
}

/// By how much places grow where there are too many dots.
const GROWTH: f64 = 1.15;

/// Points; where there are too many, the middles of equal places that have some. Those are as large as it takes for them to be
/// few, and cover what is there without gaps; there are so many groups of them.
pub(crate) fn dots(points: impl Iterator<Item = (f64, f64)>, (step_x, step_y): (f64, f64)) -> Dots {
    const GROUPS: usize = 4;
    let points: Vec<(f64, f64)> = points.collect();
    if points.len() <= MOST_DOTS {
        return Dots { groups: vec![points], apart: None };
    }
    let mut scale = 1.0;
    let places = loop {
        let mut places: BTreeMap<(i64, i64), usize> = BTreeMap::new();
        let place = |at: f64, step: f64| (at / step / scale).floor() as i64;
        for (x, y) in &points {
            *places.entry((place(*x, step_x), place(*y, step_y))).or_default() += 1;
            if places.len() > MOST_DOTS {
                break;
            }
        }
        if places.len() <= MOST_DOTS {
            break places;
        }
        scale *= GROWTH;
    };
    let most = places.values().copied().max().unwrap_or(1) as f64;
    let mut groups = vec![Vec::new(); GROUPS];
    for ((x, y), count) in places {
        // By the root, so that few are seen beside many.
        let share = (count as f64 / most).sqrt();
        let group = ((share * GROUPS as f64).ceil() as usize).clamp(1, GROUPS) - 1;
        let middle = |place: i64, step: f64| (place as f64 + 0.5) * step * scale;
        groups[group].push((middle(x, step_x), middle(y, step_y)));
    }
    Dots { groups, apart: Some(scale * step_x) }
}

#[cfg(test)]
mod tests {
    use super::{Dots, dots, lines};

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
        let count = |dots: &Dots| dots.groups.iter().map(Vec::len).sum::<usize>();
        let points = (0..200_000).map(|i| (f64::from(i % 600), f64::from(i / 600)));
        let many = dots(points, (0.5, 0.5));
        assert!((3500..=5000).contains(&count(&many)), "{}", count(&many));
        // All places have about as many points, and no gaps are between them.
        let apart = many.apart.expect("places");
        assert!(count(&many) as f64 * apart * apart >= 599.0 * 333.0);
        assert!(many.groups[..2].iter().all(|group| group.len() < 150));
        let two = dots([(1.0, 1.0), (1.0, 1.0)].into_iter(), (0.5, 0.5));
        assert_eq!((count(&two), two.apart), (2, None));
    }

    #[test]
    fn places_with_more_points_are_told_from_those_with_few() {
        let even = (0..10_000).map(|i| (f64::from(i % 100), f64::from(i / 100)));
        let heap = (0..10_000).map(|i| (5.0 + f64::from(i % 10) * 1e-3, 5.0));
        let found = dots(even.chain(heap), (0.5, 0.5));
        assert_eq!(found.groups[3].len(), 1);
        assert!(found.groups[0].len() > 3000);
    }
}
