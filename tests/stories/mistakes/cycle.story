Objects that refer to each other in a circle.

-- main.tf --
resource "mock_object" "a" {
  value = mock_object.b.id
}

locals {
  through = mock_object.a.id
}

resource "mock_object" "b" {
  value = local.through
}
$ sliceform plan
| Error: Cycle
|   --> main.tf:6:13
|    |
|  2 |   value = mock_object.b.id
|    |           ------------- mock_object.a refers to mock_object.b
| ...
|  6 |   through = mock_object.a.id
|    |             ^^^^^^^^^^^^^
| ...
| 10 |   value = local.through
|    |           ------------- mock_object.b refers to local.through
|    |
|    = These refer to each other: local.through → mock_object.a → mock_object.b → local.through.
| help: Break the circle: one of them must not refer to the next.
|
| Error: Planning failed
|   What is shown above is as far as it got. It is not saved, and nothing was changed.
|
| [exit 1]
! writes
