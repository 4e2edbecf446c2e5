variable "name" {
  description = "Name of the pool: a label of the namespaces that it makes."
  type        = string
}

variable "selector" {
  description = "Labels that the pool's nodes have. Not labels that slicing rewrites, such as nvidia.com/gpu.product."
  type        = map(string)
}

variable "profiles" {
  description = "How the cards are cut, by name. A profile without product and cards takes what remains."
  type = map(object({
    product = optional(string)
    cards   = optional(number)
    mig     = optional(map(number))
    whole   = optional(bool)
  }))
}

variable "tenants" {
  description = "What each namespace may ask for, by resource name. Everything else is zero."
  type = map(object({
    create_namespace = optional(bool, false)
    slices           = map(number)
  }))
  default = {}
}

variable "on_destroy" {
  description = "What becomes of the cards: keep, restore (the layout found first) or whole."
  type        = string
  default     = "keep"
}
