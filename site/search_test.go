package site

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// A reader's words lead to the page that answers, though they stand in no title, and the index stays small enough to fetch
// at the first key.
func TestSearchKnowsTheWordsOfWhatPeopleWrote(t *testing.T) {
	dir := shared(t, "")
	data := read(t, dir, "data/search.json")
	var entries [][]string
	if err := json.Unmarshal([]byte(data), &entries); err != nil {
		t.Fatal(err)
	}
	for words, page := range map[string]string{"g4": "method/", "extrapolation": "workbench/", "signature": "verify/", "which configuration": "choose/", "lane": "glossary/"} {
		if !slices.ContainsFunc(entries, func(e []string) bool {
			if len(e) < 4 || e[1] != page {
				return false
			}
			text := strings.Fields(e[3])
			return !slices.ContainsFunc(strings.Fields(words), func(w string) bool { return !slices.Contains(text, w) })
		}) {
			t.Errorf("%q does not lead to %s", words, page)
		}
	}
	if !slices.ContainsFunc(entries, func(e []string) bool { return e[0] == "How far to trust it" && strings.HasPrefix(e[1], "choose/#") }) {
		t.Error("a heading of a page that people wrote is not found")
	}
	const most = 80_000 // bytes of the words
	n := 0
	for _, e := range entries {
		if len(e) > 3 {
			n += len(e[3])
		}
	}
	if n == 0 || n > most {
		t.Errorf("got %d bytes of words, want some and at most %d", n, most)
	}
	t.Logf("%d bytes, %d of them words", len(data), n)
}
