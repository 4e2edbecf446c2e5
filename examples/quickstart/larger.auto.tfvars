profiles = {
  notebooks = { product = "A100-SXM4-80GB", cards = 2, mig = { "3g.40gb" = 2 } }
  rest      = { whole = true }
}
tenants = {
  team-a = { create_namespace = true, slices = { "nvidia.com/mig-3g.40gb" = 4 } }
}
