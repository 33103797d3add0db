// Command program is the smallest program with a dependency.
package main

import "golang.org/x/mod/semver"

func main() { println(semver.IsValid("v1.0.0")) }
