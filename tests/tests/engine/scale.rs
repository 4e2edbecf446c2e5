//! Long chains are applied and destroyed, and what is recorded on the way grows with them and not faster.

use tests::{lab::Lab, mock::world::World};

/// A chain in which each needs the one before it.
fn chain(n: usize) -> String {
    let mut text = String::from("resource \"mock_object\" \"r0\" {}\n");
    for i in 1..n {
        text.push_str(&format!("resource \"mock_object\" \"r{i}\" {{\n  value = mock_object.r{}.id\n}}\n", i - 1));
    }
    text
}

#[tokio::test]
async fn a_chain_of_thousands_is_applied_and_destroyed() {
    let lab = Lab::new(&World::default());
    let config = chain(2_000);
    lab.apply(&config).await.assert_done("the chain");
    assert_eq!(lab.world.contents().objects.len(), 2_000);
    lab.assert_settled(&config, "the chain").await;
    lab.destroy(&config).await.assert_done("destroy");
    assert!(lab.world.contents().objects.is_empty());
}
