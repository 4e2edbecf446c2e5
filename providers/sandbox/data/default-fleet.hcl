# The fleet of `-sandbox` without a file of its own: three nodes to be sliced, one for training, one for inference.

node "gpu-01" {
  labels = { "example.com/pool" = "dev", "topology.kubernetes.io/zone" = "zone-a" }
  card "A100-SXM4-80GB" { count = 2 }
}

node "gpu-02" {
  labels = { "example.com/pool" = "dev", "topology.kubernetes.io/zone" = "zone-a" }
  card "A100-SXM4-80GB" { count = 2 }
}

node "gpu-03" {
  labels = { "example.com/pool" = "dev", "topology.kubernetes.io/zone" = "zone-b" }
  card "A100-SXM4-80GB" { count = 2 }
}

node "train-01" {
  labels = { "example.com/pool" = "training", "topology.kubernetes.io/zone" = "zone-b" }
  card "H100-80GB-HBM3" { count = 8 }
}

node "infer-01" {
  labels = { "example.com/pool" = "inference", "topology.kubernetes.io/zone" = "zone-a" }
  card "L4" { count = 4 }
}

pod "training/llm-0" {
  resources     = { "nvidia.com/gpu" = 4 }
  node_selector = { "example.com/pool" = "training" }
  owner         = "job/llm"
  priority      = 1000
  busy          = true
}

pod "serving/embed-0" {
  resources     = { "nvidia.com/gpu" = 1 }
  node_selector = { "example.com/pool" = "inference" }
  owner         = "deployment/embed"
  busy          = true
}

pod "team-b/nb-1" {
  resources     = { "nvidia.com/gpu" = 1 }
  node_selector = { "kubernetes.io/hostname" = "gpu-01" }
  owner         = "deployment/notebook"
}
