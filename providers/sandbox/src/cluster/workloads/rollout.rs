//! The arithmetic of roll-outs: how many pods each set of a deployment may have. Pure.

use serde_json::Value;

use super::number;

/// What a deployment wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Goal {
    pub(super) replicas: i64,
    /// How many pods may be there beyond those.
    pub(super) surge: i64,
    /// How many of those may be missing.
    pub(super) unavailable: i64,
    pub(super) is_rolling: bool,
}

/// How far one set is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Set {
    /// `spec.replicas`
    pub(super) wanted: i64,
    /// `status.replicas`
    pub(super) pods: i64,
    pub(super) ready: i64,
    pub(super) available: i64,
}

impl Goal {
    pub(super) fn of(deployment: &Value) -> Goal {
        let replicas = number(deployment, "/spec/replicas").unwrap_or(1);
        let is_rolling = deployment.pointer("/spec/strategy/type").is_none_or(|kind| kind == "RollingUpdate");
        let bound = |name: &str, up: bool| {
            let value = deployment.pointer(&format!("/spec/strategy/rollingUpdate/{name}"));
            amount(value.unwrap_or(&Value::Null), replicas, up)
        };
        let (surge, unavailable) = match is_rolling {
            true => (bound("maxSurge", true), bound("maxUnavailable", false)),
            false => (0, replicas),
        };
        // With neither, nothing could ever move.
        let unavailable = if surge == 0 && unavailable == 0 { 1 } else { unavailable.min(replicas) };
        Goal { replicas, surge, unavailable, is_rolling }
    }

    /// How many pods must be available for the deployment to be so.
    pub(super) fn least(self) -> i64 {
        self.replicas - self.unavailable
    }

    /// The size of the new set: as large as the surge allows.
    pub(super) fn size_of_new(self, new: i64, all: i64) -> i64 {
        if !self.is_rolling {
            return self.replicas;
        }
        if new > self.replicas {
            return self.replicas;
        }
        let room = self.replicas + self.surge - all;
        if room <= 0 { new } else { new + room.min(self.replicas - new) }
    }

    /// The sizes of the old sets, oldest first: first those go that are not available anyhow, then as many as may be missing.
    pub(super) fn sizes_of_old(self, new: Set, old: &[Set]) -> Vec<i64> {
        let mut sizes: Vec<i64> = old.iter().map(|set| set.wanted).collect();
        let all = new.wanted + sizes.iter().sum::<i64>();
        let most = all - self.least() - (new.wanted - new.available);
        if most <= 0 {
            return sizes;
        }
        let mut cleaned = 0;
        for (size, set) in sizes.iter_mut().zip(old) {
            let unhealthy = (*size - set.available).clamp(0, most - cleaned);
            *size -= unhealthy;
            cleaned += unhealthy;
        }
        let available = new.available + old.iter().map(|set| set.available).sum::<i64>();
        let mut spare = available - self.least();
        for (size, _) in sizes.iter_mut().zip(old) {
            let gone = (*size).min(spare).max(0);
            *size -= gone;
            spare -= gone;
        }
        sizes
    }

    /// The sizes of sets (newest first) when the number of replicas changes in the middle of a roll-out: each in proportion.
    /// `most` is how many pods each was part of before.
    pub(super) fn scaled(self, sets: &[(i64, i64)]) -> Vec<i64> {
        let allowed = if self.replicas > 0 { self.replicas + self.surge } else { 0 };
        let to_add = allowed - sets.iter().map(|(size, _)| size).sum::<i64>();
        let mut added = 0;
        let mut sizes: Vec<i64> = Vec::new();
        for (size, most) in sets {
            let share = self.share(*size, *most, to_add, added);
            added += share;
            sizes.push(size + share);
        }
        // What rounding left over belongs to the largest set; of equal ones to the newest.
        let largest = (0..sets.len()).rev().max_by_key(|at| sets[*at].0);
        if let Some(at) = largest {
            sizes[at] = (sizes[at] + to_add - added).max(0);
        }
        sizes
    }

    fn share(self, size: i64, most: i64, to_add: i64, added: i64) -> i64 {
        if size == 0 || to_add == 0 || to_add == added {
            return 0;
        }
        let part = match self.replicas {
            0 => -size,
            // Rounded to the nearest.
            _ => (2 * size * (self.replicas + self.surge) + most.max(1)) / (2 * most.max(1)) - size,
        };
        let rest = to_add - added;
        if to_add > 0 { part.min(rest).max(0) } else { part.max(rest).min(0) }
    }
}

/// A number, or a percentage of `whole`.
fn amount(value: &Value, whole: i64, up: bool) -> i64 {
    match value {
        Value::Number(number) => number.as_i64().unwrap_or_default(),
        Value::String(text) => match text.strip_suffix('%').map(str::parse::<i64>) {
            Some(Ok(percent)) => (percent * whole + if up { 99 } else { 0 }) / 100,
            _ => text.parse().unwrap_or_default(),
        },
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn goal(replicas: i64, surge: i64, unavailable: i64) -> Goal {
        Goal { replicas, surge, unavailable, is_rolling: true }
    }

    fn set(wanted: i64, available: i64) -> Set {
        Set { wanted, pods: wanted, ready: available, available }
    }

    #[test]
    fn bounds_are_numbers_or_parts() {
        let with = |replicas: i64, surge: Value, unavailable: Value| {
            let rolling = json!({"maxSurge": surge, "maxUnavailable": unavailable});
            let goal = Goal::of(
                &json!({"spec": {"replicas": replicas, "strategy": {"type": "RollingUpdate", "rollingUpdate": rolling}}}),
            );
            (goal.surge, goal.unavailable)
        };
        assert_eq!(with(10, json!("25%"), json!("25%")), (3, 2));
        assert_eq!(with(1, json!("25%"), json!("25%")), (1, 0));
        assert_eq!(with(4, json!(0), json!("10%")), (0, 1), "something must be able to move");
        assert_eq!(with(2, json!(1), json!(5)), (1, 2));
        let recreate = Goal::of(&json!({"spec": {"replicas": 3, "strategy": {"type": "Recreate"}}}));
        assert_eq!(recreate, Goal { replicas: 3, surge: 0, unavailable: 3, is_rolling: false });
    }

    #[test]
    fn a_roll_out_goes_step_by_step() {
        let goal = goal(4, 1, 1);
        assert_eq!(goal.size_of_new(0, 4), 1);
        assert_eq!(goal.sizes_of_old(set(1, 0), &[set(4, 4)]), [3]);
        assert_eq!(goal.size_of_new(1, 4), 2);
        assert_eq!(goal.sizes_of_old(set(2, 2), &[set(3, 3)]), [1]);
        assert_eq!(goal.size_of_new(2, 3), 4);
        assert_eq!(goal.sizes_of_old(set(4, 4), &[set(1, 1)]), [0]);
        assert_eq!(goal.sizes_of_old(set(1, 0), &[set(2, 0), set(2, 2)]), [1, 2], "what is not available goes first");
        assert_eq!(goal.sizes_of_old(set(2, 0), &[set(3, 3)]), [3], "no more may be missing");
        assert_eq!(goal.size_of_new(6, 6), 4);
    }

    #[test]
    fn sets_are_scaled_in_proportion() {
        assert_eq!(goal(10, 0, 1).scaled(&[(2, 5), (3, 5)]), [4, 6]);
        assert_eq!(goal(2, 0, 1).scaled(&[(4, 10), (6, 10)]), [1, 1]);
        assert_eq!(goal(0, 1, 1).scaled(&[(2, 5), (3, 5)]), [0, 0]);
        let sizes = goal(7, 1, 1).scaled(&[(3, 6), (2, 6)]);
        assert_eq!(sizes.iter().sum::<i64>(), 8);
    }
}
