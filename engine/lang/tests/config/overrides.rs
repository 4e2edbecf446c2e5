//! Override files: what they change, and what they cannot.

use engine_lang::config::{BackendKind, Repeat};

use crate::read::read;

const BASE: &str = r#"terraform {
  required_providers {
    gpu = { source = "sliceform/gpu", version = ">= 0.1" }
    terraform = { source = "terraform.io/builtin/terraform" }
  }
  backend "local" {
    path = "base"
  }
}
variable "v" {
  type        = number
  default     = 1
  description = "base"
}
locals {
  a = 1
  b = 2
}
output "o" {
  value     = local.a
  sensitive = true
}
resource "terraform_data" "a" {
  count            = 2
  input            = "base"
  triggers_replace = "base"
  lifecycle {
    create_before_destroy = true
    ignore_changes        = [input]
  }
  provisioner "local-exec" {
    command = "base"
  }
}
module "m" {
  source = "./nowhere"
  x      = 1
}
"#;

fn with_override(text: &str) -> (engine_lang::config::Config, Vec<String>) {
    read(&[
        ("main.tf", BASE),
        ("x_override.tf", text),
        ("m/m.tf", "variable \"x\" {}\nvariable \"y\" {\n  default = 1\n}\n"),
    ])
}

const SOURCE: &str = "module \"m\" {\n  source = \"./m\"\n}\n";

#[test]
fn what_is_written_later_wins() {
    let (config, diagnostics) = read(&[
        ("main.tf", BASE),
        (
            "override.tf",
            r#"
terraform {
  required_providers {
    gpu = { source = "sliceform/gpu", version = ">= 0.2" }
  }
  backend "local" {}
}
variable "v" {
  default = 2
}
locals {
  b = 3
}
output "o" {
  value = local.b
}
resource "terraform_data" "a" {
  input = "over"
  lifecycle {
    prevent_destroy = true
  }
  provisioner "local-exec" {
    command = "over"
  }
  provisioner "local-exec" {
    command = "more"
  }
}
module "m" {
  source = "./m"
  y      = 2
}
provider "terraform" {}
"#,
        ),
        (
            "z_override.tf.json",
            r#"{"resource": {"terraform_data": {"a": {"for_each": "${toset([])}", "input": "last"}}}}"#,
        ),
        ("m/m.tf", "variable \"x\" {}\nvariable \"y\" {}\n"),
    ]);
    assert_eq!(diagnostics, Vec::<String>::new());
    let root = &config.root;
    let versions: Vec<_> = root
        .settings
        .required_providers
        .iter()
        .map(|(name, one)| (&**name, one.version.as_ref().map(|(version, _)| version.to_string())))
        .collect();
    assert_eq!(versions, [("gpu", Some(">= 0.2".to_owned())), ("terraform", None)]);
    let BackendKind::Local { path } = &root.settings.backend.as_ref().unwrap().kind;
    assert_eq!(*path, None);
    let v = &root.variables["v"];
    assert_eq!(v.description.as_deref(), Some("base"));
    assert!(v.has_type && v.default.as_ref().unwrap().span().file.0 == 1);
    assert_eq!(root.locals["a"].span.file.0, 0);
    assert_eq!(root.locals["b"].span.file.0, 1);
    assert!(root.outputs["o"].sensitive && root.outputs["o"].value.span().file.0 == 1);
    let a = root.resources.values().next().unwrap();
    // As in Terraform: count of the one and for_each of the other are both there, and count is looked at first.
    assert!(matches!(a.repeat, Repeat::Count(_)));
    let attributes: Vec<_> = a.arguments.attributes().map(|a| (a.name().to_string(), a.span().file.0)).collect();
    assert_eq!(attributes, [("triggers_replace".to_owned(), 0), ("input".to_owned(), 2)]);
    assert_eq!(a.arguments.body.blocks().filter(|block| &**block.kind() == "provisioner").count(), 2);
    assert_eq!(a.lifecycle.create_before_destroy, Some(true));
    assert!(a.lifecycle.prevent_destroy.is_some());
    assert_eq!(root.calls["m"].arguments.attributes().count(), 2);
    assert_eq!(root.providers.len(), 1);
}

#[test]
fn what_cannot_be_overridden() {
    for (text, expected) in [
        ("variable \"q\" {}\n", "4:1 Missing base variable declaration to override"),
        ("locals {\n  c = 3\n}\n", "5:3 Missing base local value definition to override"),
        ("output \"n\" {\n  value = 1\n}\n", "4:1 Missing base output definition to override"),
        ("resource \"terraform_data\" \"z\" {}\n", "4:1 Missing base resource to override"),
        ("data \"terraform_data\" \"a\" {}\n", "4:1 Missing base data resource to override"),
        ("module \"n\" {\n  source = \"./m\"\n}\n", "4:1 Missing base module call to override"),
        ("provider \"gpu\" {\n  alias = \"west\"\n}\n", "4:1 Missing base provider configuration to override"),
        ("moved {\n  from = a.b\n  to = a.c\n}\n", "4:1 Cannot override 'moved' blocks"),
        ("check \"c\" {}\n", "4:1 Cannot override 'check' blocks"),
        ("foo {}\n", "4:1 Unsupported block type"),
        ("foo = 1\n", "4:1 Unsupported argument"),
        ("output \"o\" {\n  depends_on = [module.m]\n}\n", "5:16 Unsupported override"),
        ("variable \"v\" {\n  default = \"x\"\n}\n", "5:13 Invalid default value for variable"),
        ("variable \"v\" {\n  typo = 1\n}\n", "5:3 Unsupported argument"),
        ("resource \"terraform_data\" \"a\" {\n  lifecycle {\n    typo = 1\n  }\n}\n", "6:5 Unsupported argument"),
    ] {
        let (_, diagnostics) = with_override(&format!("{SOURCE}{text}"));
        assert_eq!(diagnostics, [format!("x_override.tf:{expected}")], "for {text}");
    }
}

#[test]
fn what_is_overridden_must_be_right_by_itself() {
    let (_, diagnostics) = read(&[
        ("main.tf", "output \"o\" {}\nvariable \"v\" {\n  type = nmber\n}\n"),
        ("override.tf", "output \"o\" {\n  value = 1\n}\nvariable \"v\" {\n  type = number\n}\n"),
    ]);
    assert_eq!(diagnostics, ["main.tf:1:12 Missing required argument", "main.tf:3:10 Invalid type specification"]);
}
