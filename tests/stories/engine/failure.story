One of two branches fails: the other goes on, and the next run does what is left.

-- main.tf --
resource "mock_object" "a" {
}

resource "mock_object" "b" {
  value = mock_object.a.id
}

resource "mock_object" "c" {
}
! fail create mock_object.a half
$ sliceform apply -auto-approve
| Sliceform will perform the following actions, indicated with these symbols:
|   + create
|
|   # mock_object.a will be created
|   + resource "mock_object" "a" {
|       + id   = (known after apply)
|       + size = 0
|     }
|
|   # mock_object.b will be created
|   + resource "mock_object" "b" {
|       + id    = (known after apply)
|       + size  = (known after apply)
|       + value = (known after apply)
|     }
|
|   # mock_object.c will be created
|   + resource "mock_object" "c" {
|       + id   = (known after apply)
|       + size = 0
|     }
|
| Plan: 3 to add, 0 to change, 0 to destroy.
| mock_object.a: Creating...
| mock_object.c: Creating...
| mock_object.a: Failed after 0s
| mock_object.c: Creation complete after 0s [id=mock_object.c/1]
| Error: Error creating mock_object.a
| --> main.tf:1:1
|  = The world stopped half way while it was asked to create mock_object.a.
|
|
| Apply incomplete. Resources: 1 added, 0 changed, 0 destroyed.
| [exit 1]
$ sliceform apply -auto-approve
| mock_object.a: Refreshing state...
| mock_object.c: Refreshing state...
| Sliceform will perform the following actions, indicated with these symbols:
|   + create
| -/+ destroy and then create replacement
|
|   # mock_object.a is tainted, so must be replaced
| -/+ resource "mock_object" "a" {
|       ~ id = "mock_object.a/1" -> (known after apply)
|         # (1 unchanged attribute hidden)
|     }
|
|   # mock_object.b will be created
|   + resource "mock_object" "b" {
|       + id    = (known after apply)
|       + size  = (known after apply)
|       + value = (known after apply)
|     }
|
| Plan: 2 to add, 0 to change, 1 to destroy.
| mock_object.a: Destroying...
| mock_object.a: Destruction complete after 0s
| mock_object.a: Creating...
| mock_object.a: Creation complete after 0s [id=mock_object.a/2]
| mock_object.b: Creating...
| mock_object.b: Creation complete after 0s [id=mock_object.b/1]
|
| Apply complete! Resources: 2 added, 0 changed, 1 destroyed.
! fail delete mock_object.b
$ sliceform destroy -auto-approve
| mock_object.a: Refreshing state...
| mock_object.b: Refreshing state...
| mock_object.c: Refreshing state...
| Sliceform will perform the following actions, indicated with these symbols:
|   - destroy
|
|   # mock_object.a will be destroyed   (destroy)
|   - resource "mock_object" "a" {
|       - id   = "mock_object.a/2" -> null
|       - size = 0 -> null
|     }
|
|   # mock_object.b will be destroyed   (destroy)
|   - resource "mock_object" "b" {
|       - id    = "mock_object.b/1" -> null
|       - size  = 15 -> null
|       - value = "mock_object.a/2" -> null
|     }
|
|   # mock_object.c will be destroyed   (destroy)
|   - resource "mock_object" "c" {
|       - id   = "mock_object.c/1" -> null
|       - size = 0 -> null
|     }
|
| Plan: 0 to add, 0 to change, 3 to destroy.
| mock_object.b: Destroying...
| mock_object.c: Destroying...
| mock_object.b: Failed after 0s
| mock_object.c: Destruction complete after 0s
| Error: Error destroying mock_object.b
| --> main.tf:4:1
|  = The world refused to delete mock_object.b.
|
|
| Destroy incomplete. Resources: 1 destroyed.
| [exit 1]
$ sliceform destroy -auto-approve
| mock_object.a: Refreshing state...
| mock_object.b: Refreshing state...
| Sliceform will perform the following actions, indicated with these symbols:
|   - destroy
|
|   # mock_object.a will be destroyed   (destroy)
|   - resource "mock_object" "a" {
|       - id   = "mock_object.a/2" -> null
|       - size = 0 -> null
|     }
|
|   # mock_object.b will be destroyed   (destroy)
|   - resource "mock_object" "b" {
|       - id    = "mock_object.b/1" -> null
|       - size  = 15 -> null
|       - value = "mock_object.a/2" -> null
|     }
|
| Plan: 0 to add, 0 to change, 2 to destroy.
| mock_object.b: Destroying...
| mock_object.b: Destruction complete after 0s
| mock_object.a: Destroying...
| mock_object.a: Destruction complete after 0s
|
| Destroy complete! Resources: 2 destroyed.
! writes
| create mock_object.a
| create mock_object.c
| delete mock_object.a
| create mock_object.a
| create mock_object.b
| delete mock_object.b
| delete mock_object.c
| delete mock_object.b
| delete mock_object.a
