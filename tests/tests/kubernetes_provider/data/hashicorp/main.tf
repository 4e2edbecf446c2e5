terraform {
  required_providers {
    kubernetes = {
      source = "hashicorp/kubernetes"
    }
  }
}

resource "kubernetes_namespace" "team" {
  metadata {
    name   = "team-a"
    labels = { team = "a" }
  }
}

resource "kubernetes_config_map" "settings" {
  metadata {
    name        = "settings"
    namespace   = kubernetes_namespace.team.metadata[0].name
    annotations = { note = "kept" }
  }
  data        = { mode = "fast", empty = "" }
  binary_data = { raw = "/w==" }
}

resource "kubernetes_config_map_v1" "plain" {
  metadata {
    generate_name = "plain-"
  }
}

resource "kubernetes_secret" "login" {
  metadata {
    name      = "login"
    namespace = kubernetes_namespace.team.metadata[0].name
  }
  data        = { token = "plain-token" }
  binary_data = { raw = "/w==" }
}

resource "kubernetes_secret_v1" "unstored" {
  metadata {
    name      = "unstored"
    namespace = kubernetes_namespace.team.metadata[0].name
  }
  data_wo          = { token = "other-token" }
  data_wo_revision = 1
}

resource "kubernetes_resource_quota" "compute" {
  metadata {
    name      = "compute"
    namespace = kubernetes_namespace.team.metadata[0].name
  }
  spec {
    hard = {
      pods                      = 10
      "requests.cpu"            = "4000m"
      "limits.memory"           = "8Gi"
      "requests.nvidia.com/gpu" = 4
    }
  }
}

resource "kubernetes_resource_quota_v1" "scoped" {
  metadata {
    name      = "scoped"
    namespace = kubernetes_namespace.team.metadata[0].name
  }
  spec {
    hard = { pods = "5" }
    scope_selector {
      match_expression {
        scope_name = "PriorityClass"
        operator   = "In"
        values     = ["high"]
      }
    }
  }
}

resource "kubernetes_limit_range" "pods" {
  metadata {
    name      = "pods"
    namespace = kubernetes_namespace.team.metadata[0].name
  }
  spec {
    limit {
      type    = "Container"
      default = { cpu = "500m", memory = "512Mi" }
    }
    limit {
      type = "Pod"
      max  = { cpu = "2" }
    }
  }
}

resource "kubernetes_priority_class" "high" {
  metadata {
    name = "high"
  }
  value       = 1000
  description = "before all others"
}

resource "kubernetes_service_account" "ci" {
  metadata {
    name      = "ci"
    namespace = kubernetes_namespace.team.metadata[0].name
  }
  image_pull_secret {
    name = "login"
  }
  secret {
    name = "login"
  }
}

resource "kubernetes_role" "reader" {
  metadata {
    name      = "reader"
    namespace = kubernetes_namespace.team.metadata[0].name
    labels    = { team = "a" }
  }
  rule {
    api_groups     = [""]
    resources      = ["pods", "configmaps"]
    resource_names = ["b", "a"]
    verbs          = ["list", "get", "watch"]
  }
  rule {
    api_groups = ["apps"]
    resources  = ["deployments"]
    verbs      = ["get"]
  }
}

resource "kubernetes_role_binding" "reader" {
  metadata {
    name      = "reader"
    namespace = kubernetes_namespace.team.metadata[0].name
  }
  role_ref {
    api_group = "rbac.authorization.k8s.io"
    kind      = "Role"
    name      = kubernetes_role.reader.metadata[0].name
  }
  subject {
    kind      = "ServiceAccount"
    name      = kubernetes_service_account.ci.metadata[0].name
    namespace = "team-a"
  }
  subject {
    kind = "User"
    name = "jane"
  }
  subject {
    kind      = "Group"
    name      = "system:masters"
    api_group = "rbac.authorization.k8s.io"
  }
}

resource "kubernetes_cluster_role" "nodes" {
  metadata {
    name = "nodes-reader"
  }
  rule {
    api_groups = [""]
    resources  = ["nodes"]
    verbs      = ["get", "list"]
  }
  rule {
    non_resource_urls = ["/healthz"]
    verbs             = ["get"]
  }
}

resource "kubernetes_cluster_role_v1" "sum" {
  metadata {
    name = "sum"
  }
  aggregation_rule {
    cluster_role_selectors {
      match_labels = { "example.com/sum" = "true" }
    }
    cluster_role_selectors {
      match_expressions {
        key      = "example.com/more"
        operator = "Exists"
      }
    }
  }
}

resource "kubernetes_cluster_role_binding" "nodes" {
  metadata {
    name = "nodes-reader"
  }
  role_ref {
    api_group = "rbac.authorization.k8s.io"
    kind      = "ClusterRole"
    name      = kubernetes_cluster_role.nodes.metadata[0].name
  }
  subject {
    kind = "Group"
    name = "platform"
  }
}

resource "kubernetes_labels" "settings" {
  api_version = "v1"
  kind        = "ConfigMap"
  metadata {
    name      = kubernetes_config_map.settings.metadata[0].name
    namespace = kubernetes_config_map.settings.metadata[0].namespace
  }
  labels = { shared = "yes" }
}

resource "kubernetes_annotations" "settings" {
  api_version = "v1"
  kind        = "Secret"
  metadata {
    name      = kubernetes_secret.login.metadata[0].name
    namespace = "team-a"
  }
  annotations = { shared = "yes" }
}

resource "kubernetes_config_map_v1_data" "more" {
  metadata {
    name      = kubernetes_config_map_v1.plain.metadata[0].name
  }
  data = { more = "1" }
}
