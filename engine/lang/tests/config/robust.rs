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
    let mut tree = SourceTree::new();
    tree.insert("main.tf", main.as_bytes());
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

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
}
