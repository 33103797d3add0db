// Package need says what a test needs beside Go. A required run fails without it; any
// other run leaves the test out, and says so.
//
// In: a program or a file, and how to get it. Out: its path, or the end of the test.
// It is the one place where a test may skip itself. Rules kept: X16.
package need

import (
	"os"
	"os/exec"
	"testing"
)

// Required is the variable that the test command sets.
const Required = "BLIS_REQUIRED"

// Tool is the path of a program.
func Tool(t testing.TB, name, how string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		missing(t, name, how)
	}
	return path
}

// File is a file or directory that a package manager puts in place.
func File(t testing.TB, path, how string) string {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		missing(t, path, how)
	}
	return path
}

func missing(t testing.TB, what, how string) {
	t.Helper()
	if os.Getenv(Required) != "" {
		t.Fatalf("%s is not installed: %s", what, how)
	}
	t.Skipf("%s is not installed: %s", what, how)
}
