# From the OpenAPI v3 documents of Kubernetes' stable APIs to builtin.jsonl: see README.md.
def ref: sub("^.*/"; "");
def slim:
  if type == "object" then
    if has("allOf") and (.allOf | length) == 1 then (.allOf[0] + (del(.allOf))) | slim
    else
      del(.description, .["x-kubernetes-patch-merge-key"], .["x-kubernetes-patch-strategy"],
          .["x-kubernetes-group-version-kind"], .["x-kubernetes-unions"])
      | if has("properties") then .properties |= map_values(slim) else . end
      | if has("items") then .items |= slim else . end
      | if (.additionalProperties | type) == "object" then .additionalProperties |= slim else . end
      | if has("$ref") then .["$ref"] |= ref else . end
    end
  else . end;
def refs: [.. | objects | .["$ref"]? | strings];
[inputs] as $documents
| ($documents | map(.components.schemas) | add | map_values(slim)) as $all
| ($documents
   | map(. as $d | .components.schemas | to_entries[]
     | .key as $name | .value["x-kubernetes-group-version-kind"]? // [] | .[]
     | {key: "\(if .group == "" then "" else .group + "/" end)\(.version)/\(.kind)", value: $name})
   | from_entries) as $names
| ($documents | map(.paths | to_entries[] | select(.value.patch)
     | {path: .key, kind: .value.patch["x-kubernetes-group-version-kind"]}
     | select(.kind) | select(.path | test("/\\{name\\}$"))
     | {key: "\(if .kind.group == "" then "" else .kind.group + "/" end)\(.kind.version)/\(.kind.kind)",
        value: {plural: (.path | split("/") | .[-2]), namespaced: (.path | contains("{namespace}"))}})
   | from_entries) as $paths
| ([$documents[].paths | keys[] | select(endswith("/{name}/status")) | split("/") | .[-3]] | unique) as $status
| ($paths | with_entries(.value.schema = $names[.key]
     | .value.status = (.value.plural as $plural | $status | index($plural) != null))) as $kinds
# The status of a kind that has it as a subresource is never applied.
| (reduce ($kinds[] | select(.status)) as $kind ($all;
     .[$kind.schema].properties.status = {type: "object", "x-kubernetes-preserve-unknown-fields": true})) as $all
| def reach($todo; $seen):
    if ($todo | length) == 0 then $seen
    else ($todo | map(select($seen[.] | not)) | unique) as $new
      | reach([$new[] | $all[.] | refs[]]; reduce $new[] as $n ($seen; .[$n] = true)) end;
  (reach([$kinds[].schema]; {})) as $reached
| ($kinds | to_entries[] | {kind: .key} + .value),
  ($all | to_entries[] | select($reached[.key]) | {name: .key, schema: .value})
