# One pool of GPU nodes, and what each of its tenants may ask for.

terraform {
  required_providers {
    gpu        = { source = "sliceform/gpu", version = ">= 0.1" }
    kubernetes = { source = "sliceform/kubernetes", version = ">= 0.1" }
  }
}

resource "gpu_pool" "this" {
  selector   = var.selector
  profiles   = var.profiles
  on_destroy = var.on_destroy
}

resource "kubernetes_namespace" "tenant" {
  for_each = { for name, tenant in var.tenants : name => tenant if tenant.create_namespace }

  metadata {
    name   = each.key
    labels = { "sliceform.io/pool" = var.name }
  }
}

resource "gpu_quota" "tenant" {
  for_each = var.tenants

  namespace = each.key
  slices    = each.value.slices

  # The namespace must be there, and a quota is raised only when the slices are.
  depends_on = [kubernetes_namespace.tenant, gpu_pool.this]
}
