//! `--mix`: which loadfile each client of a disk replays, when they are dealt by weight.

/// The number of the load that each client gets, up to where it starts over: as many clients as the
/// weights come to when what they have in common is taken out.
///
/// Each client gets the load that is furthest behind its share; of those that are equally far
/// behind, one with fewer clients so far, else the first. So the first clients of any number are
/// dealt as near to the weights as whole clients can be, and not in runs.
pub(super) fn deal(weights: &[u32]) -> Vec<usize> {
    let common = weights.iter().copied().fold(0, gcd).max(1);
    let weights: Vec<i64> = weights.iter().map(|weight| i64::from(weight / common)).collect();
    let total: i64 = weights.iter().sum();
    let mut dealt = vec![0i64; weights.len()];
    let mut order = Vec::new();
    for client in 1..=total {
        let behind = |load: &usize| weights[*load] * client - dealt[*load] * total;
        // The last of equals is taken: from the end on, that is the first one.
        let next = (0..weights.len()).rev().max_by_key(|load| (behind(load), -dealt[*load]));
        let Some(next) = next else { break };
        dealt[next] += 1;
        order.push(next);
    }
    order
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dealt_by_weight_and_not_in_runs() {
        assert_eq!(deal(&[3, 1]), [0, 1, 0, 0]);
        assert_eq!(deal(&[1, 3]), [1, 0, 1, 1]);
        assert_eq!(deal(&[1, 1, 1]), [0, 1, 2]);
        assert_eq!(deal(&[6, 2]), [0, 1, 0, 0]);
        assert_eq!(deal(&[7]), [0]);
    }

    /// Whatever the weights, after n clients each load is less than one client from its share.
    #[test]
    fn never_a_whole_client_from_the_share() {
        for weights in [vec![22, 3], vec![5, 3, 2], vec![1000, 1], vec![3, 3, 1, 1]] {
            let order = deal(&weights);
            let total: u32 = weights.iter().sum();
            for n in 1..=order.len() {
                for (load, weight) in weights.iter().enumerate() {
                    let has = order[..n].iter().filter(|dealt| **dealt == load).count() as f64;
                    let share = n as f64 * f64::from(*weight) / f64::from(total);
                    assert!((has - share).abs() < 1.0, "{weights:?} {n} {load}: {has} {share}");
                }
            }
        }
    }
}
