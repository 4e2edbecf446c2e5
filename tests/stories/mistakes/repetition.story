Instances whose number is not known, is no number, or is asked for by a key that is not there.

-- main.tf --
resource "mock_object" "a" {
}

resource "mock_object" "b" {
  for_each = toset([mock_object.a.id])
}

resource "mock_object" "c" {
  count = -1
}

resource "mock_object" "d" {
  for_each = ["x", "y"]
}

resource "mock_object" "e" {
  for_each = toset(["x", "y"])
}

output "z" {
  value = mock_object.e["z"].id
}
$ sliceform plan
| Error: Invalid count argument
|  --> main.tf:9:11
|   |
| 9 |   count = -1
|   |           ^^
|   |
|   = A whole number is required, 0 or more; found -1.
|   = with mock_object.c
|
| Error: Invalid for_each argument
|   --> main.tf:13:14
|    |
| 13 |   for_each = ["x", "y"]
|    |              ^^^^^^^^^^
|    |
|    = A map, or a set of strings, is required; found tuple.
|    = with mock_object.d
| help: Convert it with toset() if its elements are distinct strings.
|
| Error: Invalid index
|   --> main.tf:21:11
|    |
| 21 |   value = mock_object.e["z"].id
|    |           ^^^^^^^^^^^^^^^^^^
|    |
|    = mock_object.e["z"] does not exist. It has the instances "x", "y".
|
| Error: Invalid for_each argument
|  --> main.tf:5:14
|   |
| 5 |   for_each = toset([mock_object.a.id])
|   |              ^^^^^^^^^^^^^^^^^^^^^^^^^
|   |
|   = The value of for_each is not known yet, because it waits for the planned change of mock_object.a; so the keys that identify the instances cannot be told.
|   = with mock_object.b
| help: Take keys from the configuration and let only the values be unknown, or apply what it waits for first, with -target.
|
| Sliceform will perform the following actions, indicated with these symbols:
|   + create
|
|   # mock_object.a will be created
|   + resource "mock_object" "a" {
|       + id   = (known after apply)
|       + size = 0
|     }
|
|   # mock_object.e["x"] will be created
|   + resource "mock_object" "e" {
|       + id   = (known after apply)
|       + size = 0
|     }
|
|   # mock_object.e["y"] will be created
|   + resource "mock_object" "e" {
|       + id   = (known after apply)
|       + size = 0
|     }
|
| Plan: 3 to add, 0 to change, 0 to destroy.
| Error: Planning failed
|   What is shown above is as far as it got. It is not saved, and nothing was changed.
|
| [exit 1]
-- main.tf --
resource "mock_object" "e" {
  for_each = toset(["x", "y"])
}

output "w" {
  value = mock_object.e.id
}
$ sliceform plan
| Error: Missing instance key
|  --> main.tf:6:11
|   |
| 6 |   value = mock_object.e.id
|   |           ^^^^^^^^^^^^^^^^
|   |
|   = The resource mock_object.e has "for_each": its attributes are those of its instances.
| help: Add the key of an instance, such as ["name"] or [each.key].
|
| [exit 1]
