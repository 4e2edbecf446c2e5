# Three A100 nodes for a development team: slices for notebooks, whole cards for what remains.

terraform {
  required_providers {
    gpu        = { source = "sliceform/gpu" }
    kubernetes = { source = "sliceform/kubernetes" }
  }
}

provider "gpu" {
  disruption = {
    max_unavailable = 1
  }
}

module "dev" {
  source = "../../modules/pool"

  name       = "dev"
  selector   = { "example.com/pool" = "dev" }
  profiles   = var.profiles
  tenants    = var.tenants
  on_destroy = "restore"
}

output "resources" {
  description = "What the pool offers."
  value       = module.dev.resources
}
