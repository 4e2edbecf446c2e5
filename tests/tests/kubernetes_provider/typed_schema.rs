//! Our schemas beside those of HashiCorp's provider, attribute by attribute.

use engine_model::schema::{AttributeType, Block, Nesting, Schema, Usage};
use engine_value::json::type_to_tree;
use providers_api::Provider;

use crate::world::World;

const THEIRS: &str = include_str!("data/hashicorp-schemas.txt");

fn lines(kind: &str, ty: &str, schema: &Schema) -> Vec<String> {
    let mut lines = vec![format!("{kind} {ty}: version {}", schema.version)];
    block(&format!("{kind} {ty} "), &schema.block, &mut lines);
    lines
}

fn block(prefix: &str, block: &Block, lines: &mut Vec<String>) {
    for (name, attribute) in &block.attributes {
        let AttributeType::Plain(ty) = &attribute.ty else { panic!("{name} is nested") };
        let ty = type_to_tree(ty).to_string();
        let mut flags = match attribute.usage {
            Usage::Required => vec!["required"],
            Usage::Optional => vec!["optional"],
            Usage::OptionalComputed => vec!["optional", "computed"],
            Usage::Computed => vec!["computed"],
        };
        flags.extend(attribute.sensitive.then_some("sensitive"));
        flags.extend(attribute.write_only.then_some("write_only"));
        lines.push(format!("{prefix}{name}: {} {}", ty.trim_matches('"'), flags.join(" ")));
    }
    for (name, nested) in &block.blocks {
        let nesting = match nested.nesting {
            Nesting::Single => "single",
            Nesting::List => "list",
            Nesting::Set => "set",
            other => panic!("{other:?}"),
        };
        lines.push(format!("{prefix}{name} {{}}: {nesting} {} {}", nested.min_items, nested.max_items));
        self::block(&format!("{prefix}{name}."), &nested.block, lines);
    }
}

#[tokio::test]
async fn schemas_are_hashicorps() {
    let world = World::new().await;
    let provider = world.another_provider();
    let schemas = provider.schemas();
    let theirs: Vec<&str> = THEIRS.lines().filter(|line| !line.starts_with('#')).collect();
    let types = |kind: &str| -> Vec<&str> {
        let names = theirs.iter().filter_map(|line| line.strip_prefix(kind)?.trim_start().split_once(": version"));
        names.map(|(ty, _)| ty).collect()
    };
    let mut ours = Vec::new();
    for ty in types("resource") {
        ours.extend(lines("resource", ty, &schemas.resources[ty]));
    }
    for ty in types("data") {
        ours.extend(lines("data", ty, &schemas.data[ty]));
    }
    let (mut wanted, mut found): (Vec<String>, Vec<String>) =
        (theirs.iter().map(|line| (*line).to_owned()).collect(), ours);
    // What a data source of ours reads it has, too, where theirs calls it an argument.
    let read = |line: &String| {
        let flags = if line.contains(" sensitive") { "optional computed sensitive" } else { "optional computed" };
        let (before, _) = line.rsplit_once(": ").unwrap();
        let ty = line[before.len() + 2..].split_once(' ').unwrap().0;
        format!("{before}: {ty} {flags}")
    };
    let own: Vec<String> = found.iter().filter(|line| line.starts_with("data ")).cloned().collect();
    for line in
        wanted.iter_mut().filter(|line| line.starts_with("data ") && !line.contains("{}") && !line.contains("version"))
    {
        if (line.contains(" optional") || line.contains(".immutable") || line.contains(" immutable"))
            && own.contains(&read(line))
        {
            *line = read(line);
        }
    }
    wanted.sort();
    found.sort();
    let only = |one: &[String], other: &[String]| -> Vec<String> {
        one.iter().filter(|line| !other.contains(line)).cloned().collect()
    };
    assert_eq!(only(&wanted, &found), [""; 0], "theirs alone");
    assert_eq!(only(&found, &wanted), [""; 0], "ours alone");
    assert!(wanted.len() > 500, "the facts are there");
}
