`validate` in Terraform's JSON, warnings in short, and schemas of other providers.

-- main.tf --
variable "x" {
  type    = string
  default = "abc"
}

locals {
  é = "日本${upper(1, 2)}"
  n = tonumber(true ? "x" : "y")
}

resource "terraform_data" "r" {
  inputt = 1
}
$ sliceform validate -json
| {
|   "format_version": "1.0",
|   "valid": false,
|   "error_count": 3,
|   "warning_count": 0,
|   "diagnostics": [
|     {
|       "severity": "error",
|       "summary": "Invalid function argument",
|       "detail": "Invalid value for \"v\" parameter: cannot convert \"x\" to number; given string must be a decimal representation of a number. This is a call of tonumber(v).",
|       "range": {
|         "filename": "main.tf",
|         "start": {
|           "line": 8,
|           "column": 16,
|           "byte": 109
|         },
|         "end": {
|           "line": 8,
|           "column": 32,
|           "byte": 125
|         }
|       },
|       "snippet": {
|         "context": "locals",
|         "code": "  n = tonumber(true ? \"x\" : \"y\")",
|         "start_line": 8,
|         "highlight_start_offset": 15,
|         "highlight_end_offset": 31,
|         "values": [],
|         "function_call": {
|           "called_as": "tonumber",
|           "signature": {
|             "name": "tonumber",
|             "params": [
|               {
|                 "name": "v",
|                 "type": "dynamic"
|               }
|             ],
|             "return_type": "number"
|           }
|         }
|       }
|     },
|     {
|       "severity": "error",
|       "summary": "Too many function arguments",
|       "detail": "Function \"upper\" expects only 1 argument(s).",
|       "range": {
|         "filename": "main.tf",
|         "start": {
|           "line": 7,
|           "column": 21,
|           "byte": 89
|         },
|         "end": {
|           "line": 7,
|           "column": 22,
|           "byte": 90
|         }
|       },
|       "snippet": {
|         "context": "locals",
|         "code": "  é = \"日本${upper(1, 2)}\"",
|         "start_line": 7,
|         "highlight_start_offset": 25,
|         "highlight_end_offset": 26,
|         "values": [],
|         "function_call": {
|           "called_as": "upper",
|           "signature": {
|             "name": "upper",
|             "params": [
|               {
|                 "name": "str",
|                 "type": "string"
|               }
|             ],
|             "return_type": "string"
|           }
|         }
|       }
|     },
|     {
|       "severity": "error",
|       "summary": "Unsupported argument",
|       "detail": "An argument named \"inputt\" is not expected here. Did you mean \"input\"?",
|       "address": "terraform_data.r",
|       "range": {
|         "filename": "main.tf",
|         "start": {
|           "line": 12,
|           "column": 3,
|           "byte": 164
|         },
|         "end": {
|           "line": 12,
|           "column": 9,
|           "byte": 170
|         }
|       },
|       "snippet": {
|         "context": "resource \"terraform_data\" \"r\"",
|         "code": "  inputt = 1",
|         "start_line": 12,
|         "highlight_start_offset": 2,
|         "highlight_end_offset": 8,
|         "values": []
|       }
|     }
|   ]
| }
| [exit 1]
$ sliceform validate
| Error: Invalid function argument
|  --> main.tf:8:16
|   |
| 8 |   n = tonumber(true ? "x" : "y")
|   |                ^^^^^^^^^^^^^^^^
|   |
|   = Invalid value for "v" parameter: cannot convert "x" to number; given string must be a decimal representation of a number.
| help: This is a call of tonumber(v).
|
| Error: Too many function arguments
|  --> main.tf:7:21
|   |
| 7 |   é = "日本${upper(1, 2)}"
|   |                       ^
|   |
|   = Function "upper" expects only 1 argument(s).
|
| Error: Unsupported argument
|   --> main.tf:12:3
|    |
| 12 |   inputt = 1
|    |   ^^^^^^
|    |
|    = An argument named "inputt" is not expected here. Did you mean "input"?
|    = with terraform_data.r
|
| [exit 1]

-- main.tf --
variable "x" {
  type    = string
  default = "abc"
}

output "x" {
  value = var.x
}
$ sliceform validate -json
| {
|   "format_version": "1.0",
|   "valid": true,
|   "error_count": 0,
|   "warning_count": 0,
|   "diagnostics": []
| }
-- terraform.tfvars --
a = 1
b = 2
$ sliceform plan -compact-warnings
| Warnings:
|
| - Value for undeclared variable
|   on terraform.tfvars line 1 (and 1 more)
|
| To see the full warning notes, leave out -compact-warnings.
|
| Plan: 0 to add, 0 to change, 0 to destroy.
|
| Changes to Outputs:
|   + x = "abc"
$ sliceform validate -compact-warnings
| Warnings:
|
| - Value for undeclared variable
|   on terraform.tfvars line 1 (and 1 more)
|
| To see the full warning notes, leave out -compact-warnings.
|
| Success! The configuration is valid, but there were some validation warnings as shown above.
$ sliceform validate
| Warning: Value for undeclared variable
|  --> terraform.tfvars:1:1
|   |
| 1 | a = 1
|   | ^^^^^
|   |
|   = The root module declares no variable "a".
| help: Did you mean "x"?
|
| Warning: Value for undeclared variable
|  --> terraform.tfvars:2:1
|   |
| 2 | b = 2
|   | ^^^^^
|   |
|   = The root module declares no variable "b".
| help: Did you mean "x"?
|
| Success! The configuration is valid, but there were some validation warnings as shown above.
! remove terraform.tfvars

Providers that we do not carry.

-- main.tf --
terraform {
  required_providers {
    acme = { source = "acme/acme" }
  }
}

resource "acme_box" "a" {
  size = "large"
}

resource "acme_box" "b" {
  sizes = 2
}

data "other_thing" "c" {
}

output "a" {
  value = "${acme_box.a.id} ${data.other_thing.c.id}"
}
-- acme.json --
{
  "format_version": "1.0",
  "provider_schemas": {
    "registry.terraform.io/acme/acme": {
      "provider": { "version": 0, "block": { "description_kind": "plain" } },
      "resource_schemas": {
        "acme_box": {
          "version": 0,
          "block": {
            "attributes": {
              "id": { "type": "string", "description_kind": "plain", "computed": true },
              "size": { "type": "number", "description_kind": "plain", "required": true }
            },
            "description_kind": "plain"
          }
        }
      }
    }
  }
}
-- other.json --
{
  "format_version": "1.0",
  "provider_schemas": {
    "registry.terraform.io/hashicorp/other": {
      "data_source_schemas": {
        "other_thing": {
          "version": 0,
          "block": { "attributes": { "id": { "type": "string", "computed": true } } }
        }
      }
    }
  }
}
-- wrong.json --
{ "format_version": "1.0", "provider_schemas": { "registry.terraform.io/hashicorp/other": 1 } }
$ sliceform validate
| Error: Unknown providers
|   --> main.tf:3:5
|    |
|  3 |     acme = { source = "acme/acme" }
|    |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
| ...
|  7 | resource "acme_box" "a" {
|    | ----------------------- and here
| ...
| 15 | data "other_thing" "c" {
|    | ---------------------- and here
|    |
|    = This release does not have registry.terraform.io/acme/acme (acme_box), registry.terraform.io/hashicorp/other (data.other_thing). It has registry.terraform.io/hashicorp/kubernetes, registry.terraform.io/hashicorp/mock, registry.terraform.io/sliceform/gpu, terraform.io/builtin/terraform.
| help: To check such a configuration, write their schemas to a file (terraform providers schema -json), and give validate -schemas=FILE.
|
| [exit 1]
$ sliceform validate -schemas=acme.json
| Error: Unknown provider
|   --> main.tf:15:1
|    |
| 15 | data "other_thing" "c" {
|    | ^^^^^^^^^^^^^^^^^^^^^^
|    |
|    = This release does not have registry.terraform.io/hashicorp/other (data.other_thing). It has registry.terraform.io/acme/acme, registry.terraform.io/hashicorp/kubernetes, registry.terraform.io/hashicorp/mock, registry.terraform.io/sliceform/gpu, terraform.io/builtin/terraform.
| help: To check such a configuration, write their schemas to a file (terraform providers schema -json), and give validate -schemas=FILE.
|
| Error: Incorrect attribute value type
|  --> main.tf:8:10
|   |
| 8 |   size = "large"
|   |          ^^^^^^^
|   |
|   = Inappropriate value for attribute "size": a number is required.
|   = with acme_box.a
|
| Error: Unsupported argument
|   --> main.tf:12:3
|    |
| 12 |   sizes = 2
|    |   ^^^^^
|    |
|    = An argument named "sizes" is not expected here. Did you mean "size"?
|    = with acme_box.b
|
| Error: Missing required argument
|   --> main.tf:11:25
|    |
| 11 | resource "acme_box" "b" {
|    |                         ^
|    |
|    = The argument "size" is required, but no definition was found.
|    = with acme_box.b
|
| [exit 1]
$ sliceform validate -schemas=acme.json -schemas=other.json
| Error: Incorrect attribute value type
|  --> main.tf:8:10
|   |
| 8 |   size = "large"
|   |          ^^^^^^^
|   |
|   = Inappropriate value for attribute "size": a number is required.
|   = with acme_box.a
|
| Error: Unsupported argument
|   --> main.tf:12:3
|    |
| 12 |   sizes = 2
|    |   ^^^^^
|    |
|    = An argument named "sizes" is not expected here. Did you mean "size"?
|    = with acme_box.b
|
| Error: Missing required argument
|   --> main.tf:11:25
|    |
| 11 | resource "acme_box" "b" {
|    |                         ^
|    |
|    = The argument "size" is required, but no definition was found.
|    = with acme_box.b
|
| [exit 1]
$ sliceform validate -schemas=wrong.json
| Error: Cannot read the schemas in wrong.json
|   provider_schemas.registry.terraform.io/hashicorp/other: expected an object.
|   terraform providers schema -json writes such a file.
|
| [exit 1]
$ sliceform validate -schemas=nowhere.json
| Error: Cannot read the schemas in nowhere.json
|   No such file or directory (os error 2).
|   terraform providers schema -json writes such a file.
|
| [exit 1]
