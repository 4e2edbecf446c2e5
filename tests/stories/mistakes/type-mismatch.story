Values of another type than is asked for, in an argument, a variable and an operation.

-- main.tf --
variable "count_of" {
  type    = number
  default = 3
}

resource "mock_object" "a" {
  number = "three"
  map    = ["a", "b"]
}

output "sum" {
  value = { a = 1 } + 1
}
$ sliceform plan
| Error: Invalid operand
|   --> main.tf:12:11
|    |
| 12 |   value = { a = 1 } + 1
|    |           ^^^^^^^^^
|    |
|    = Unsuitable value for left operand: number required, but have object.
|
| Error: Incorrect attribute value type
|  --> main.tf:8:12
|   |
| 8 |   map    = ["a", "b"]
|   |            ^^^^^^^^^^
|   |
|   = Inappropriate value for attribute "map": map of string required.
|   = with mock_object.a
|
| Error: Incorrect attribute value type
|  --> main.tf:7:12
|   |
| 7 |   number = "three"
|   |            ^^^^^^^
|   |
|   = Inappropriate value for attribute "number": a number is required.
|   = with mock_object.a
|
| Error: Planning failed
|   What is shown above is as far as it got. It is not saved, and nothing was changed.
|
| [exit 1]
$ sliceform plan -var count_of=many
| Error: Invalid reference
|  --> <-var count_of=… of the command line>:1:1
|   |
| 1 | many
|   | ^^^^
|   |
|   = A reference to a resource type must be followed by at least one attribute access, specifying the resource name.
|
| Error: Invalid operand
|   --> main.tf:12:11
|    |
| 12 |   value = { a = 1 } + 1
|    |           ^^^^^^^^^
|    |
|    = Unsuitable value for left operand: number required, but have object.
|
| Error: Incorrect attribute value type
|  --> main.tf:8:12
|   |
| 8 |   map    = ["a", "b"]
|   |            ^^^^^^^^^^
|   |
|   = Inappropriate value for attribute "map": map of string required.
|   = with mock_object.a
|
| Error: Incorrect attribute value type
|  --> main.tf:7:12
|   |
| 7 |   number = "three"
|   |            ^^^^^^^
|   |
|   = Inappropriate value for attribute "number": a number is required.
|   = with mock_object.a
|
| Error: Planning failed
|   What is shown above is as far as it got. It is not saved, and nothing was changed.
|
| [exit 1]
! writes
