//! Replays the facts: what Terraform made of thousands of expressions is what we make of them.

#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use std::{fs, path::Path};

use tests_differential::{
    differences,
    facts::{self, Fact},
    generate::FAMILIES,
    ours::{self, Names},
};

fn of(family: &str) -> Vec<Fact> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("facts").join(format!("{family}.facts"));
    facts::read(&fs::read_to_string(path).unwrap())
}

#[test]
fn every_fact_is_as_it_was_recorded() {
    let names = Names::default();
    let mut wrong = Vec::new();
    let mut all = 0;
    for family in FAMILIES {
        for fact in of(family.name) {
            all += 1;
            let ours = ours::answer(fact.constraint.as_deref(), &fact.expression, &names);
            if !fact.expected().agrees(&ours) {
                wrong.push(format!("{}: {}  now {ours}", family.name, facts::write(&[fact])));
            }
        }
    }
    assert!(all > 2000, "{all} facts");
    assert!(wrong.is_empty(), "{} of {all}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_difference_is_one_that_is_meant() {
    let keys: Vec<&str> = differences::ALL.iter().map(|difference| difference.key).collect();
    for family in FAMILIES {
        for fact in of(family.name) {
            if let Some((key, ours)) = &fact.differs {
                assert!(keys.contains(&key.as_str()), "{key}");
                assert!(!fact.theirs.agrees(ours), "{}", facts::write(&[fact]));
            }
        }
    }
}

#[test]
fn facts_are_written_as_they_are_read() {
    for family in FAMILIES {
        let all = of(family.name);
        assert_eq!(facts::read(&facts::write(&all)), all, "{}", family.name);
    }
}
