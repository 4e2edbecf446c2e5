output "resources" {
  description = "How many of each resource the pool offers."
  value       = gpu_pool.this.resources
}

output "nodes" {
  description = "The pool's nodes, with the layout of each card."
  value       = gpu_pool.this.nodes
}
