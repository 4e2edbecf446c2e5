//! Damaged configurations: loading returns, and every place is in its file.

use engine_diag::Sources;
use engine_lang::config::{SourceTree, load};
use proptest::prelude::*;

use crate::read::read;

const MAIN: &str = r#"
terraform {
  required_version = ">= 1.5"
  required_providers {
    gpu = { source = "sliceform/gpu", version = ">= 0.1" }
  }
  backend "local" {}
}

provider "gpu" {
  disruption = {
    max_unavailable = "10%"
    protect         = { namespaces = ["training-*"], on_hit = "wait" }
  }
}

provider "gpu" {
  alias = "west"
}

variable "profiles" {
  type = map(object({
    product = optional(string)
    cards   = optional(number, 1)
    mig     = optional(map(number), {})
  }))
  default = { rest = {} }
}

locals {
  names = [for name, profile in var.profiles : name if profile.cards != null]
}

resource "gpu_pool" "dev" {
  selector       = { "example.com/pool" = "dev" }
  partitioned_by = "agent"

  profiles = {
    notebooks = {
      product = "A100-SXM4-80GB"
      mig     = { "1g.10gb" = 3, "2g.20gb" = 2 }
    }
    rest = { whole = true }
  }

  lifecycle {
    prevent_destroy = true
  }
}

resource "kubernetes_namespace" "team" {
  for_each = toset(["a", "b"])
  metadata {
    name = "team-${each.key}"
    dynamic "labels" {
      for_each = local.names
      iterator = label
      content {
        key = label.value
      }
    }
  }
}

module "quota" {
  source     = "./quota"
  count      = length(local.names)
  namespace  = kubernetes_namespace.team["a"].metadata[0].name
  resources  = gpu_pool.dev.resources
  providers  = { gpu = gpu.west }
  depends_on = [gpu_pool.dev]
}

output "quotas" {
  value       = module.quota[*].slices
  description = "what each team may ask for"
  sensitive   = true
}
"#;

const QUOTA: &str = r#"
variable "namespace" { type = string }
variable "resources" { type = map(number) }

data "gpu_nodes" "all" {}

resource "gpu_quota" "this" {
  namespace = var.namespace
  slices    = { for name, count in var.resources : name => min(count, length(data.gpu_nodes.all.nodes)) }
}

output "slices" {
  value = gpu_quota.this.slices
}
"#;

#[test]
fn the_configuration_is_valid() {
    let (config, diagnostics) = read(&[("main.tf", MAIN), ("quota/main.tf", QUOTA)]);
    assert_eq!(diagnostics, Vec::<String>::new());
    assert_eq!(config.modules().len(), 2);
    assert_eq!(config.root.resources.len(), 2);
}

fn invariants(main: &str) {
    invariants_of("main.tf", main);
}

fn invariants_of(name: &str, main: &str) {
    let mut tree = SourceTree::new();
    tree.insert(name, main.as_bytes());
    tree.insert("quota/main.tf", QUOTA.as_bytes());
    let mut sources = Sources::new();
    let (_, diagnostics) = load(&tree, &mut sources);
    for diagnostic in diagnostics.iter() {
        for span in diagnostic.span.iter().chain(diagnostic.related.iter().map(|label| &label.span)) {
            let text = &sources.get(span.file).text;
            assert!(text.get(span.start as usize..span.end as usize).is_some(), "{diagnostic:?}");
        }
    }
}

const JSON: &str = r#"{
  "//": "a comment", "terraform": {"required_version": ">= 1.5", "backend": {"local": {"path": "x"}}},
  "variable": {"p": {"type": "map(object({ a = optional(string, \"é\") }))", "default": {}}},
  "locals": [{"a": "${var.p[\"x\"].a}\n-%{ if true }y%{ endif }"}, {"b": [1.5e3, null, {"k${local.a}": true}]}],
  "resource": {"terraform_data": {"a": [{"for_each": "${var.p}", "input": {"dynamic": {"x": {"for_each": [],
    "iterator": "it", "content": {"y": "${it.value}"}}}}, "lifecycle": {"ignore_changes": ["input"],
    "precondition": {"condition": "${local.a != null}", "error_message": "no"}}, "depends_on": ["module.q"]}]}},
  "module": {"q": {"source": "./quota", "namespace": "n\u00e9", "resources": {}}},
  "moved": {"from": "terraform_data.z[\"é\"]", "to": "terraform_data.a"}
}"#;

#[test]
fn the_configuration_in_json_is_valid() {
    let (_, diagnostics) = read(&[("main.tf.json", JSON), ("quota/main.tf", QUOTA)]);
    assert_eq!(diagnostics, Vec::<String>::new());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_piece_of_json_is_missing_or_twice(from in 0..JSON.len(), length in 0usize..80, to in 0..JSON.len()) {
        let boundary = |mut at: usize| {
            while !JSON.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let (from, to) = (boundary(from), boundary(to));
        let end = boundary((from + length).min(JSON.len())).max(from);
        invariants_of("main.tf.json", &format!("{}{}", &JSON[..from], &JSON[end..]));
        invariants_of("main.tf.json", &format!("{}{}{}", &JSON[..to], &JSON[from..end], &JSON[to..]));
    }

    #[test]
    fn a_piece_is_missing_or_twice(from in 0..MAIN.len(), length in 0usize..200, to in 0..MAIN.len()) {
        let end = (from + length).min(MAIN.len());
        invariants(&format!("{}{}", &MAIN[..from], &MAIN[end..]));
        invariants(&format!("{}{}{}", &MAIN[..to], &MAIN[from..end], &MAIN[to..]));
    }

    #[test]
    fn a_word_is_replaced(
        at in 0usize..400,
        word in proptest::sample::select(vec![
            "null", "\"\"", "{}", "[]", "each.key", "gpu_pool", "source", "dynamic", "1", "${x}", "count", "var.profiles",
        ]),
    ) {
        let words: Vec<&str> = MAIN.split_inclusive(char::is_whitespace).collect();
        let at = at % words.len();
        let mut words: Vec<String> = words.into_iter().map(str::to_owned).collect();
        words[at] = format!("{word} ");
        invariants(&words.concat());
    }

    #[test]
    fn a_value_of_json_is_replaced(
        at in 0usize..200,
        word in proptest::sample::select(vec![
            "null", "\"\"", "{}", "[]", "1", "\"${\"", "\"dynamic\"", "[[{}]]", "{\"dynamic\": {\"a\": {\"content\": {}}}}", "\"\\ud800\"",
        ]),
    ) {
        let words: Vec<&str> = JSON.split_inclusive([':', ',', '{']).collect();
        let at = at % words.len();
        let mut words: Vec<String> = words.into_iter().map(str::to_owned).collect();
        let sign = words[at].pop().unwrap();
        words[at] = format!("{word}{sign}");
        invariants_of("main.tf.json", &words.concat());
    }
}
