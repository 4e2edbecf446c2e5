package main

import (
	"os"
	"path/filepath"
)

// Every request is recorded twice, when it comes and when it has been answered: verb, user, user agent and the whole
// request URI, so that a dry run is told from a write. The first record is written before the request is looked at, so
// who has an answer finds the request in the log. What the cluster does of itself is left out.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [ResponseStarted]
rules:
- level: None
  users: ["system:apiserver", "system:kube-controller-manager", "system:kube-scheduler"]
- level: None
  userGroups: ["system:serviceaccounts:kube-system", "system:nodes"]
- level: None
  nonResourceURLs: ["/readyz", "/livez", "/healthz"]
- level: Metadata
`

func writeAuditPolicy(folder string) (string, error) {
	path := filepath.Join(folder, "audit-policy.yaml")
	return path, os.WriteFile(path, []byte(auditPolicy), 0o600)
}
