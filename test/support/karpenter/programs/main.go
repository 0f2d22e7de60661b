//go:build tools

// Karpenter with its kwok provider, from the upstream module, unchanged: no image of it is published.
// This file keeps it in go.mod, and is never compiled.
package main

import (
	_ "sigs.k8s.io/karpenter/kwok"
)
