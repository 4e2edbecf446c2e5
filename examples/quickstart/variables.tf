variable "profiles" {
  description = "How the cards of the pool are cut."
  type        = any

  default = {
    notebooks = {
      product = "A100-SXM4-80GB"
      cards   = 2
      mig     = { "1g.10gb" = 3, "2g.20gb" = 2 }
    }
    rest = { whole = true }
  }
}

variable "tenants" {
  description = "What each namespace may ask for."
  type        = any

  default = {
    team-a = {
      create_namespace = true
      slices           = { "nvidia.com/mig-1g.10gb" = 4 }
    }
    team-b = {
      slices = { "nvidia.com/mig-2g.20gb" = 2, "nvidia.com/gpu" = 4 }
    }
  }
}
