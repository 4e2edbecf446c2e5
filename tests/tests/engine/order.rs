//! What comes before what: references, `depends_on`, both replace orders, destruction.

use engine_model::{
    address::ResourceAddr,
    execution::{Step, Which},
};
use tests::{lab::Lab, mock::world::World};

fn addr(name: &str) -> ResourceAddr {
    format!("mock_object.{name}").parse().unwrap()
}

#[tokio::test]
async fn destruction_goes_against_dependencies_even_without_configuration() {
    let lab = Lab::new(&World::default());
    let config = "resource \"mock_object\" \"a\" {}\nresource \"mock_object\" \"b\" {\n  value = mock_object.a.id\n}\nresource \"mock_object\" \"c\" {\n  depends_on = [mock_object.b]\n}\n";
    lab.apply(config).await.assert_done("the first apply");
    assert_eq!(lab.world.take_writes(), ["create mock_object.a", "create mock_object.b", "create mock_object.c"]);
    lab.apply("output \"x\" {\n  value = 1\n}\n").await.assert_done("orphans");
    assert_eq!(lab.world.take_writes(), ["delete mock_object.c", "delete mock_object.b", "delete mock_object.a"]);
}

#[tokio::test]
async fn the_order_of_a_replacement_is_that_of_all_who_depend_on_it() {
    let config = |immutable: &str, before: bool| {
        format!(
            "resource \"mock_object\" \"a\" {{\n  immutable = \"{immutable}\"\n}}\nresource \"mock_object\" \"b\" {{\n  immutable = mock_object.a.id\n  lifecycle {{\n    create_before_destroy = {before}\n  }}\n}}\n"
        )
    };
    let lab = Lab::new(&World::default());
    lab.apply(&config("x", false)).await.assert_done("the first apply");
    lab.world.take_writes();
    lab.apply(&config("y", false)).await.assert_done("destroy first");
    assert_eq!(
        lab.world.take_writes(),
        ["delete mock_object.b", "delete mock_object.a", "create mock_object.a", "create mock_object.b"]
    );
    lab.apply(&config("z", true)).await.assert_done("create first");
    // b asks for it, so a, which b depends on, does the same.
    assert_eq!(
        lab.world.take_writes(),
        ["create mock_object.a", "create mock_object.b", "delete mock_object.b", "delete mock_object.a"]
    );
    lab.assert_settled(&config("z", true), "both orders").await;
}

#[tokio::test]
async fn a_deletion_waits_for_the_update_that_lets_go_of_it() {
    let lab = Lab::new(&World::default());
    let with = "resource \"mock_object\" \"a\" {}\nresource \"mock_object\" \"b\" {\n  value = mock_object.a.id\n}\n";
    let without = "resource \"mock_object\" \"b\" {\n  value = \"free\"\n}\n";
    lab.apply(with).await.assert_done("the first apply");
    lab.world.take_writes();
    let draft = lab.plan(without).await;
    assert!(draft.comes_before(&Step::Update(addr("b")), &Step::Delete(addr("a"), Which::Current)));
    lab.apply(without).await.assert_done("letting go");
    assert_eq!(lab.world.take_writes(), ["update mock_object.b", "delete mock_object.a"]);
}

#[tokio::test]
async fn what_was_turned_round_has_an_order_all_the_same() {
    // c goes, which needed a; d let go of c and needs a now, through b.
    let before = "resource \"mock_object\" \"a\" {\n  value = \"1\"\n}\nresource \"mock_object\" \"c\" {\n  value = mock_object.a.id\n}\n\
                  resource \"mock_object\" \"d\" {\n  value = mock_object.c.id\n}\n";
    let after = "resource \"mock_object\" \"a\" {\n  value = \"2\"\n}\nresource \"mock_object\" \"b\" {\n  number = mock_object.a.size\n}\n\
                 resource \"mock_object\" \"d\" {\n  value = mock_object.b.id\n}\n";
    let lab = Lab::new(&World::default());
    lab.apply(before).await.assert_done("before");
    lab.world.take_writes();
    lab.apply(after).await.assert_done("after");
    assert_eq!(
        lab.world.take_writes(),
        ["delete mock_object.c", "update mock_object.a", "create mock_object.b", "update mock_object.d"]
    );
    lab.assert_settled(after, "turned round").await;
}

#[tokio::test]
async fn what_an_old_half_needed_stays_until_it_is_gone() {
    // e is made anew before it is destroyed. It let go of c, which goes and needed a; it needs a now, through d.
    let config = |value: &str, through: &str, immutable: &str| {
        format!(
            "resource \"mock_object\" \"a\" {{\n  value = \"{value}\"\n}}\nresource \"mock_object\" \"{through}\" {{\n  value = mock_object.a.id\n  number = mock_object.a.size\n}}\n\
             resource \"mock_object\" \"e\" {{\n  value = mock_object.{through}.id\n  immutable = \"{immutable}\"\n  lifecycle {{\n    create_before_destroy = {immutable}\n  }}\n}}\n"
        )
    };
    let lab = Lab::new(&World::default());
    lab.apply(&config("1", "c", "false")).await.assert_done("before");
    lab.world.take_writes();
    lab.apply(&config("2", "d", "true")).await.assert_done("after");
    assert_eq!(
        lab.world.take_writes(),
        [
            "update mock_object.a",
            "create mock_object.d",
            "create mock_object.e",
            "delete mock_object.e",
            "delete mock_object.c"
        ]
    );
    lab.assert_settled(&config("2", "d", "true"), "after").await;
}

#[tokio::test]
async fn a_cycle_is_named_as_a_path() {
    let lab = Lab::new(&World::default());
    let config = "resource \"mock_object\" \"a\" {\n  value = local.x\n}\nlocals {\n  x = mock_object.b.id\n}\nresource \"mock_object\" \"b\" {\n  value = mock_object.a.id\n}\n";
    let draft = lab.plan(config).await;
    assert!(draft.plan.errored);
    let words = draft.words();
    assert_eq!(words.len(), 1, "{words:#?}");
    for part in ["error: Cycle: ", "mock_object.a", "local.x", "mock_object.b", "main.tf:"] {
        assert!(words[0].contains(part), "{part}: {words:?}");
    }
}

#[tokio::test]
async fn the_same_input_gives_the_same_plan_byte_for_byte() {
    let config = "locals {\n  keys = toset([for i in range(20) : \"k${i}\"])\n}\nresource \"mock_object\" \"a\" {\n  for_each = local.keys\n  value = each.key\n}\nresource \"mock_object\" \"b\" {\n  for_each = local.keys\n  value = mock_object.a[each.key].id\n}\noutput \"all\" {\n  value = { for k, b in mock_object.b : k => b.id }\n}\n";
    let mut plans = Vec::new();
    for _ in 0..2 {
        let lab = Lab::new(&World::default());
        let draft = lab.plan(config).await;
        plans.push((serde_json::to_vec(&*draft.plan).unwrap(), draft.digest()));
    }
    assert_eq!(plans[0], plans[1]);
}
