`fmt` names what it changes, changes it, and leaves alone what is no configuration and what it cannot read.

-- main.tf --
resource terraform_data "a"{
input="${var.x}"
  triggers_replace=[1,2]#why
}
-- terraform.tfvars --
x=1
longer = 2
-- unit.tftest.hcl --
run "a"{
command=plan
}
-- other.hcl --
x=1
-- main.tf.json --
{"locals":{"a":1}}
-- sub/main.tf --
a=1
-- .hidden.tf --
a=1
-- .terraform/modules/m/main.tf --
a=1
-- old.tf~ --
a=1
$ sliceform fmt -check
| main.tf
| terraform.tfvars
| unit.tftest.hcl
| [exit 3]
$ sliceform fmt -check -list=false
| [exit 3]
$ sliceform fmt -diff -write=false main.tf
| main.tf
| --- old/main.tf
| +++ new/main.tf
| @@ -1,4 +1,4 @@
| -resource terraform_data "a"{
| -input="${var.x}"
| -  triggers_replace=[1,2]#why
| +resource "terraform_data" "a" {
| +  input            = var.x
| +  triggers_replace = [1, 2] #why
|  }
$ sliceform fmt -list=false -write=false terraform.tfvars
| x      = 1
| longer = 2
$ sliceform fmt
| main.tf
| terraform.tfvars
| unit.tftest.hcl
! cat main.tf
| resource "terraform_data" "a" {
|   input            = var.x
|   triggers_replace = [1, 2] #why
| }
! cat terraform.tfvars
| x      = 1
| longer = 2
! cat unit.tftest.hcl
| run "a" {
|   command = plan
| }
$ sliceform fmt
$ sliceform fmt -check
$ sliceform fmt -check -recursive
| sub/main.tf
| [exit 3]
$ sliceform fmt -recursive
| sub/main.tf
! cat sub/main.tf
| a = 1

What is wrong in other ways than its syntax is formatted; what cannot be parsed is told, and stays. The others are formatted.

-- main.tf --
resource "nothing" "known"{
a=nowhere.b
}
-- broken.tf --
a=
b={
$ sliceform fmt
| main.tf
| Error: Invalid expression
|  --> broken.tf:1:3
|   |
| 1 | a=
|   |   ^
|   |
|   = Expected the start of an expression. Found the end of the line.
| help: Write the value on the same line, or put parentheses around an expression of several lines.
|
| Error: Unclosed object
|  --> broken.tf:2:5
|   |
| 2 | b={
|   |   -^
|   |   |
|   |   opened here
|   |
|   = There is no closing brace for this object before the end of the file. Found the end of the file.
|
| [exit 2]
! cat broken.tf
| a=
| b={
! cat main.tf
| resource "nothing" "known" {
|   a = nowhere.b
| }
$ sliceform fmt -check
| Error: Invalid expression
|  --> broken.tf:1:3
|   |
| 1 | a=
|   |   ^
|   |
|   = Expected the start of an expression. Found the end of the line.
| help: Write the value on the same line, or put parentheses around an expression of several lines.
|
| Error: Unclosed object
|  --> broken.tf:2:5
|   |
| 2 | b={
|   |   -^
|   |   |
|   |   opened here
|   |
|   = There is no closing brace for this object before the end of the file. Found the end of the file.
|
| [exit 2]
! remove broken.tf

Files, directories and what is neither.

$ sliceform fmt other.hcl
| Error: Not a configuration file
|   other.hcl does not end in .tf, .tfvars or .tftest.hcl. JSON and other files have no layout of ours.
|
| [exit 2]
$ sliceform fmt nowhere
| Error: No such file or directory
|   There is no file or directory nowhere.
|
| [exit 2]
-- main.tf --
a=1
-- sub/main.tf --
a=1
$ sliceform fmt main.tf ./sub/../sub
| main.tf
| sub/main.tf
-- sub/main.tf --
a=1
$ sliceform -chdir=sub fmt ../main.tf .
| main.tf

Standard input, as editors use it.

! pipe 'a=1\nbb = 2'
$ sliceform fmt -
| a  = 1
| bb = 2
! pipe 'a=1'
$ sliceform fmt -check -
| [exit 3]
! pipe 'a = 1'
$ sliceform fmt -check -
! pipe 'a=1\n'
$ sliceform fmt -diff -
| --- old/<stdin>
| +++ new/<stdin>
| @@ -1 +1 @@
| -a=1
| +a = 1
! pipe 'a='
$ sliceform fmt -
| Error: Invalid expression
|  --> <stdin>:1:3
|   |
| 1 | a=
|   |   ^
|   |
|   = Expected the start of an expression. Found the end of the file.
|
| [exit 2]
