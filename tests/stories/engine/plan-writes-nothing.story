A plan changes nothing: neither in the world nor on the disk, but for the file that it is asked for.

-- main.tf --
resource "mock_object" "a" {
}
! node n1
$ sliceform plan
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
! writes
! files
| main.tf
$ sliceform plan -out=p
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
|
| Saved the plan to: p
|
| To perform exactly these actions, run:
|     sliceform apply p
! writes
! files
| main.tf
| p
