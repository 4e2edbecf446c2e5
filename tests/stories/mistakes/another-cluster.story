The same configuration leads to another cluster than the state was made for: nothing is read, and nothing is changed.

-- main.tf --
provider "mock" {
  cluster = "cluster-1"
}

resource "mock_object" "a" {
}
$ sliceform apply -auto-approve
| Sliceform will perform the following actions, indicated with these symbols:
|   + create
|
|   # mock_object.a will be created
|   + resource "mock_object" "a" {
|       + id   = (known after apply)
|       + size = 0
|     }
|
| Plan: 1 to add, 0 to change, 0 to destroy.
| mock_object.a: Creating...
| mock_object.a: Creation complete after 0s [id=mock_object.a/1]
|
| Apply complete! Resources: 1 added, 0 changed, 0 destroyed.
! writes
| create mock_object.a
-- main.tf --
provider "mock" {
  cluster = "cluster-2"
}

resource "mock_object" "a" {
}
$ sliceform plan
| Error: Another cluster
|  --> main.tf:1:1
|   |
| 1 | provider "mock" {
|   | ^^^^^^^^^^^^^^^
|   |
|   = The state describes the cluster cluster-1 behind provider["registry.terraform.io/hashicorp/mock"], and that leads to the cluster cluster-2 now (the UID of the namespace kube-system). Nothing was read, and nothing is planned for it.
|   = with provider["registry.terraform.io/hashicorp/mock"]
| help: Point the provider, or the context of the kubeconfig, at the cluster that the state describes; or use a state of its own for this one.
|
| Error: Planning failed
|   What is shown above is as far as it got. It is not saved, and nothing was changed.
|
| [exit 1]
$ sliceform apply -auto-approve
| Error: Another cluster
|  --> main.tf:1:1
|   |
| 1 | provider "mock" {
|   | ^^^^^^^^^^^^^^^
|   |
|   = The state describes the cluster cluster-1 behind provider["registry.terraform.io/hashicorp/mock"], and that leads to the cluster cluster-2 now (the UID of the namespace kube-system). Nothing was read, and nothing is planned for it.
|   = with provider["registry.terraform.io/hashicorp/mock"]
| help: Point the provider, or the context of the kubeconfig, at the cluster that the state describes; or use a state of its own for this one.
|
| Error: Planning failed
|   What is shown above is as far as it got. It is not saved, and nothing was changed.
|
| [exit 1]
$ sliceform destroy -auto-approve
| Error: Another cluster
|  --> main.tf:1:1
|   |
| 1 | provider "mock" {
|   | ^^^^^^^^^^^^^^^
|   |
|   = The state describes the cluster cluster-1 behind provider["registry.terraform.io/hashicorp/mock"], and that leads to the cluster cluster-2 now (the UID of the namespace kube-system). Nothing was read, and nothing is planned for it.
|   = with provider["registry.terraform.io/hashicorp/mock"]
| help: Point the provider, or the context of the kubeconfig, at the cluster that the state describes; or use a state of its own for this one.
|
| Sliceform will perform the following actions, indicated with these symbols:
|   - destroy
|
|   # mock_object.a will be destroyed   (destroy)
|   - resource "mock_object" "a" {
|       - id   = "mock_object.a/1" -> null
|       - size = 0 -> null
|     }
|
| Plan: 0 to add, 0 to change, 1 to destroy.
| Error: Planning failed
|   What is shown above is as far as it got. It is not saved, and nothing was changed.
|
| [exit 1]
! writes
