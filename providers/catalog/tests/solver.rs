//! The solver on known layouts: what it keeps, what it destroys, what it refuses and what it says then.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use providers_catalog::{
    CardModel, Cost, Current, DriverVersion, Infeasible, Occupied, Product, ProfileCounts, Request, Solution, Step,
    Victim, Wanted, catalog, solve,
};

fn card(product: &str) -> &'static CardModel {
    catalog().find(&Product::new(product)).unwrap()
}

/// `1g.10gb@0:1*` is a slice in use; `whole` and `whole*` are a card with MIG off; the empty text is MIG on, no slices.
fn current(text: &str) -> Current {
    match text {
        "whole" => Current::Whole { in_use: false },
        "whole*" => Current::Whole { in_use: true },
        _ => Current::Mig(
            text.split_whitespace()
                .map(|slice| Occupied {
                    instance: slice.trim_end_matches('*').parse().unwrap(),
                    in_use: slice.ends_with('*'),
                })
                .collect(),
        ),
    }
}

/// `3x1g.10gb 1x2g.20gb`, or `whole`.
fn wanted(text: &str) -> Wanted {
    if text == "whole" {
        return Wanted::Whole;
    }
    let counts: ProfileCounts = text
        .split_whitespace()
        .map(|part| {
            let (count, profile) = part.split_once('x').unwrap();
            (profile.parse().unwrap(), count.parse().unwrap())
        })
        .collect();
    Wanted::Mig(counts)
}

fn try_solve(product: &str, now: &str, want: &str, driver: Option<&str>) -> Result<Solution, Box<Infeasible>> {
    let driver: Option<DriverVersion> = driver.map(|driver| driver.parse().unwrap());
    let (current, wanted) = (current(now), wanted(want));
    solve(&Request { card: card(product), driver: driver.as_ref(), current: &current, wanted: &wanted })
}

fn steps(solution: &Solution) -> String {
    let text = solution.steps.iter().map(|step| match step {
        Step::Destroy(instance) => format!("-{instance}"),
        Step::Create(instance) => format!("+{instance}"),
        Step::SetMigMode { on, needs_reset } => format!("mig={on}{}", if *needs_reset { "!" } else { "" }),
    });
    text.collect::<Vec<_>>().join(" ")
}

#[test]
fn steps_to_the_wanted_layout() {
    for (product, now, want, expected, victims) in [
        // Mode changes: Ampere is reset, Hopper is not.
        ("A100-SXM4-80GB", "whole", "1x7g.80gb", "mig=true! +7g.80gb@0:8", 0),
        ("H100-80GB-HBM3", "whole", "1x7g.80gb", "mig=true +7g.80gb@0:8", 0),
        ("A100-SXM4-80GB", "whole*", "1x7g.80gb", "mig=true! +7g.80gb@0:8", 1),
        ("A100-SXM4-80GB", "7g.80gb@0:8*", "whole", "-7g.80gb@0:8 mig=false!", 1),
        ("A100-SXM4-80GB", "whole*", "whole", "", 0),
        ("L4", "whole*", "whole", "", 0),
        ("A100-SXM4-80GB", "whole", "", "mig=true!", 0),
        // Layouts that tables of others miss or get wrong.
        (
            "A100-SXM4-80GB",
            "",
            "4x1g.10gb 1x3g.40gb",
            "+1g.10gb@0:1 +1g.10gb@1:1 +1g.10gb@2:1 +1g.10gb@3:1 +3g.40gb@4:4",
            0,
        ),
        ("A100-SXM4-80GB", "", "1x3g.40gb 1x4g.40gb", "+4g.40gb@0:4 +3g.40gb@4:4", 0),
        ("A100-SXM4-80GB", "", "2x3g.40gb", "+3g.40gb@0:4 +3g.40gb@4:4", 0),
        // The driver's own placement fails when these come in the order 1g, 1g, 2g, 3g.
        (
            "A100-SXM4-80GB",
            "",
            "2x1g.10gb 1x2g.20gb 1x3g.40gb",
            "+1g.10gb@0:1 +1g.10gb@1:1 +2g.20gb@2:2 +3g.40gb@4:4",
            0,
        ),
        // The same name on two cards.
        ("A100-SXM4-40GB", "", "4x1g.10gb", "+1g.10gb@0:2 +1g.10gb@2:2 +1g.10gb@4:2 +1g.10gb@6:2", 0),
        ("A30", "", "2x1g.6gb 1x2g.12gb", "+1g.6gb@0:1 +1g.6gb@1:1 +2g.12gb@2:2", 0),
        (
            "RTX-PRO-6000-Blackwell-Server-Edition",
            "",
            "2x1g.24gb 1x2g.48gb",
            "+1g.24gb@0:3 +1g.24gb@3:3 +2g.48gb@6:6",
            0,
        ),
        // Keeps what is there, wherever it stands.
        ("A100-SXM4-80GB", "1g.10gb@3:1 3g.40gb@4:4", "1x1g.10gb 1x3g.40gb", "", 0),
        ("A100-SXM4-80GB", "1g.10gb@3:1*", "1x1g.10gb 1x3g.40gb", "+3g.40gb@4:4", 0),
        ("A100-SXM4-80GB", "1g.10gb@5:1*", "1x1g.10gb 1x3g.40gb", "+3g.40gb@0:4", 0),
        // A slice in use is worth more than any number of idle ones.
        (
            "A100-SXM4-80GB",
            "1g.10gb@0:1 1g.10gb@1:1 1g.10gb@5:1*",
            "2x1g.10gb 1x3g.40gb",
            "-1g.10gb@0:1 -1g.10gb@1:1 +3g.40gb@0:4 +1g.10gb@4:1",
            0,
        ),
        // Fragmented by what is in use: one has to go, the others stay.
        ("A100-SXM4-80GB", "1g.10gb@0:1* 1g.10gb@4:1*", "1x1g.10gb 1x3g.40gb", "-1g.10gb@4:1 +3g.40gb@4:4", 1),
        // What the catalog does not know cannot stay.
        ("A100-SXM4-80GB", "7g.79gb@0:8", "1x7g.80gb", "-7g.79gb@0:8 +7g.80gb@0:8", 0),
    ] {
        let solution = try_solve(product, now, want, None).unwrap_or_else(|error| panic!("{now} -> {want}: {error}"));
        let found = (steps(&solution), solution.victims.len());
        let expected = (expected.to_owned(), victims);
        assert_eq!(found, expected, "{product}: {now} -> {want}");
        assert_eq!(solution.is_unchanged(), found.0.is_empty());
    }
}

#[test]
fn victims_are_named() {
    let victims = |now, want| try_solve("A100-SXM4-80GB", now, want, None).unwrap().victims;
    let slice = |text: &str| Victim::Slice(text.parse().unwrap());
    assert_eq!(victims("whole*", "1x7g.80gb"), [Victim::WholeCard]);
    assert_eq!(
        victims("1g.10gb@0:1* 1g.10gb@6:1* 2g.20gb@2:2", "1x7g.80gb"),
        [slice("1g.10gb@0:1"), slice("1g.10gb@6:1")]
    );
}

#[test]
fn costs_order_by_what_hurts_most() {
    let cost = |now, want| try_solve("A100-SXM4-80GB", now, want, None).unwrap().cost();
    let nothing = cost("1g.10gb@0:1*", "1x1g.10gb");
    let create = cost("1g.10gb@0:1*", "2x1g.10gb");
    let destroy = cost("1g.10gb@0:1* 2g.20gb@2:2", "2x1g.10gb");
    let mode = cost("whole", "2x1g.10gb");
    let victim = cost("1g.10gb@0:1*", "1x2g.20gb");
    assert_eq!(nothing, Cost::default());
    assert!([nothing, create, destroy, mode, victim].is_sorted());
}

/// Each refusal with its reason and what is suggested in its place.
#[test]
fn refusals_say_why_and_what_would_fit() {
    for (product, now, want, driver, expected) in [
        (
            "L4",
            "whole",
            "1x1g.10gb",
            None,
            vec!["1x 1g.10gb cannot be cut from one L4: it has no MIG", "the whole card"],
        ),
        (
            "RTX-PRO-5000-Blackwell",
            "whole",
            "2x1g.24gb",
            None,
            vec![
                "2x 1g.24gb cannot be cut from one RTX-PRO-5000-Blackwell: NVIDIA has published no MIG placements for it, so no layout can be planned",
                "the whole card",
            ],
        ),
        (
            "A100-SXM4-80GB",
            "whole",
            "2x1g.5gb 1x3g.20gb",
            None,
            vec![
                "2x 1g.5gb + 1x 3g.20gb cannot be cut from one A100-SXM4-80GB: it has no MIG profile 1g.5gb, 3g.20gb, only 1g.10gb, 1g.10gb+me, 1g.20gb, 2g.20gb, 3g.40gb, 4g.40gb, 7g.80gb",
                "2x 1g.10gb + 1x 3g.40gb (the same shapes by this card's names)",
            ],
        ),
        (
            "A100-SXM4-80GB",
            "whole",
            "1x1c.3g.40gb",
            None,
            vec![
                "1x 1c.3g.40gb cannot be cut from one A100-SXM4-80GB: 1c.3g.40gb shares a GPU instance between compute instances, which is not supported",
                "1x 3g.40gb (the same shapes by this card's names)",
            ],
        ),
        (
            "A100-SXM4-80GB",
            "whole",
            "8x1g.10gb",
            None,
            vec![
                "8x 1g.10gb cannot be cut from one A100-SXM4-80GB: the card can have at most 7 1g.10gb, not 8",
                "7x 1g.10gb (as much of it as fits)",
                "6x 1g.10gb + 1x 1g.20gb (the nearest layout that fits)",
                "6x 1g.10gb + 1x 1g.10gb+me (the nearest layout that fits)",
            ],
        ),
        (
            "A100-SXM4-80GB",
            "whole",
            "2x4g.40gb",
            None,
            vec![
                "2x 4g.40gb cannot be cut from one A100-SXM4-80GB: the card can have at most 1 4g.40gb, not 2",
                "1x 4g.40gb (as much of it as fits)",
                "1x 3g.40gb + 1x 4g.40gb (the nearest layout that fits)",
                "1x 2g.20gb + 1x 4g.40gb (the nearest layout that fits)",
            ],
        ),
        (
            "A30",
            "whole",
            "1x1g.6gb+me 1x2g.12gb+me",
            None,
            vec![
                "1x 1g.6gb+me + 1x 2g.12gb+me cannot be cut from one A30: only one slice of the card can have the media engines (`+me`), not 2",
                "1x 2g.12gb+me (as much of it as fits)",
                "1x 1g.6gb+me (as much of it as fits)",
                "1x 1g.6gb+me + 1x 2g.12gb (the nearest layout that fits)",
                "1x 1g.6gb + 1x 2g.12gb+me (the nearest layout that fits)",
            ],
        ),
        (
            "RTX-PRO-6000-Blackwell-Server-Edition",
            "whole",
            "1x1g.24gb+me.all 1x1g.24gb",
            None,
            vec![
                "1x 1g.24gb + 1x 1g.24gb+me.all cannot be cut from one RTX-PRO-6000-Blackwell-Server-Edition: the slices need 5 NVDEC engines and the card has 4",
                "1x 1g.24gb+me.all (as much of it as fits)",
                "1x 1g.24gb (as much of it as fits)",
                "2x 1g.24gb (the nearest layout that fits)",
                "1x 1g.24gb + 1x 2g.48gb (the nearest layout that fits)",
            ],
        ),
        (
            "A100-SXM4-80GB",
            "whole",
            "3x3g.40gb",
            None,
            vec![
                "3x 3g.40gb cannot be cut from one A100-SXM4-80GB: the card can have at most 2 3g.40gb, not 3",
                "2x 3g.40gb (as much of it as fits)",
                "2x 2g.20gb + 1x 3g.40gb (the nearest layout that fits)",
                "1x 1g.20gb + 1x 2g.20gb + 1x 3g.40gb (the nearest layout that fits)",
            ],
        ),
        (
            "A100-SXM4-80GB",
            "whole",
            "1x1g.10gb 1x3g.40gb 1x4g.40gb",
            None,
            vec![
                "1x 1g.10gb + 1x 3g.40gb + 1x 4g.40gb cannot be cut from one A100-SXM4-80GB: it needs 9 memory slices and the card has 8",
                "1x 3g.40gb + 1x 4g.40gb (as much of it as fits)",
                "1x 1g.10gb + 1x 4g.40gb (as much of it as fits)",
                "1x 1g.10gb + 1x 2g.20gb + 1x 4g.40gb (the nearest layout that fits)",
                "1x 1g.10gb + 1x 2g.20gb + 1x 3g.40gb (the nearest layout that fits)",
            ],
        ),
        (
            "A100-SXM4-80GB",
            "whole",
            "1x1g.10gb 2x3g.40gb",
            None,
            vec![
                "1x 1g.10gb + 2x 3g.40gb cannot be cut from one A100-SXM4-80GB: it needs 9 memory slices and the card has 8",
                "2x 3g.40gb (as much of it as fits)",
                "1x 1g.10gb + 1x 3g.40gb (as much of it as fits)",
                "1x 1g.10gb + 1x 2g.20gb + 1x 3g.40gb (the nearest layout that fits)",
                "1x 1g.10gb + 1x 1g.20gb + 1x 3g.40gb (the nearest layout that fits)",
            ],
        ),
        (
            "A100-SXM4-80GB",
            "whole",
            "2x2g.20gb 1x3g.40gb 1x1g.10gb",
            None,
            vec![
                "1x 1g.10gb + 2x 2g.20gb + 1x 3g.40gb cannot be cut from one A100-SXM4-80GB: it needs 9 memory slices and the card has 8",
                "2x 2g.20gb + 1x 3g.40gb (as much of it as fits)",
                "1x 1g.10gb + 1x 2g.20gb + 1x 3g.40gb (as much of it as fits)",
                "2x 1g.10gb + 1x 2g.20gb + 1x 3g.40gb (the nearest layout that fits)",
                "1x 1g.10gb + 3x 2g.20gb (the nearest layout that fits)",
            ],
        ),
        (
            "A100-SXM4-80GB",
            "2g.20gb@0:2* 1g.10gb@6:1*",
            "2x3g.40gb 1x2g.20gb",
            None,
            vec![
                "1x 2g.20gb + 2x 3g.40gb cannot be cut from one A100-SXM4-80GB: it needs 10 memory slices and the card has 8",
                "1x 1g.10gb + 1x 2g.20gb (fits beside what is in use)",
                "2x 3g.40gb (as much of it as fits)",
                "1x 2g.20gb + 1x 3g.40gb (as much of it as fits)",
                "2x 2g.20gb + 1x 3g.40gb (the nearest layout that fits)",
                "1x 1g.20gb + 1x 2g.20gb + 1x 3g.40gb (the nearest layout that fits)",
            ],
        ),
        (
            "A100-SXM4-80GB",
            "whole",
            "1x1g.20gb",
            Some("470.57.02"),
            vec![
                "1x 1g.20gb cannot be cut from one A100-SXM4-80GB: MIG profile 1g.20gb needs driver R525 or newer, and this is 470.57.02",
                "1x 2g.20gb (the nearest layout that fits)",
                "1x 1g.10gb (the nearest layout that fits)",
            ],
        ),
        (
            "H200",
            "whole",
            "1x1g.18gb",
            Some("535.161.07"),
            vec![
                "1x 1g.18gb cannot be cut from one H200: MIG on H200 needs driver 550.90.07 or newer, and this is 535.161.07",
                "the whole card",
            ],
        ),
        (
            "A100-SXM4-80GB",
            "whole",
            "1x3g.40gb 1x4g.40gb",
            Some("470.57.02"),
            vec![
                "1x 3g.40gb + 1x 4g.40gb cannot be cut from one A100-SXM4-80GB: 3g.40gb together with 4g.40gb needs driver R510 or newer, and this is 470.57.02",
                "1x 4g.40gb (as much of it as fits)",
                "1x 3g.40gb (as much of it as fits)",
                "2x 3g.40gb (the nearest layout that fits)",
                "1x 2g.20gb + 1x 4g.40gb (the nearest layout that fits)",
            ],
        ),
    ] {
        let error = try_solve(product, now, want, driver).unwrap_err();
        let found: Vec<String> =
            std::iter::once(error.to_string()).chain(error.suggestions.iter().map(ToString::to_string)).collect();
        assert_eq!(found, expected, "{product} {want}");
    }
}
