A plan of one cluster is not applied to another one: here the sandbox was begun anew between the two.

-- main.tf --
resource "kubernetes_namespace" "a" {
  metadata {
    name = "team-a"
  }
}
$ sliceform plan -sandbox -out=p
| Sliceform will perform the following actions, indicated with these symbols:
|   + create
|
|   # kubernetes_namespace.a will be created
|   + resource "kubernetes_namespace" "a" {
|       + id                               = "team-a"
|       + metadata                         = [
|           + {
|               + generation       = (known after apply)
|               + name             = "team-a"
|               + resource_version = (known after apply)
|               + uid              = (known after apply)
|             },
|         ]
|       + wait_for_default_service_account = false
|     }
|
| Plan: 1 to add, 0 to change, 0 to destroy.
|
| Saved the plan to: p
|
| To perform exactly these actions, run:
|     sliceform apply p
$ sliceform sandbox reset
| The sandbox and its state are gone.
$ sliceform apply p
| provider["registry.terraform.io/hashicorp/kubernetes"]: Failed after 0s
| Error: Another cluster
|   provider["registry.terraform.io/hashicorp/kubernetes"] now leads to the cluster 13ff9c83-2b86-40d5-a746-f0132c763878; this was made for the cluster 69def27b-5e76-4046-88ba-cd0b402b1e6d (the UID of its kube-system namespace).
|   Point the provider, or the kubeconfig context, at the cluster that this was made for. A new cluster needs a state of its own.
|
|
| Apply incomplete. Resources: 0 added, 0 changed, 0 destroyed.
| [exit 1]
