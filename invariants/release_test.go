package invariants

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"golang.org/x/mod/modfile"
)

// TestPinsAreExact keeps X11 and, with a reason beside each direct requirement, the
// rule that no dependency comes in unseen.
func TestPinsAreExact(t *testing.T) {
	keep.Rule(t, "LIF-2")
	rule := func(m *Module) (out []Finding) {
		f, err := modfile.Parse("go.mod", m.Files["go.mod"], nil)
		if err != nil {
			return []Finding{{"go.mod", err.Error(), ""}}
		}
		if len(f.Replace)+len(f.Exclude) > 0 {
			out = append(out, Finding{"go.mod", "replaces or excludes a module (X11)", "require the exact version"})
		}
		for _, r := range f.Require {
			excuse := slices.ContainsFunc(r.Syntax.Suffix, func(c modfile.Comment) bool { return strings.TrimSpace(strings.TrimLeft(c.Token, "/ ")) != "" })
			if !r.Indirect && !excuse {
				out = append(out, Finding{fmt.Sprintf("go.mod:%d", r.Syntax.Start.Line), r.Mod.Path + " has no reason beside it", "add `// what only it can do`, or remove it"})
			}
		}
		for _, p := range []string{"go.work", "vendor/modules.txt"} {
			if _, there := m.Files[p]; there {
				out = append(out, Finding{p, "is committed (X11)", "delete it"})
			}
		}
		return out
	}
	const head = "module m\n\ngo 1.26\n\n"
	hold(t, rule,
		bad{"a replace", files{"go.mod": head + "replace a.b/c => ../c\n"}, "replaces or excludes"},
		bad{"no reason", files{"go.mod": head + "require a.b/c v1.0.0\n"}, "a.b/c has no reason"},
		bad{"a reason", files{"go.mod": head + "require a.b/c v1.0.0 // reads YAML\n"}, ""},
		bad{"a workspace", files{"go.mod": head, "go.work": ""}, "go.work: is committed"})
}

// TestOneModuleOfModestSize keeps SUB-13.
func TestOneModuleOfModestSize(t *testing.T) {
	const most = 100e6
	rule := func(m *Module) (out []Finding) {
		for _, p := range sortedKeys(m.Files) {
			if path.Base(p) == "go.mod" && p != "go.mod" {
				out = append(out, Finding{p, "is a second module (SUB-13)", "delete it"})
			}
		}
		if m.Bytes > most {
			out = append(out, Finding{".", fmt.Sprintf("the module has %d bytes, at most %.0f (SUB-13)", m.Bytes, most), "keep what can be derived out"})
		}
		return out
	}
	hold(t, rule,
		bad{"a nested module", files{"a/go.mod": "module a\n"}, "is a second module"},
		bad{"one module", files{"go.mod": "module a\n"}, ""})
}

// TestVersionsAreWrittenOnce keeps X23: go.mod, the front end's lock and the engines'
// Upstream records state versions; workflows read them, and pages do not repeat them. An
// image, which can read nothing, is held to go.mod.
func TestVersionsAreWrittenOnce(t *testing.T) {
	literal := regexp.MustCompile(`(?i)\bgo ?1\.\d+(\.\d+)?\b|hugo v?\d+\.\d+|echarts@?\d|go-version: `)
	reads := func(p string) bool {
		page := path.Ext(p) == ".md" && !strings.HasPrefix(p, "content/generated/")
		return page || strings.HasPrefix(p, ".github/") || p == "Makefile" || strings.HasPrefix(p, ".ci/")
	}
	image, version := regexp.MustCompile(`golang:([^\s"'@]*)`), regexp.MustCompile(`(?m)^go (\S+)$`)
	rule := func(m *Module) []Finding {
		want := ""
		if v := version.FindSubmatch(m.Files["go.mod"]); v != nil {
			want = string(v[1])
		}
		return eachLine(reads, func(line string, add finder) {
			if w := literal.FindString(line); w != "" {
				add(fmt.Sprintf("repeats a version, %q (X23)", w), "read it from go.mod, or say the pinned release")
			}
			if w := image.FindStringSubmatch(line); w != nil && w[1] != want {
				add(fmt.Sprintf("builds with golang:%s, go.mod says %s (X23)", w[1], want), "golang:"+want)
			}
		})(m)
	}
	const gomod = "module a\n\ngo 1.26.8\n"
	hold(t, rule,
		bad{"another image", files{"go.mod": gomod, ".github/a.yaml": "image: golang:1.26.7\n"}, ".github/a.yaml:1: builds with golang:1.26.7, go.mod says 1.26.8"},
		bad{"any image", files{"go.mod": gomod, ".github/a.yaml": "image: golang:latest\n"}, "builds with golang:latest"},
		bad{"the module's image", files{"go.mod": gomod, ".github/a.yaml": "image: golang:1.26.8\n"}, ""},
		bad{"a page", files{"README.md": "Needs Go 1.26.\n"}, "README.md:1: repeats a version"},
		bad{"a workflow", files{".github/workflows/a.yml": "with: {go-version: 1.26}\n"}, "repeats a version"},
		bad{"a reference", files{".github/workflows/a.yml": "with: {go-version-file: go.mod}\n"}, ""})
}

// TestToolchainIsReadFromTheModule keeps LIF-2: every job installs what go.mod names.
func TestToolchainIsReadFromTheModule(t *testing.T) {
	rule := func(m *Module) (out []Finding) {
		for _, p := range sortedKeys(m.Files) {
			text := string(m.Files[p])
			if strings.HasPrefix(p, ".github/workflows/") && strings.Count(text, "actions/setup-go@") != strings.Count(text, "go-version-file: go.mod") {
				out = append(out, Finding{p, "installs a toolchain that go.mod does not name (LIF-2)", "with: {go-version-file: go.mod}"})
			}
		}
		return out
	}
	hold(t, rule,
		bad{"another version", files{".github/workflows/a.yml": "uses: actions/setup-go@v6\nwith: {go-version: stable}\n"}, "installs a toolchain"},
		bad{"the module's", files{".github/workflows/a.yml": "uses: actions/setup-go@v6\nwith: {go-version-file: go.mod}\n"}, ""})
}

// TestReleaseWorkflowCarriesItsEvidence keeps X21 and LIF-3: a release is tested first
// and goes out with provenance, a bill of materials, its stack and generated notes.
func TestReleaseWorkflowCarriesItsEvidence(t *testing.T) {
	keep.Rule(t, "LIF-3")
	parts := map[string]string{
		"needs: [test, gate]": "tests and the gate before it builds", "run: bash .ci/run": "every check on the tagged commit", "actions/attest@": "provenance", "cmd/release pack": "a bill of materials and stack.json",
		"cmd/release notes": "generated notes", "--verify-tag": "an existing tag",
	}
	rule := func(m *Module) (out []Finding) {
		text := string(m.Files[".github/workflows/release.yml"])
		for _, p := range sortedKeys(parts) {
			if !strings.Contains(text, p) {
				out = append(out, Finding{".github/workflows/release.yml", fmt.Sprintf("has no %q, so a release would lack %s (X21)", p, parts[p]), ""})
			}
		}
		return out
	}
	hold(t, rule, bad{"no evidence", files{".github/workflows/release.yml": "needs: [test, gate]\n"}, "would lack a bill of materials"})
}
