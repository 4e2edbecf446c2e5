A run is killed in the middle of a wave. The next plan knows what had been begun, and reads what became of it; the next
apply takes the held node over, finishes, and gives it back.

-- main.tf --
provider "mock" {
  max_unavailable = "1"
}

resource "mock_object" "before" {
}

resource "mock_node_change" "slices" {
  setting    = "slices"
  to         = "seven"
  nodes      = ["n1", "n2"]
  depends_on = [mock_object.before]
}
! node n1 n2
! kill 9
$ sliceform apply -auto-approve
| Sliceform will perform the following actions, indicated with these symbols:
|   + create
|
|   # mock_node_change.slices will be created
|   + resource "mock_node_change" "slices" {
|       + applied = {
|           + n1 = "seven"
|           + n2 = "seven"
|         }
|       + id      = "mock_node_change.slices"
|       + nodes   = [
|           + "n1",
|           + "n2",
|         ]
|       + setting = "slices"
|       + to      = "seven"
|     }
|
|   # mock_object.before will be created
|   + resource "mock_object" "before" {
|       + id   = (known after apply)
|       + size = 0
|     }
|
| Disruption: 2 nodes, 2 waves
|   n1   wave 1: drain: set slices to seven   no pods end
|   n2   wave 2: drain: set slices to seven   no pods end
|
| Plan: 2 to add, 0 to change, 0 to destroy.
| mock_object.before: Creating...
| mock_object.before: Creation complete after 0s [id=mock_object.before/1]
| n1: Holding...
| n1: Held after 0s
| n1: Set slices to seven...
| [killed]
! writes
| create mock_object.before
| hold n1
| operate set slices to seven on n1
$ sliceform plan
| Warning: An earlier run was cut off
|   The apply that ops@host began at 2023-11-14T22:13:20Z was cut off. Begun, and not seen to end: set slices to seven on n1.
|   This plan has read what became of it; apply finishes it.
|
| mock_node_change.slices: Refreshing state...
| mock_object.before: Refreshing state...
| Note: Objects have changed outside of Sliceform
|
|   # mock_node_change.slices has changed
|     n2: slices is not set yet: an earlier apply did not come to its end
|
| Sliceform will perform the following actions, indicated with these symbols:
|   ~ update in-place
|
|   # mock_node_change.slices will be updated in-place   (unfinished: 1 of 2 nodes done)
|   ~ resource "mock_node_change" "slices" {
|       ~ applied = {
|           + n2 = "seven"
|             # (1 unchanged element hidden)
|         }
|         id      = "mock_node_change.slices"
|         # (3 unchanged attributes hidden)
|     }
|
| Disruption: 1 node, 1 wave
|   n2   drain: set slices to seven   no pods end
|   n1 is given back: a run that was cut off still holds it
|
| Plan: 0 to add, 1 to change, 0 to destroy.
$ sliceform apply -auto-approve
| Warning: An earlier run was cut off
|   The apply that ops@host began at 2023-11-14T22:13:20Z was cut off. Begun, and not seen to end: set slices to seven on n1.
|   This plan has read what became of it; apply finishes it.
|
| mock_node_change.slices: Refreshing state...
| mock_object.before: Refreshing state...
| Note: Objects have changed outside of Sliceform
|
|   # mock_node_change.slices has changed
|     n2: slices is not set yet: an earlier apply did not come to its end
|
| Sliceform will perform the following actions, indicated with these symbols:
|   ~ update in-place
|
|   # mock_node_change.slices will be updated in-place   (unfinished: 1 of 2 nodes done)
|   ~ resource "mock_node_change" "slices" {
|       ~ applied = {
|           + n2 = "seven"
|             # (1 unchanged element hidden)
|         }
|         id      = "mock_node_change.slices"
|         # (3 unchanged attributes hidden)
|     }
|
| Disruption: 1 node, 1 wave
|   n2   drain: set slices to seven   no pods end
|   n1 is given back: a run that was cut off still holds it
|
| Plan: 0 to add, 1 to change, 0 to destroy.
| n1: Releasing...
| n1: Released after 0s
| n2: Holding...
| n2: Held after 0s
| n2: Set slices to seven...
| n2: Operation complete after 0s
| wave 1: Checking...
| wave 1: Healthy after 0s
| n2: Releasing...
| n2: Released after 0s
| mock_node_change.slices: Modifying...
| mock_node_change.slices: Modifications complete after 0s [id=mock_node_change.slices]
|
| Apply complete! Resources: 0 added, 1 changed, 0 destroyed.
! writes
| release n1
| hold n2
| operate set slices to seven on n2
| release n2
$ sliceform plan
| mock_node_change.slices: Refreshing state...
| mock_object.before: Refreshing state...
| No changes. Your infrastructure matches the configuration.
|
| Sliceform has compared the cluster and its nodes with your configuration, and found no differences.
