//go:build tools

// The core manager of Cluster API, from the upstream module, unchanged: its image cannot be pulled everywhere.
// This file keeps it in go.mod, and is never compiled.
package main

import (
	_ "sigs.k8s.io/cluster-api/core"
)
