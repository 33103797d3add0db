package fit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/catalog"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/registry/acceptance"
	"gopkg.in/yaml.v3"
)

// Acceptance writes acceptance/profiles.yaml from acceptance-length documents, one
// JSON object a line: model -> thinking mode -> drafts -> length, with the file's
// name and comments (InferenceX golden_al_distribution). A curve whose target is
// not in the catalog is skipped, with the reason.
func Acceptance(cat *catalog.Catalog, r io.Reader) (file []byte, skipped []string, err error) {
	set := acceptance.Set{Schema: acceptance.Schema}
	dec := json.NewDecoder(r)
	for dec.More() {
		var doc map[string]json.RawMessage
		if err := dec.Decode(&doc); err != nil {
			return nil, nil, &diag.Refusal{Problem: err.Error(), Accept: "one JSON object a line"}
		}
		p, why, err := curves(cat, doc)
		if err != nil {
			return nil, nil, err
		}
		set.Profiles = append(set.Profiles, p...)
		if why != "" {
			skipped = append(skipped, why)
		}
	}
	slices.SortFunc(set.Profiles, func(a, b acceptance.Profile) int {
		return strings.Compare(a.Target+a.Drafter+a.Workload, b.Target+b.Drafter+b.Workload)
	})
	var b bytes.Buffer
	b.WriteString("# Written by `blis registry fit`; do not edit.\n")
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(set); err != nil {
		return nil, nil, err
	}
	return b.Bytes(), skipped, enc.Close()
}

func curves(cat *catalog.Catalog, doc map[string]json.RawMessage) (out []acceptance.Profile, skipped string, err error) {
	var name string
	var notes []string
	for _, f := range []struct {
		key string
		to  any
	}{{"_file", &name}, {"_comments", &notes}} {
		if err := json.Unmarshal(doc[f.key], f.to); err != nil {
			return nil, "", &diag.Refusal{Field: f.key, Problem: err.Error(), Accept: "the document's name and comments"}
		}
		delete(doc, f.key)
	}
	if len(doc) != 1 {
		return nil, "", &diag.Refusal{File: name, Value: strconv.Itoa(len(doc)), Problem: "wrong number of models", Accept: "one a document"}
	}
	checkpoint := slices.Collect(maps.Keys(doc))[0]
	target := targetOf(cat, checkpoint)
	if target == "" {
		return nil, fmt.Sprintf("%s: %s is not in the catalog", name, checkpoint), nil
	}
	var modes map[string]map[string]float64
	if err := json.Unmarshal(doc[checkpoint], &modes); err != nil {
		return nil, "", &diag.Refusal{File: name, Field: checkpoint, Problem: err.Error()}
	}
	_, method, _ := strings.Cut(strings.TrimSuffix(name, ".yaml"), "_")
	for _, mode := range slices.Sorted(maps.Keys(modes)) {
		out = append(out, acceptance.Profile{
			Target: target, Drafter: method, Method: method, Workload: "coding/" + mode,
			Sampling: note(notes, mode), Lengths: ladder(modes[mode]),
			Source: "SemiAnalysisAI/InferenceX@843c6254 golden_al_distribution/" + name + ", " + note(notes, "Source"),
		})
	}
	return out, "", nil
}

// targetOf is the catalog model a checkpoint's short name begins with.
func targetOf(cat *catalog.Catalog, checkpoint string) string {
	for _, m := range cat.Models() {
		if rest, ok := strings.CutPrefix(checkpoint, m); ok && (rest == "" || rest[0] == '-') {
			return m
		}
	}
	return ""
}

// note is the comment line that starts with a word, without it.
func note(notes []string, word string) string {
	for _, n := range notes {
		if rest, ok := strings.CutPrefix(strings.TrimLeft(n, "# "), word); ok {
			_, rest, _ = strings.Cut(rest, ":")
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// ladder lists the lengths for 1, 2, ... drafts up to the first one missing.
func ladder(byDrafts map[string]float64) []float64 {
	var out []float64
	for n := 1; ; n++ {
		v, ok := byDrafts[strconv.Itoa(n)]
		if !ok {
			return out
		}
		out = append(out, v)
	}
}
