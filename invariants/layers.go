package invariants

import (
	"fmt"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// Layers is the import policy of the module, read from layers.txt.
//
// `a, b < c;` lets c import a and b and whatever they may import; chains
// `a < b < c` read left to right; NONE is the empty set. `a !< b, c/...;` forbids b,
// and c with all below it, from ever reaching a or anything below a, whatever the
// other lines allow. A package without a line is a violation. The notation is that
// of the Go project's go/build/deps_test.go.
type Layers struct {
	may   map[string]map[string]bool // package -> packages it may import
	never []forbidden
}

type forbidden struct {
	from, to string // from must not reach to
	why      string
}

// ParseLayers reads the policy text of file.
func ParseLayers(file, text string) (*Layers, error) {
	l := &Layers{may: map[string]map[string]bool{}}
	for _, st := range statements(text) {
		if strings.Contains(st.text, "!<") {
			if err := l.addNever(st); err != nil {
				return nil, diag.In(file, err)
			}
			continue
		}
		sides := strings.Split(st.text, "<")
		if len(sides) < 2 {
			return nil, &diag.Refusal{File: file, Line: st.line, Value: st.text, Problem: "has no <", Accept: "a, b < c;"}
		}
		for i := 1; i < len(sides); i++ {
			for _, above := range names(sides[i]) {
				l.allow(above, names(sides[i-1]))
			}
		}
	}
	return l, l.close(file)
}

type statement struct {
	text, why string
	line      int
}

// statements splits at semicolons and keeps a line's comment as its reason.
func statements(text string) []statement {
	var out []statement
	var cur statement
	for i, line := range strings.Split(text, "\n") {
		code, why, _ := strings.Cut(line, "#")
		for strings.Contains(code, ";") {
			var head string
			head, code, _ = strings.Cut(code, ";")
			cur.text += " " + head
			cur.why, cur.line = strings.TrimSpace(why), i+1
			out = append(out, cur)
			cur = statement{}
		}
		cur.text += " " + code
	}
	if strings.TrimSpace(cur.text) != "" {
		out = append(out, cur)
	}
	return out
}

func names(list string) []string {
	var out []string
	for n := range strings.SplitSeq(list, ",") {
		if n = strings.TrimSpace(n); n != "" && n != "NONE" {
			out = append(out, n)
		}
	}
	return out
}

func (l *Layers) allow(pkg string, below []string) {
	if l.may[pkg] == nil {
		l.may[pkg] = map[string]bool{}
	}
	for _, b := range below {
		l.may[pkg][b] = true
	}
}

func (l *Layers) addNever(st statement) error {
	to, from, _ := strings.Cut(st.text, "!<")
	if len(names(to)) != 1 || len(names(from)) == 0 {
		return &diag.Refusal{Line: st.line, Value: strings.TrimSpace(st.text), Problem: "is not a policy line", Accept: "a !< b, c;"}
	}
	for _, f := range names(from) {
		l.never = append(l.never, forbidden{from: f, to: names(to)[0], why: st.why})
	}
	return nil
}

// close takes the transitive closure, so that a line need name only the highest
// package below, and refuses a cycle.
func (l *Layers) close(file string) error {
	const visiting, done = 1, 2
	state := map[string]int{}
	var visit func(p string) error
	visit = func(p string) error {
		switch state[p] {
		case visiting:
			return &diag.Refusal{File: file, Value: p, Problem: "may import itself through other packages"}
		case done:
			return nil
		}
		state[p] = visiting
		for _, b := range sortedKeys(l.may[p]) {
			if _, listed := l.may[b]; !listed {
				return &diag.Refusal{File: file, Value: b, Problem: "is used below another package but has no line of its own", Accept: "NONE < " + b}
			}
			if err := visit(b); err != nil {
				return err
			}
			for q := range l.may[b] {
				l.may[p][q] = true
			}
		}
		state[p] = done
		return nil
	}
	for _, p := range sortedKeys(l.may) {
		if err := visit(p); err != nil {
			return err
		}
	}
	return nil
}

// Check returns every place where the packages of m import against the policy, sorted.
func (l *Layers) Check(m *Module) (out []Finding) {
	imports := m.imports()
	add := func(p, fix, format string, args ...any) {
		out = append(out, Finding{p, fmt.Sprintf(format, args...) + " (X10)", fix})
	}
	for _, p := range sortedKeys(imports) {
		may, listed := l.may[p]
		if !listed {
			add(p, "add one below what it imports: "+strings.Join(imports[p], ", "), "has no line in layers.txt")
			continue
		}
		for _, q := range imports[p] {
			if !may[q] {
				add(p, "move what is shared below both, or let the caller pass it in", "imports %s, which layers.txt does not allow", q)
			}
		}
	}
	for _, f := range l.never {
		for _, p := range sortedKeys(imports) {
			if dir, tree := strings.CutSuffix(f.from, "/..."); p != dir && !(tree && within(p, dir)) {
				continue
			}
			if chain := reach(imports, p, f.to, map[string]bool{}); chain != nil {
				add(p, f.why, "reaches %s, which policy forbids: %s", f.to, strings.Join(chain, " -> "))
			}
		}
	}
	for _, p := range sortedKeys(l.may) {
		if _, exists := imports[p]; !exists {
			add("invariants/layers.txt", "delete it", "names %s, which does not exist", p)
		}
	}
	return out
}

// Edges lists what each package actually may import directly by the policy's
// closure; docgen draws the graph from it.
func (l *Layers) Edges() map[string][]string {
	out := make(map[string][]string, len(l.may))
	for p, m := range l.may {
		out[p] = sortedKeys(m)
	}
	return out
}

func within(p, dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }

// reach returns an import chain from p to anything within to.
func reach(imports map[string][]string, p, to string, seen map[string]bool) []string {
	if seen[p] {
		return nil
	}
	seen[p] = true
	for _, q := range imports[p] {
		if within(q, to) {
			return []string{p, q}
		}
		if rest := reach(imports, q, to, seen); rest != nil {
			return append([]string{p}, rest...)
		}
	}
	return nil
}

// imports are each package's imports of packages of the module, tests apart, all
// relative to the module and sorted.
func (m *Module) imports() map[string][]string {
	out := map[string][]string{}
	for _, f := range m.Go {
		if f.Test() {
			continue
		}
		out[f.Dir()] = append(out[f.Dir()], []string{}...) // there, with or without imports
		for _, im := range f.Imports {
			if rel, ok := strings.CutPrefix(strings.Trim(im.Path.Value, `"`), m.Path+"/"); ok && !slices.Contains(out[f.Dir()], rel) {
				out[f.Dir()] = append(out[f.Dir()], rel)
			}
		}
	}
	for _, of := range out {
		slices.Sort(of)
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
