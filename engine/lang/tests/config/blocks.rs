//! What each kind of block gives.

use engine_lang::config::{BackendKind, ProviderName, Repeat};
use engine_model::address::{Mode, ModulePath};
use engine_value::Type;

use crate::read::{read, valid};

#[test]
fn variables() {
    let config = valid(
        r#"
variable "a" {
  type        = list(object({ name = string, size = optional(number, 1), tags = optional(map(string)) }))
  default     = []
  sensitive   = true
  nullable    = false
  description = "what it is"
}
variable "b" {}
"#,
    );
    let a = &config.root.variables["a"];
    let Type::List(element) = &a.constraint.ty else { panic!("{:?}", a.constraint.ty) };
    let Type::Object(attributes) = &**element else { panic!("{element:?}") };
    let optional: Vec<_> = attributes.iter().map(|(name, attr)| (&**name, attr.optional)).collect();
    assert_eq!(optional, [("name", false), ("size", true), ("tags", true)]);
    let defaults = a.constraint.defaults.as_ref().unwrap().elements.as_ref().unwrap();
    assert_eq!(defaults.values.keys().map(|name| &**name).collect::<Vec<_>>(), ["size"]);
    assert!(a.sensitive && !a.nullable && a.has_type && a.default.is_some());
    assert_eq!(a.description.as_deref(), Some("what it is"));
    let b = &config.root.variables["b"];
    assert!(!b.sensitive && b.nullable && !b.has_type && b.default.is_none());
    assert_eq!(b.constraint.ty, Type::Dynamic);
}

#[test]
fn type_constraints() {
    for (text, expected) in [
        ("string", Type::String),
        ("any", Type::Dynamic),
        ("list", Type::list(Type::Dynamic)),
        ("set(number)", Type::set(Type::Number)),
        ("map(any)", Type::map(Type::Dynamic)),
        ("tuple([string, bool])", Type::tuple([Type::String, Type::Bool])),
        ("object({})", Type::empty_object()),
        ("(object({ \"a\" = list(bool) }))", Type::object([("a", Type::list(Type::Bool))])),
    ] {
        let config = valid(&format!("variable \"a\" {{\n  type = {text}\n}}\n"));
        assert_eq!(config.root.variables["a"].constraint.ty, expected, "{text}");
    }
    for text in [
        "strng",
        "list(string, bool)",
        "optional(string)",
        "object({ a = string, a = number })",
        "object([])",
        "tuple(string)",
        "object",
        "string()",
        "1",
        "list(string...)",
        "var.x",
    ] {
        let (_, diagnostics) = read(&[("main.tf", &format!("variable \"a\" {{\n  type = {text}\n}}\n"))]);
        assert_eq!(diagnostics.len(), 1, "{text}: {diagnostics:?}");
        assert!(diagnostics[0].ends_with(" Invalid type specification"), "{text}: {diagnostics:?}");
    }
    let (_, diagnostics) = read(&[("main.tf", "variable \"a\" {\n  type = \"string\"\n}\n")]);
    assert_eq!(diagnostics, ["main.tf:2:10 Invalid quoted type constraints"]);
}

#[test]
fn resources() {
    let config = valid(
        r#"
resource "gpu_pool" "dev" {
  count      = 2
  provider   = gpu.west
  depends_on = [terraform_data.x]
  selector   = {}
  lifecycle {
    create_before_destroy = true
    prevent_destroy       = true
  }
  dynamic "wait" {
    for_each = []
    content {}
  }
}
resource "terraform_data" "x" {}
data "gpu_nodes" "all" {
  for_each = {}
}
provider "gpu" {
  alias = "west"
  disruption = {}
}
"#,
    );
    let names: Vec<_> = config.root.resources.keys().map(ToString::to_string).collect();
    assert_eq!(names, ["data.gpu_nodes.all", "gpu_pool.dev", "terraform_data.x"]);
    let pool = config.root.resources.values().find(|r| &*r.name.ty == "gpu_pool").unwrap();
    assert_eq!(pool.name.mode, Mode::Managed);
    assert!(matches!(pool.repeat, Repeat::Count(_)));
    assert_eq!(pool.provider_name().to_string(), "gpu.west");
    assert_eq!(pool.depends_on.len(), 1);
    assert_eq!(pool.lifecycle.create_before_destroy, Some(true));
    assert!(pool.lifecycle.prevent_destroy.is_some());
    assert_eq!(pool.arguments.attributes().map(|a| a.name().to_string()).collect::<Vec<_>>(), ["selector"]);
    assert_eq!(pool.arguments.blocks().map(|b| b.kind().to_string()).collect::<Vec<_>>(), ["dynamic"]);
    let data = config.root.resources.values().find(|r| r.name.mode == Mode::Data).unwrap();
    assert!(matches!(data.repeat, Repeat::ForEach(_)));
    assert_eq!(data.provider_name().to_string(), "gpu");
    let provider = config.root.providers.values().next().unwrap();
    assert_eq!(provider.arguments.attributes().map(|a| a.name().to_string()).collect::<Vec<_>>(), ["disruption"]);
}

#[test]
fn locals_and_outputs() {
    let config = valid(
        "locals {\n  a = 1\n}\nlocals {\n  b = local.a\n}\noutput \"o\" {\n  value = local.b\n  sensitive = true\n}\n",
    );
    assert_eq!(config.root.locals.keys().map(|name| &**name).collect::<Vec<_>>(), ["a", "b"]);
    assert!(config.root.outputs["o"].sensitive);
}

#[test]
fn settings() {
    let config = valid(
        r#"
terraform {
  required_version = "~> 1.1, < 2"
  required_providers {
    gpu = {
      source  = "sliceform/gpu"
      version = ">= 0.1"
    }
    kube = {
      source                = "sliceform/kubernetes"
      configuration_aliases = [kube.west]
    }
    other = "~> 1.0"
  }
  backend "local" {
    path = "x.tfstate"
  }
}
"#,
    );
    let root = &config.root;
    assert_eq!(root.provider_addr("gpu").to_string(), "registry.terraform.io/sliceform/gpu");
    assert_eq!(root.provider_addr("kube").to_string(), "registry.terraform.io/hashicorp/kubernetes");
    assert_eq!(root.provider_addr("other").to_string(), "registry.terraform.io/hashicorp/other");
    assert_eq!(root.provider_addr("terraform").to_string(), "terraform.io/builtin/terraform");
    assert_eq!(root.settings.required_providers["kube"].configuration_aliases.len(), 1);
    let backend = root.settings.backend.as_ref().unwrap();
    assert_eq!(backend.kind, BackendKind::Local { path: Some("x.tfstate".into()) });
}

#[test]
fn providers_are_looked_up_along_the_calls() {
    let (config, diagnostics) = read(&[
        (
            "main.tf",
            r#"
provider "kubernetes" {}
provider "kubernetes" {
  alias = "west"
}
module "a" {
  source    = "./a"
  providers = { k8s.main = kubernetes.west }
}
"#,
        ),
        (
            "a/main.tf",
            r#"
terraform {
  required_providers {
    k8s = {
      source                = "hashicorp/kubernetes"
      configuration_aliases = [k8s.main]
    }
  }
}
module "b" {
  source    = "../b"
  providers = { kubernetes = k8s.main }
}
module "c" {
  source = "../b"
}
"#,
        ),
        ("b/main.tf", "resource \"kubernetes_namespace\" \"x\" {}\n"),
    ]);
    assert_eq!(diagnostics, Vec::<String>::new());
    let resolve = |path: &[&str], name: &str, alias: Option<&str>| {
        let path = ModulePath(path.iter().map(|name| (*name).into()).collect());
        let name = ProviderName { name: name.into(), alias: alias.map(Into::into) };
        config.provider(&path, &name).map(|resolved| (resolved.addr.to_string(), resolved.block.is_some()))
    };
    let addr = |alias: &str| format!("provider[\"registry.terraform.io/hashicorp/kubernetes\"]{alias}");
    assert_eq!(resolve(&[], "kubernetes", None), Some((addr(""), true)));
    assert_eq!(resolve(&["a"], "k8s", Some("main")), Some((addr(".west"), true)));
    assert_eq!(resolve(&["a", "b"], "kubernetes", None), Some((addr(".west"), true)));
    assert_eq!(resolve(&["a", "c"], "kubernetes", None), Some((addr(""), true)));
    assert_eq!(resolve(&["a"], "k8s", Some("typo")), None);
    let gpu = "provider[\"registry.terraform.io/sliceform/gpu\"]".to_owned();
    assert_eq!(resolve(&["a", "b"], "gpu", None), Some((gpu, false)));
}
