//go:build tools

// The programs that people encrypt with, from the upstream modules, unchanged: their release files cannot be downloaded everywhere.
// This file keeps them in go.mod, and is never compiled.
package main

import (
	_ "filippo.io/age/cmd/age-keygen"
	_ "github.com/getsops/sops/v3/cmd/sops"
)
