package swap

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

func write(t *testing.T, dir, text string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestDirReplacesWholeAndLeavesNothingBeside(t *testing.T) {
	root := t.TempDir()
	place := filepath.Join(root, "place")
	write(t, Aside(place), "of a killed process")
	for _, want := range []string{"first", "second"} {
		if err := Dir(write(t, filepath.Join(root, "next"), want), place); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(place, "f"))
		if err != nil || string(got) != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	if left := names(t, root); len(left) != 1 {
		t.Errorf("got %q, want the place alone", left)
	}
}

// A reader that looks all the time never finds the place missing.
func TestThereIsAlwaysADirectory(t *testing.T) {
	keep.Rule(t, "COV-8")
	root := t.TempDir()
	place := write(t, filepath.Join(root, "place"), "0")
	stop, missing := make(chan bool), make(chan int)
	go func() {
		n := 0
		for {
			select {
			case <-stop:
				missing <- n
				return
			default:
				if _, err := os.Stat(filepath.Join(place, "f")); err != nil {
					n++
				}
			}
		}
	}()
	for range 200 {
		if err := Dir(write(t, filepath.Join(root, "next"), "x"), place); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	if n := <-missing; n > 0 {
		t.Errorf("missing %d times, want never", n)
	}
}

func TestFileReplacesWhole(t *testing.T) {
	place := filepath.Join(t.TempDir(), "f")
	for _, want := range []string{"first", "second"} {
		if err := File(place, []byte(want)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(place); err != nil || string(got) != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	if err := File(filepath.Join(place, "no"), nil); err == nil {
		t.Error("a place that cannot be written was accepted")
	}
}

// What a killed process left goes with the next run; what a living one holds stays.
func TestWorkspaceRemovesWhatKilledProcessesLeft(t *testing.T) {
	keep.Rule(t, "COV-8")
	root := t.TempDir()
	place := filepath.Join(root, "place")
	write(t, filepath.Join(root, ".place.new-1"), "of a killed process")
	write(t, filepath.Join(root, ".other.new-1"), "of another place")
	first, done, err := Workspace(place)
	if err != nil {
		t.Fatal(err)
	}
	second, doneSecond, err := Workspace(place)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{".other.new-1", filepath.Base(first), filepath.Base(second)}
	slices.Sort(want)
	if got := names(t, root); !slices.Equal(got, want) {
		t.Errorf("two under way: got %q, want %q", got, want)
	}
	done()
	doneSecond()
	if got := names(t, root); !slices.Equal(got, []string{".other.new-1"}) {
		t.Errorf("both done: got %q, want the other place's alone", got)
	}
	if _, _, err := Workspace(filepath.Join(root, "none", "place")); err == nil {
		t.Error("a place beside which nothing can be made was accepted")
	}
}

func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}
