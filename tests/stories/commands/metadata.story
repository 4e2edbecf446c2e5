What other tools ask: modules, functions, schemas; and variables of the environment.

-- main.tf --
module "a" {
  source = "./a"
}

module "b" {
  source = "./b/"
}
-- a/main.tf --
-- b/main.tf --
module "c" {
  source = "../a"
}
$ sliceform modules
|
| Modules declared by configuration:
| .
| ├── "a"[./a]
| └── "b"[./b]
|     └── "c"[../a]
|
$ sliceform modules -json
| {"format_version":"1.0","modules":[{"key":"a","source":"./a","version":""},{"key":"b","source":"./b","version":""},{"key":"b.c","source":"../a","version":""}]}
! env TF_DATA_DIR data
$ sliceform get
| - a in a
| - b in b
| - b.c in a
! cat data/modules/modules.json
| {"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"a","Source":"./a","Dir":"a"},{"Key":"b","Source":"./b","Dir":"b"},{"Key":"b.c","Source":"../a","Dir":"a"}]}
$ sliceform get -update
| - a in a
| - b in b
| - b.c in a
$ sliceform metadata functions
| Error: Missing option -json
|   The signatures of functions are written as JSON only.
|   Give -json.
|
| [exit 1]
$ sliceform providers schema
| Error: Missing option -json
|   Schemas are written as JSON only.
|   Give -json.
|
| [exit 1]
$ sliceform providers
|
| Providers of this release:
|
| - registry.terraform.io/hashicorp/kubernetes
| - registry.terraform.io/hashicorp/mock
| - registry.terraform.io/sliceform/gpu
| - terraform.io/builtin/terraform
|

-- main.tf --
variable "x" {
  default = 1
}

output "x" {
  value = var.x
}
! env TF_CLI_ARGS_plan '-var x=2 -out=p'
! env TF_IN_AUTOMATION 1
$ sliceform plan
| Plan: 0 to add, 0 to change, 0 to destroy.
|
| Changes to Outputs:
|   + x = "2"
|
| Saved the plan to: p
! env TF_CLI_ARGS_plan '-var "x=2'
$ sliceform plan
| error: TF_CLI_ARGS_plan has a quote that is not closed: -var "x=2
| [exit 1]
! env TF_CLI_ARGS_plan ''
! env TF_WORKSPACE other
$ sliceform plan
| Error: Unsupported workspace
|   TF_WORKSPACE asks for the workspace "other", and there is only "default".
|   Unset it, and keep the states of several environments in directories of their own.
|
| [exit 1]
! env TF_WORKSPACE default
! env TF_LOG debug
! env TF_LOG_PATH run.log
$ sliceform output -json
| {}
$ sliceform validate -json=false
| Success! The configuration is valid.
! cat run.log
| 2023-11-14T22:13:20Z [INFO]  sliceform 0.1.0
| 2023-11-14T22:13:20Z [INFO]  arguments: ["sliceform", "output", "-json"]
| 2023-11-14T22:13:20Z [DEBUG] directory: DIR
| 2023-11-14T22:13:20Z [INFO]  exit 0 after 0.000 s
| 2023-11-14T22:13:20Z [INFO]  sliceform 0.1.0
| 2023-11-14T22:13:20Z [INFO]  arguments: ["sliceform", "validate", "-json=false"]
| 2023-11-14T22:13:20Z [DEBUG] directory: DIR
| 2023-11-14T22:13:20Z [DEBUG] read main.tf, 63 bytes
| 2023-11-14T22:13:20Z [INFO]  exit 0 after 0.000 s
