An API server that nobody listens at: one error, within no time, and nothing is changed.

-- main.tf --
provider "kubernetes" {
  host  = "https://127.0.0.1:1"
  token = "x"
}

resource "kubernetes_namespace" "a" {
  metadata {
    name = "team-a"
  }
}
$ sliceform plan
| Error: Cluster does not answer
|   Cannot read namespace kube-system, whose UID tells clusters apart: https://127.0.0.1:1 refuses connections: Connection refused (os error 111).
|   with provider["registry.terraform.io/hashicorp/kubernetes"]
|   Check that the API server runs there and that the port is right.
|
| Error: Planning failed
|   What is shown above is as far as it got. It is not saved, and nothing was changed.
|
| [exit 1]
$ sliceform apply -auto-approve
| Error: Cluster does not answer
|   Cannot read namespace kube-system, whose UID tells clusters apart: https://127.0.0.1:1 refuses connections: Connection refused (os error 111).
|   with provider["registry.terraform.io/hashicorp/kubernetes"]
|   Check that the API server runs there and that the port is right.
|
| Error: Planning failed
|   What is shown above is as far as it got. It is not saved, and nothing was changed.
|
| [exit 1]
! files
| main.tf
