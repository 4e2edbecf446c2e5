//! References that cannot be right, calls and provider configurations. The cases were compared with Terraform 1.11.4.

use crate::read::read;

/// `input = <text>` in a resource of a module that declares one of each kind.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let main = format!(
        r#"
variable "v" {{}}
locals {{
  l = 1
}}
resource "terraform_data" "one" {{}}
resource "terraform_data" "counted" {{
  count = 2
}}
resource "terraform_data" "each" {{
  for_each = {{}}
}}
data "gpu_nodes" "all" {{}}
module "m" {{
  source = "./m"
}}
module "ms" {{
  source   = "./m"
  for_each = {{}}
}}
resource "terraform_data" "here" {{
  input = {text}
}}
"#
    );
    let (_, diagnostics) = read(&[("main.tf", &main), ("m/main.tf", "output \"o\" {\n  value = 1\n}\n")]);
    let found: Vec<_> = diagnostics.iter().map(|line| line.strip_prefix("main.tf:22:").unwrap_or(line)).collect();
    assert_eq!(found, expected, "for {text}");
}

#[test]
fn what_is_declared() {
    for text in [
        "var.v.x[0]",
        "local.l",
        "terraform_data.one.id",
        "resource.terraform_data.one",
        "terraform_data.counted[0].id",
        "terraform_data.counted[*].id",
        "terraform_data.counted.*.id",
        "terraform_data.counted",
        "terraform_data.each[\"x\"].id",
        "[for k, v in terraform_data.each : v.id]",
        "data.gpu_nodes.all.nodes[0]",
        "module.m.o",
        "module.m",
        "module.ms[\"x\"].o",
        "path.module",
        "terraform.workspace",
    ] {
        check(text, &[]);
    }
}

#[test]
fn what_is_not() {
    check("var.b", &["11 Reference to undeclared input variable"]);
    check("local.b", &["11 Reference to undeclared local value"]);
    check("terraform_data.b.id", &["11 Reference to undeclared resource"]);
    check("data.terraform_data.one", &["11 Reference to undeclared resource"]);
    check("module.b.c", &["11 Reference to undeclared module"]);
    check("module.m.typo", &["11 Unsupported attribute"]);
    check("module.ms[\"x\"].typo", &["11 Unsupported attribute"]);
    check("foo", &["11 Invalid reference"]);
    check("var", &["11 Invalid reference"]);
    check("data.x", &["11 Invalid reference"]);
    check("each.key", &["11 Reference to \"each\" in context without for_each"]);
    check("count.index", &["11 Reference to \"count\" in non-counted context"]);
    check("self.id", &["11 Invalid \"self\" reference"]);
    check("path.foo", &["11 Invalid \"path\" attribute"]);
    check("terraform.applying", &["11 Invalid reference"]);
    check("terraform_data.one[0].id", &["11 Unexpected instance key"]);
    check("terraform_data.counted.id", &["11 Missing instance key"]);
    check("terraform_data.each.id", &["11 Missing instance key"]);
    check("module.ms.o", &["11 Missing instance key"]);
    check("uper(\"x\")", &["11 Call to unknown function"]);
    check("[core::nope(provider::a::b(1)), try(max(1), 2)]", &["12 Call to unknown function"]);
    check("{ local.l = 1 }", &["13 Ambiguous attribute key"]);
    check("[for x in var.a : x + y]", &["21 Reference to undeclared input variable", "33 Invalid reference"]);
    check(
        "\"${var.a}%{ if var.b }%{ endif }\"",
        &["14 Reference to undeclared input variable", "26 Reference to undeclared input variable"],
    );
}

#[track_caller]
fn check_file(text: &str, expected: &[&str]) {
    let (_, diagnostics) = read(&[("main.tf", text)]);
    let found: Vec<_> = diagnostics.iter().map(|line| line.strip_prefix("main.tf:").unwrap_or(line)).collect();
    assert_eq!(found, expected, "for {text}");
}

#[test]
fn each_and_count_are_known_inside_of_what_is_repeated() {
    check_file("resource \"a_b\" \"c\" {\n  count = 1\n  x = count.index\n  y {\n    z = count.index\n  }\n}\n", &[]);
    check_file("resource \"a_b\" \"c\" {\n  for_each = {}\n  x = [each.key, each.value]\n}\n", &[]);
    check_file(
        "resource \"a_b\" \"c\" {\n  for_each = each.key\n}\n",
        &["2:14 Reference to \"each\" in context without for_each"],
    );
    check_file(
        "resource \"a_b\" \"c\" {\n  count = 1\n  x = each.key\n}\n",
        &["3:7 Reference to \"each\" in context without for_each"],
    );
}

#[test]
fn the_iterator_of_a_dynamic_block_is_known_in_its_content() {
    let dynamic = |iterator: &str, for_each: &str, content: &str| {
        format!(
            "resource \"a_b\" \"c\" {{\ndynamic \"x\" {{\n{iterator}\nfor_each = {for_each}\ncontent {{\ny = {content}\n}}\n}}\n}}\n"
        )
    };
    check_file(&dynamic("", "[]", "x.value"), &[]);
    check_file(&dynamic("iterator = it", "[]", "it.key"), &[]);
    check_file(&dynamic("iterator = it", "[]", "x.key"), &["6:5 Reference to undeclared resource"]);
    check_file(&dynamic("", "x.value", "1"), &["4:12 Reference to undeclared resource"]);
}

#[test]
fn depends_on() {
    let resource = |list: &str| format!("resource \"a_b\" \"c\" {{\n  depends_on = [{list}]\n}}\n");
    check_file(&resource("a_b.c"), &[]);
    check_file(&resource("a_b.d"), &["2:17 Reference to undeclared resource"]);
    check_file(&resource("a_b.c.id"), &["2:17 Invalid depends_on reference"]);
    check_file(&resource("module.m"), &["2:17 Reference to undeclared module"]);
    check_file(&resource("a"), &["2:17 Invalid reference"]);
}

#[test]
fn calls_give_what_the_module_asks_for() {
    let check = |arguments: &str, module: &str, expected: &[&str]| {
        let main = format!("module \"m\" {{\n  source = \"./m\"\n{arguments}\n}}\n");
        let (_, diagnostics) = read(&[("main.tf", &main), ("m/main.tf", module)]);
        assert_eq!(diagnostics, expected, "{arguments} of {module}");
    };
    check("a = 1", "variable \"a\" {}\nvariable \"b\" {\n  default = 1\n}\n", &[]);
    check("", "variable \"a\" {}\n", &["main.tf:1:1 Missing required argument"]);
    check("b = 1", "", &["main.tf:3:1 Unsupported argument"]);
    check("a {}", "", &["main.tf:3:1 Unsupported block type"]);
    check("count = 1", "provider \"gpu\" {}\n", &["m/main.tf:1:1 Redundant empty provider block"]);
    check("count = 1", "provider \"gpu\" {\n  host = 1\n}\n", &["main.tf:3:9 Module cannot be repeated"]);
}

#[test]
fn provider_configurations() {
    check_file("resource \"a_b\" \"c\" {\n  provider = a.west\n}\n", &["2:14 Provider configuration not present"]);
    check_file("resource \"a_b\" \"c\" {\n  provider = a\n}\n", &[]);
    check_file("provider \"a\" {\n  alias = \"west\"\n}\nresource \"a_b\" \"c\" {\n  provider = a.west\n}\n", &[]);
    let needs = "terraform {\n  required_providers {\n    a = {\n      source = \"x/a\"\n      configuration_aliases = [a.west]\n    }\n  }\n}\n";
    let (_, diagnostics) = read(&[("main.tf", "module \"m\" {\n  source = \"./m\"\n}\n"), ("m/main.tf", needs)]);
    assert_eq!(diagnostics, ["main.tf:1:1 Missing required provider configuration"]);
    let passes = "module \"m\" {\n  source = \"./m\"\n  providers = { a.west = a.typo, z = a }\n}\n";
    let (_, diagnostics) = read(&[("main.tf", passes), ("m/main.tf", needs)]);
    assert_eq!(
        diagnostics,
        ["main.tf:3:38 Reference to undefined provider", "main.tf:3:26 Provider configuration not present",]
    );
}
