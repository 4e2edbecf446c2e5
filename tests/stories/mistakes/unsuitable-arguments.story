Arguments that a block does not have, that it needs, that it may not have, and that the provider refuses.

-- main.tf --
provider "mock" {
  max_unavailable = "a few"
}

resource "mock_object" "a" {
  valeu = "one"
  id    = "mine"
}

resource "mock_node_change" "b" {
  setting = "s"
  nodes   = ["n1"]
  kind    = "gentle"
}
$ sliceform validate
| Error: Invalid max_unavailable
|  --> main.tf:2:21
|   |
| 2 |   max_unavailable = "a few"
|   |                     ^^^^^^^
|   |
|   = A number of nodes or a percentage was expected, found "a few".
|   = with provider["registry.terraform.io/hashicorp/mock"]
|
| Error: Missing required argument
|   --> main.tf:10:33
|    |
| 10 | resource "mock_node_change" "b" {
|    |                                 ^
|    |
|    = The argument "to" is required, but no definition was found.
|    = with mock_node_change.b
|
| Error: Unsupported argument
|  --> main.tf:6:3
|   |
| 6 |   valeu = "one"
|   |   ^^^^^
|   |
|   = An argument named "valeu" is not expected here. Did you mean "value"?
|   = with mock_object.a
|
| Error: Value for unconfigurable attribute
|  --> main.tf:7:3
|   |
| 7 |   id    = "mine"
|   |   ^^^^^^^^^^^^^^
|   |
|   = Can't configure a value for "id": its value will be decided automatically based on the result of applying this configuration.
|   = with mock_object.a
|
| [exit 1]
$ sliceform plan
| Error: Invalid max_unavailable
|  --> main.tf:2:21
|   |
| 2 |   max_unavailable = "a few"
|   |                     ^^^^^^^
|   |
|   = A number of nodes or a percentage was expected, found "a few".
|   = with provider["registry.terraform.io/hashicorp/mock"]
|
| Error: Missing required argument
|   --> main.tf:10:33
|    |
| 10 | resource "mock_node_change" "b" {
|    |                                 ^
|    |
|    = The argument "to" is required, but no definition was found.
|    = with mock_node_change.b
|
| Error: Unsupported argument
|  --> main.tf:6:3
|   |
| 6 |   valeu = "one"
|   |   ^^^^^
|   |
|   = An argument named "valeu" is not expected here. Did you mean "value"?
|   = with mock_object.a
|
| Error: Value for unconfigurable attribute
|  --> main.tf:7:3
|   |
| 7 |   id    = "mine"
|   |   ^^^^^^^^^^^^^^
|   |
|   = Can't configure a value for "id": its value will be decided automatically based on the result of applying this configuration.
|   = with mock_object.a
|
| Error: Planning failed
|   What is shown above is as far as it got. It is not saved, and nothing was changed.
|
| [exit 1]
-- main.tf --
resource "mock_object" "a" {
}

resource "mock_object" "a" {
  value = "again"
  value = "and again"
}
$ sliceform validate
| Error: Attribute redefined
|  --> main.tf:6:3
|   |
| 5 |   value = "again"
|   |   ----- first set here
| 6 |   value = "and again"
|   |   ^^^^^
|   |
|   = The argument "value" is already set. Each argument may be set only once.
|
| Error: Duplicate resource definition
|  --> main.tf:4:1
|   |
| 1 | resource "mock_object" "a" {
|   | -------------------------- first defined here
| ...
| 4 | resource "mock_object" "a" {
|   | ^^^^^^^^^^^^^^^^^^^^^^^^^^
|   |
|   = A resource named "mock_object.a" is already defined in this module. Names must be unique.
|
| [exit 1]
