A provider, and a type, that this release does not have.

-- main.tf --
resource "aws_instance" "web" {
  ami = "ami-1"
}

resource "mock_objekt" "a" {
}
$ sliceform plan
| Error: Invalid resource type
|  --> main.tf:5:1
|   |
| 5 | resource "mock_objekt" "a" {
|   | ^^^^^^^^^^^^^^^^^^^^^^^^^^
|   |
|   = The provider registry.terraform.io/hashicorp/mock has no resource type "mock_objekt". It has mock_node_change, mock_object.
| help: Did you mean "mock_object"?
|
| Error: Unknown provider
|  --> main.tf:1:1
|   |
| 1 | resource "aws_instance" "web" {
|   | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
|   |
|   = This release does not have registry.terraform.io/hashicorp/aws (aws_instance). It has registry.terraform.io/hashicorp/kubernetes, registry.terraform.io/hashicorp/mock, registry.terraform.io/sliceform/gpu, terraform.io/builtin/terraform.
| help: To check such a configuration, write their schemas to a file (terraform providers schema -json), and give validate -schemas=FILE.
|
| Error: Planning failed
|   What is shown above is as far as it got. It is not saved, and nothing was changed.
|
| [exit 1]

-- main.tf --
terraform {
  required_providers {
    gpu = {
      source  = "sliceform/gpu"
      version = ">= 7.0"
    }
    kubernetes = {
      source = "acme/kubernetes"
    }
  }
}

provider "kubernetes" {}
$ sliceform plan
| Error: Unknown provider
|  --> main.tf:7:5
|   |
| 7 |     kubernetes = {
|   |     ^^^^^^^^^^^^^^
|   |
|   = This release does not have registry.terraform.io/acme/kubernetes. It has registry.terraform.io/hashicorp/kubernetes, registry.terraform.io/hashicorp/mock, registry.terraform.io/sliceform/gpu, terraform.io/builtin/terraform.
| help: Did you mean "kubernetes"?
|
| Error: Unsupported provider version
|  --> main.tf:5:17
|   |
| 5 |       version = ">= 7.0"
|   |                 ^^^^^^^^
|   |
|   = registry.terraform.io/sliceform/gpu has the version 0.1.0 in this release, and ">= 7.0" is required.
| help: Use a release of Sliceform that has it, or allow this one.
|
| Error: Planning failed
|   What is shown above is as far as it got. It is not saved, and nothing was changed.
|
| [exit 1]
$ sliceform init
| The providers are compiled in; there is nothing to download.
|
| Sliceform has been successfully initialized!
