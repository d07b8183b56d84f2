//! Combinations of answers to several questions, so few that all of them can be tried.

/// Rows in which each pair of answers to two questions occurs at least once; question `i` has `counts[i]` answers. The
/// first row is the first answer to each. The same rows each time.
///
/// Most mistakes need one answer or two at a time to show, and all pairs take a few dozen rows where all combinations
/// take thousands.
#[must_use]
pub fn all_pairs(counts: &[usize]) -> Vec<Vec<usize>> {
    let mut missing: Vec<Pair> = Vec::new();
    for (one, &answers) in counts.iter().enumerate() {
        for (other, &others) in counts.iter().enumerate().skip(one + 1) {
            let pairs = (0..answers).flat_map(|a| (0..others).map(move |b| ((one, a), (other, b))));
            missing.extend(pairs);
        }
    }
    let mut rows = vec![vec![0; counts.len()]];
    missing.retain(|pair| !has(&rows[0], *pair));
    while let Some(&pair) = missing.first() {
        let row = row(counts, pair, &missing);
        missing.retain(|pair| !has(&row, *pair));
        rows.push(row);
    }
    rows
}

/// Two questions, each with an answer.
type Pair = ((usize, usize), (usize, usize));

/// A row with this pair and, question by question, the answer that brings most of those that are missing.
fn row(counts: &[usize], (one, other): Pair, missing: &[Pair]) -> Vec<usize> {
    let mut row: Vec<Option<usize>> = vec![None; counts.len()];
    row[one.0] = Some(one.1);
    row[other.0] = Some(other.1);
    for question in 0..counts.len() {
        if row[question].is_some() {
            continue;
        }
        let brings = |answer: usize| {
            let is_new = |(a, b): &&Pair| {
                let fits = |(of, what): (usize, usize)| {
                    if of == question { what == answer } else { row[of] == Some(what) }
                };
                (a.0 == question || b.0 == question) && fits(*a) && fits(*b)
            };
            missing.iter().filter(is_new).count()
        };
        // Of several that bring as many, the first.
        let best = (0..counts[question]).rev().max_by_key(|answer| brings(*answer));
        row[question] = best;
    }
    row.into_iter().map(Option::unwrap_or_default).collect()
}

fn has(row: &[usize], (one, other): Pair) -> bool {
    row[one.0] == one.1 && row[other.0] == other.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pair_of_answers_occurs() {
        let counts = [2, 3, 7, 5, 2];
        let rows = all_pairs(&counts);
        assert_eq!(rows[0], [0; 5]);
        for (one, &answers) in counts.iter().enumerate() {
            for (other, &others) in counts.iter().enumerate().filter(|(other, _)| *other != one) {
                for (a, b) in (0..answers).flat_map(|a| (0..others).map(move |b| (a, b))) {
                    assert!(rows.iter().any(|row| row[one] == a && row[other] == b));
                }
            }
        }
        assert!(rows.len() < 2 * 7 * 5, "{} rows", rows.len());
    }
}
