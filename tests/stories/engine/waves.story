Three nodes, two changes that meet on each, one node at a time. The gate after the first finds it ill: the other two are
not touched. When it is well again, the next run goes on from there.

-- main.tf --
provider "mock" {
  max_unavailable = "1"
}

resource "mock_node_change" "driver" {
  setting = "driver"
  to      = "570"
  nodes   = ["n1", "n2", "n3"]
  kind    = "reboot"
}

resource "mock_node_change" "slices" {
  setting    = "slices"
  to         = "seven"
  nodes      = ["n1", "n2", "n3"]
  depends_on = [mock_node_change.driver]
}
! node n1 n2 n3
! ill n1 'the kubelet does not answer'
$ sliceform plan
| Sliceform will perform the following actions, indicated with these symbols:
|   + create
|
|   # mock_node_change.driver will be created
|   + resource "mock_node_change" "driver" {
|       + applied = {
|           + n1 = "570"
|           + n2 = "570"
|           + n3 = "570"
|         }
|       + id      = "mock_node_change.driver"
|       + kind    = "reboot"
|       + nodes   = [
|           + "n1",
|           + "n2",
|           + "n3",
|         ]
|       + setting = "driver"
|       + to      = "570"
|     }
|
|   # mock_node_change.slices will be created
|   + resource "mock_node_change" "slices" {
|       + applied = {
|           + n1 = "seven"
|           + n2 = "seven"
|           + n3 = "seven"
|         }
|       + id      = "mock_node_change.slices"
|       + nodes   = [
|           + "n1",
|           + "n2",
|           + "n3",
|         ]
|       + setting = "slices"
|       + to      = "seven"
|     }
|
| Disruption: 3 nodes, 3 waves
|   n1   wave 1: drain, reboot: set driver to 570; set slices to seven   no pods end
|   n2   wave 2: drain, reboot: set driver to 570; set slices to seven   no pods end
|   n3   wave 3: drain, reboot: set driver to 570; set slices to seven   no pods end
|
| Plan: 2 to add, 0 to change, 0 to destroy.
$ sliceform apply -auto-approve
| Sliceform will perform the following actions, indicated with these symbols:
|   + create
|
|   # mock_node_change.driver will be created
|   + resource "mock_node_change" "driver" {
|       + applied = {
|           + n1 = "570"
|           + n2 = "570"
|           + n3 = "570"
|         }
|       + id      = "mock_node_change.driver"
|       + kind    = "reboot"
|       + nodes   = [
|           + "n1",
|           + "n2",
|           + "n3",
|         ]
|       + setting = "driver"
|       + to      = "570"
|     }
|
|   # mock_node_change.slices will be created
|   + resource "mock_node_change" "slices" {
|       + applied = {
|           + n1 = "seven"
|           + n2 = "seven"
|           + n3 = "seven"
|         }
|       + id      = "mock_node_change.slices"
|       + nodes   = [
|           + "n1",
|           + "n2",
|           + "n3",
|         ]
|       + setting = "slices"
|       + to      = "seven"
|     }
|
| Disruption: 3 nodes, 3 waves
|   n1   wave 1: drain, reboot: set driver to 570; set slices to seven   no pods end
|   n2   wave 2: drain, reboot: set driver to 570; set slices to seven   no pods end
|   n3   wave 3: drain, reboot: set driver to 570; set slices to seven   no pods end
|
| Plan: 2 to add, 0 to change, 0 to destroy.
| n1: Holding...
| n1: Held after 0s
| n1: Set driver to 570...
| n1: Operation complete after 0s
| n1: Set slices to seven...
| n1: Operation complete after 0s
| wave 1: Checking...
| wave 1: Failed after 0s
| Error: Wave 1 is not healthy
|   n1: the kubelet does not answer. The 2 nodes of later waves were not touched. The nodes of this wave stay held.
|   See to the nodes, then run apply again: it goes on from here.
|
| Warning: Unfinished
| --> main.tf:5:1
|  = 1 of 3 operations of mock_node_change.driver are done. n1 is still held.
|  = with mock_node_change.driver
| help: Run plan: it shows what is left, and apply goes on.
|
| Warning: Unfinished
| --> main.tf:12:1
|  = 1 of 3 operations of mock_node_change.slices are done. n1 is still held.
|  = with mock_node_change.slices
| help: Run plan: it shows what is left, and apply goes on.
|
|
| Apply incomplete. Resources: 0 added, 0 changed, 0 destroyed.
|
| Still held, with a taint that keeps new pods away: n1.
| Run `sliceform apply` to go on from here.
| [exit 1]
! writes
| hold n1
| operate set driver to 570 on n1
| operate set slices to seven on n1
! heal
$ sliceform plan
| mock_node_change.driver: Refreshing state...
| mock_node_change.slices: Refreshing state...
| Sliceform will perform the following actions, indicated with these symbols:
|   ~ update in-place
|
|   # mock_node_change.driver will be updated in-place   (unfinished: 1 of 3 nodes done)
|   ~ resource "mock_node_change" "driver" {
|       ~ applied = {
|           + n2 = "570"
|           + n3 = "570"
|             # (1 unchanged element hidden)
|         }
|         id      = "mock_node_change.driver"
|         # (4 unchanged attributes hidden)
|     }
|
|   # mock_node_change.slices will be updated in-place   (unfinished: 1 of 3 nodes done)
|   ~ resource "mock_node_change" "slices" {
|       ~ applied = {
|           + n2 = "seven"
|           + n3 = "seven"
|             # (1 unchanged element hidden)
|         }
|         id      = "mock_node_change.slices"
|         # (3 unchanged attributes hidden)
|     }
|
| Disruption: 2 nodes, 2 waves
|   n2   wave 1: drain, reboot: set driver to 570; set slices to seven   no pods end
|   n3   wave 2: drain, reboot: set driver to 570; set slices to seven   no pods end
|   n1 is given back: a run that was cut off still holds it
|
| Plan: 0 to add, 2 to change, 0 to destroy.
$ sliceform apply -auto-approve
| mock_node_change.driver: Refreshing state...
| mock_node_change.slices: Refreshing state...
| Sliceform will perform the following actions, indicated with these symbols:
|   ~ update in-place
|
|   # mock_node_change.driver will be updated in-place   (unfinished: 1 of 3 nodes done)
|   ~ resource "mock_node_change" "driver" {
|       ~ applied = {
|           + n2 = "570"
|           + n3 = "570"
|             # (1 unchanged element hidden)
|         }
|         id      = "mock_node_change.driver"
|         # (4 unchanged attributes hidden)
|     }
|
|   # mock_node_change.slices will be updated in-place   (unfinished: 1 of 3 nodes done)
|   ~ resource "mock_node_change" "slices" {
|       ~ applied = {
|           + n2 = "seven"
|           + n3 = "seven"
|             # (1 unchanged element hidden)
|         }
|         id      = "mock_node_change.slices"
|         # (3 unchanged attributes hidden)
|     }
|
| Disruption: 2 nodes, 2 waves
|   n2   wave 1: drain, reboot: set driver to 570; set slices to seven   no pods end
|   n3   wave 2: drain, reboot: set driver to 570; set slices to seven   no pods end
|   n1 is given back: a run that was cut off still holds it
|
| Plan: 0 to add, 2 to change, 0 to destroy.
| n1: Releasing...
| n1: Released after 0s
| n2: Holding...
| n2: Held after 0s
| n2: Set driver to 570...
| n2: Operation complete after 0s
| n2: Set slices to seven...
| n2: Operation complete after 0s
| wave 1: Checking...
| wave 1: Healthy after 0s
| n2: Releasing...
| n2: Released after 0s
| n3: Holding...
| n3: Held after 0s
| n3: Set driver to 570...
| n3: Operation complete after 0s
| n3: Set slices to seven...
| n3: Operation complete after 0s
| wave 2: Checking...
| wave 2: Healthy after 0s
| n3: Releasing...
| n3: Released after 0s
| mock_node_change.driver: Modifying...
| mock_node_change.driver: Modifications complete after 0s [id=mock_node_change.driver]
| mock_node_change.slices: Modifying...
| mock_node_change.slices: Modifications complete after 0s [id=mock_node_change.slices]
|
| Apply complete! Resources: 0 added, 2 changed, 0 destroyed.
! writes
| release n1
| hold n2
| operate set driver to 570 on n2
| operate set slices to seven on n2
| release n2
| hold n3
| operate set driver to 570 on n3
| operate set slices to seven on n3
| release n3
$ sliceform plan
| mock_node_change.driver: Refreshing state...
| mock_node_change.slices: Refreshing state...
| No changes. Your infrastructure matches the configuration.
|
| Sliceform has compared the cluster and its nodes with your configuration, and found no differences.
$ sliceform destroy -auto-approve
| mock_node_change.driver: Refreshing state...
| mock_node_change.slices: Refreshing state...
| Sliceform will perform the following actions, indicated with these symbols:
|   - destroy
|
|   # mock_node_change.driver will be destroyed   (destroy)
|   - resource "mock_node_change" "driver" {
|       - applied = {
|           - n1 = "570" -> null
|           - n2 = "570" -> null
|           - n3 = "570" -> null
|         } -> null
|       - id      = "mock_node_change.driver" -> null
|       - kind    = "reboot" -> null
|       - nodes   = [
|           - "n1",
|           - "n2",
|           - "n3",
|         ] -> null
|       - setting = "driver" -> null
|       - to      = "570" -> null
|     }
|
|   # mock_node_change.slices will be destroyed   (destroy)
|   - resource "mock_node_change" "slices" {
|       - applied = {
|           - n1 = "seven" -> null
|           - n2 = "seven" -> null
|           - n3 = "seven" -> null
|         } -> null
|       - id      = "mock_node_change.slices" -> null
|       - nodes   = [
|           - "n1",
|           - "n2",
|           - "n3",
|         ] -> null
|       - setting = "slices" -> null
|       - to      = "seven" -> null
|     }
|
| Disruption: 3 nodes, 3 waves
|   n1   wave 1: drain, reboot: set driver to nothing; set slices to nothing   no pods end
|   n2   wave 2: drain, reboot: set driver to nothing; set slices to nothing   no pods end
|   n3   wave 3: drain, reboot: set driver to nothing; set slices to nothing   no pods end
|
| Plan: 0 to add, 0 to change, 2 to destroy.
| n1: Holding...
| n1: Held after 0s
| n1: Set slices to nothing...
| n1: Operation complete after 0s
| n1: Set driver to nothing...
| n1: Operation complete after 0s
| wave 1: Checking...
| wave 1: Healthy after 0s
| n1: Releasing...
| n1: Released after 0s
| n2: Holding...
| n2: Held after 0s
| n2: Set slices to nothing...
| n2: Operation complete after 0s
| n2: Set driver to nothing...
| n2: Operation complete after 0s
| wave 2: Checking...
| wave 2: Healthy after 0s
| n2: Releasing...
| n2: Released after 0s
| n3: Holding...
| n3: Held after 0s
| n3: Set slices to nothing...
| n3: Operation complete after 0s
| n3: Set driver to nothing...
| n3: Operation complete after 0s
| wave 3: Checking...
| wave 3: Healthy after 0s
| n3: Releasing...
| n3: Released after 0s
| mock_node_change.slices: Destroying...
| mock_node_change.slices: Destruction complete after 0s
| mock_node_change.driver: Destroying...
| mock_node_change.driver: Destruction complete after 0s
|
| Destroy complete! Resources: 2 destroyed.
