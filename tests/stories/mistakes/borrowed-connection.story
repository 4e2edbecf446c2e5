The gpu provider takes the connection of the kubernetes provider where its own block gives none; where it gives one, that
one holds.

-- main.tf --
provider "kubernetes" {
  host = "https://127.0.0.1:1"
}

data "gpu_nodes" "all" {
}
$ sliceform plan
| Error: Cluster does not answer
|   Cannot read namespace kube-system, whose UID tells clusters apart: https://127.0.0.1:1 refuses connections: Connection refused (os error 111).
|   with provider["registry.terraform.io/sliceform/gpu"]
|   Check that the API server runs there and that the port is right.
|
| Error: Planning failed
|   What is shown above is as far as it got. It is not saved, and nothing was changed.
|
| [exit 1]
-- main.tf --
provider "kubernetes" {
  host = "https://127.0.0.1:1"
}

provider "gpu" {
  host = "https://127.0.0.1:2"
}

data "gpu_nodes" "all" {
}
$ sliceform plan
| Error: Cluster does not answer
|   Cannot read namespace kube-system, whose UID tells clusters apart: https://127.0.0.1:2 refuses connections: Connection refused (os error 111).
|   with provider["registry.terraform.io/sliceform/gpu"]
|   Check that the API server runs there and that the port is right.
|
| Error: Planning failed
|   What is shown above is as far as it got. It is not saved, and nothing was changed.
|
| [exit 1]
