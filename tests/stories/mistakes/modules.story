Modules that are not there, call themselves, lack a variable, or are given one that they do not have.

-- main.tf --
module "gone" {
  source = "./nowhere"
}

module "given" {
  source = "./m"
  nmae   = "x"
}

module "remote" {
  source = "hashicorp/consul/aws"
}
-- m/main.tf --
variable "name" {
  type = string
}

module "again" {
  source = "../m"
  name   = var.name
}

output "id" {
  value = var.name
}
$ sliceform validate
| Error: Module calls itself
|  --> m/main.tf:6:12
|   |
| 6 |   source = "../m"
|   |            ^^^^^^
|   |
|   = This call comes back to a module that is calling: . → m → m.
| help: Move what both need into a module of its own.
|
| Error: Module not found
|  --> main.tf:2:12
|   |
| 2 |   source = "./nowhere"
|   |            ^^^^^^^^^^^
|   |
|   = There is no directory "nowhere".
| help: The source "./nowhere" is relative to the directory of the file that it stands in.
|
| Error: Module not installed
|   --> main.tf:11:12
|    |
| 11 |   source = "hashicorp/consul/aws"
|    |            ^^^^^^^^^^^^^^^^^^^^^^
|    |
|    = This module is not yet installed.
| help: Run "sliceform init" to install all modules that this configuration requires.
|
| Error: Unsupported argument
|  --> main.tf:7:3
|   |
| 7 |   nmae   = "x"
|   |   ^^^^
|   |
|   = An argument named "nmae" is not expected here. Did you mean "name"?
| help: The module in "m" declares no such variable.
|
| Error: Missing required argument
|  --> main.tf:5:1
|   |
| 5 | module "given" {
|   | ^^^^^^^^^^^^^^
|   |
|  ::: m/main.tf:1:1
|   |
| 1 | variable "name" {
|   | --------------- the variable, which has no default
|   |
|   = The argument "name" is required, but no definition was found.
|
| [exit 1]
