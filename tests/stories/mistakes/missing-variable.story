A variable without a value, one that is given and not declared, and a value that is not suitable.

-- main.tf --
variable "team" {
  description = "Whose slices these are."
  type        = string
}

resource "mock_object" "a" {
  value = var.team
}
$ sliceform plan -input=false
| Error: No value for required variable
|  --> main.tf:1:1
|   |
| 1 | variable "team" {
|   | ^^^^^^^^^^^^^^^
|   |
|   = The root module requires the variable "team", and no value is given.
| help: Give it with -var='team=VALUE', in terraform.tfvars, or as TF_VAR_team.
|
| Error: Planning failed
|   What is shown above is as far as it got. It is not saved, and nothing was changed.
|
| [exit 1]
$ sliceform plan -var taem=a
| Error: Value for undeclared variable
|   The root module declares no variable "taem".
|   Did you mean "team"?
|
| [exit 1]
-- terraform.tfvars --
taem = "a"
$ sliceform plan -input=false
| Warning: Value for undeclared variable
|  --> terraform.tfvars:1:1
|   |
| 1 | taem = "a"
|   | ^^^^^^^^^^
|   |
|   = The root module declares no variable "taem".
| help: Did you mean "team"?
|
| Error: No value for required variable
|  --> main.tf:1:1
|   |
| 1 | variable "team" {
|   | ^^^^^^^^^^^^^^^
|   |
|   = The root module requires the variable "team", and no value is given.
| help: Give it with -var='team=VALUE', in terraform.tfvars, or as TF_VAR_team.
|
| Error: Planning failed
|   What is shown above is as far as it got. It is not saved, and nothing was changed.
|
| [exit 1]
-- terraform.tfvars --
team = ["a"]
$ sliceform plan
| Error: Invalid value for variable
|  --> terraform.tfvars:1:8
|   |
| 1 | team = ["a"]
|   |        ^^^^^
|   |
|  ::: main.tf:1:1
|   |
| 1 | variable "team" {
|   | --------------- it is declared here
|   |
|   = The given value is not suitable for var.team: string required, but have tuple.
|
| Error: Planning failed
|   What is shown above is as far as it got. It is not saved, and nothing was changed.
|
| [exit 1]
