package page_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/site/page"
	"github.com/inference-sim/accuracy-dashboard/site/sitetest"
)

func TestEveryPairOfBuildsHasAPageOfWhatMoved(t *testing.T) {
	in := sitetest.Release(120)
	m := build(t, in)
	list := m.docs["releases/"]
	if want := fmt.Sprintf("compared with the %d before it, no further back", page.Compared); !strings.Contains(list.Body, want) {
		t.Errorf("the list of releases does not say %q", want)
	}
	for _, c := range in.Changes {
		path := "releases/" + c.To + "/since-" + c.From + "/"
		d, ok := m.docs[path]
		if !ok {
			t.Fatalf("%s is missing", path)
		}
		if got, want := len(block(t, d, "points").Table.Rows), len(c.Points); got != want {
			t.Errorf("%s: got %d points, want %d", path, got, want)
		}
		if len(c.Points) > 0 && !strings.Contains(d.Body, ", concurrency ") {
			t.Errorf("%s: points are not named by what was measured", path)
		}
		if !strings.Contains(list.Body, `href="../`+path+`"`) {
			t.Errorf("the list of releases does not lead to %s", path)
		}
	}
	if home := m.docs[""].Body; !strings.Contains(home, "releases/unreleased/since-v0.2.0/") {
		t.Error("the overview does not lead to what moved since the last release")
	}
}

func TestAFirstBuildSaysThatNothingCanBeCompared(t *testing.T) {
	in := sitetest.Release(60)
	in.Releases, in.Changes, in.Snapshots = nil, nil, nil
	m := build(t, in)
	if strings.Contains(m.docs[""].Body, "since the last release") || !strings.Contains(m.docs["releases/"].Body, "No release has been scored yet") {
		t.Error("a site without releases does not say so")
	}
}

func TestFrontierDrawsBothSidesOfEveryGradedPoint(t *testing.T) {
	in := sitetest.Release(30)
	m := build(t, in)
	marks, graded := 0, 0
	for name, data := range m.files {
		if strings.HasSuffix(name, "-frontier.csv") {
			marks += strings.Count(string(data), "\n") - 1
		}
	}
	for i := range in.Points {
		if in.Points[i].Grade != record.G5 {
			graded++
		}
	}
	if marks != 2*graded || graded == 0 {
		t.Errorf("got %d marks of %d graded points, want two each", marks, graded)
	}
}
