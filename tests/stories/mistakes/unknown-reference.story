A reference to something that is not declared, with what was probably meant.

-- main.tf --
variable "size" {
  default = "big"
}

resource "mock_object" "first" {
  value = var.sise
}

resource "mock_object" "second" {
  value = mock_object.frist.id
}

resource "mock_object" "third" {
  value = local.nothing
}

resource "mock_object" "fourth" {
  value = mock_object.first.identity
}
$ sliceform plan
| Error: Reference to undeclared input variable
|  --> main.tf:6:11
|   |
| 6 |   value = var.sise
|   |           ^^^^^^^^
|   |
|   = An input variable with the name "sise" has not been declared. Did you mean "size"?
|
| Error: Reference to undeclared resource
|   --> main.tf:10:11
|    |
| 10 |   value = mock_object.frist.id
|    |           ^^^^^^^^^^^^^^^^^
|    |
|    = A managed resource "mock_object" "frist" has not been declared in the root module. Did you mean "mock_object.first"?
|
| Error: Reference to undeclared local value
|   --> main.tf:14:11
|    |
| 14 |   value = local.nothing
|    |           ^^^^^^^^^^^^^
|    |
|    = A local value with the name "nothing" has not been declared.
|
| [exit 1]
! writes
