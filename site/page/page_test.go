package page_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/docgen"
	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/site/page"
	"github.com/inference-sim/accuracy-dashboard/site/sitetest"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// memory keeps what Build writes.
type memory struct {
	docs  map[string]page.Doc
	files map[string][]byte
	order []string
}

func (m *memory) Page(d page.Doc) error {
	if _, twice := m.docs[d.Path]; twice {
		return fmt.Errorf("page %q is written twice", d.Path)
	}
	m.docs[d.Path] = d
	m.order = append(m.order, d.Path)
	return nil
}

func (m *memory) File(name string, data []byte) error {
	if _, twice := m.files[name]; twice {
		return fmt.Errorf("file %q is written twice", name)
	}
	m.files[name] = bytes.Clone(data)
	m.order = append(m.order, name)
	return nil
}

func build(t *testing.T, in page.Input) *memory {
	t.Helper()
	m := &memory{docs: map[string]page.Doc{}, files: map[string][]byte{}}
	if err := page.Build(in, m); err != nil {
		t.Fatal(err)
	}
	return m
}

func block(t *testing.T, d page.Doc, id string) page.Block {
	t.Helper()
	i := slices.IndexFunc(d.Blocks, func(b page.Block) bool { return b.ID == id })
	if i < 0 {
		t.Fatalf("page %q has no block %q", d.Path, id)
	}
	return d.Blocks[i]
}

func TestEveryPointHasOnePageThatNamesEveryDifference(t *testing.T) {
	keep.Rule(t, "COV-4")
	in := sitetest.Release(120)
	m := build(t, in)
	for _, p := range in.Points {
		d, ok := m.docs["points/"+p.UnitID+"/"]
		if !ok {
			t.Fatalf("point %s has no page", p.UnitID)
		}
		for _, difference := range p.Differences {
			if !strings.Contains(d.Body, ">"+html.EscapeString(difference)+"<") {
				t.Errorf("point %s: difference %q is not on its page", p.UnitID, difference)
			}
		}
		if got, want := strings.Contains(d.Lead, "Not scored"), p.Grade == record.G5; got != want {
			t.Errorf("point %s of grade %s: lead %q", p.UnitID, p.Grade, d.Lead)
		}
		for _, c := range p.Conditions {
			if !strings.Contains(d.Body, c.Name) {
				t.Errorf("point %s: condition %q is not on its page", p.UnitID, c.Name)
			}
		}
	}
}

// What a point's page tells a reader to compare is written alike with and without the pages.
func TestRecordsAloneHoldEachPointsDocument(t *testing.T) {
	in := sitetest.Release(20)
	m, records := build(t, in), &memory{docs: map[string]page.Doc{}, files: map[string][]byte{}}
	if err := page.Records(in, records); err != nil {
		t.Fatal(err)
	}
	for _, p := range in.Points {
		name := "points/" + p.UnitID + "/point.json"
		if got := records.files[name]; len(got) == 0 || !bytes.Equal(got, m.files[name]) {
			t.Errorf("%s: other bytes than beside the page", name)
		}
		code := block(t, m.docs["points/"+p.UnitID+"/"], "reproduce").Code
		if want := "cmp point/" + name + " point.json"; len(code) != 2 || !strings.Contains(code[0], p.UnitID) || code[1] != want {
			t.Errorf("got %q, want a run of the unit and %q", code, want)
		}
	}
}

func TestOrderOfPointsChangesNothing(t *testing.T) {
	a, in := build(t, sitetest.Release(90)), sitetest.Release(90)
	slices.Reverse(in.Points)
	b := build(t, in)
	if !slices.Equal(a.order, b.order) {
		t.Error("files are written in another order")
	}
	for name, data := range a.files {
		if !bytes.Equal(data, b.files[name]) {
			t.Errorf("%s differs", name)
		}
	}
}

func TestFigureNeverStandsAlone(t *testing.T) {
	keep.Rule(t, "COV-11")
	in := sitetest.Release(60)
	in.Summary.Headline = []record.Accuracy{
		{Group: "G1 to G4", Metric: "ttft_mean", MAPE: record.NewFigure(0.1532, "ratio", record.MinPoints, "scope A", 0.1, 0.2, "resampling"), Bias: record.NewBareFigure(-0.02, "ratio", 9, "scope B", "one run")},
		{Group: "G1 to G4", Metric: "tpot_mean", MAPE: record.NewFigure(0.1532, "ratio", record.MinPoints-1, "scope C", 0.1, 0.2, "resampling"), Bias: record.NewBareFigure(0.5, "ratio", 9, "scope D", "one run")},
	}
	figures := block(t, build(t, in).docs[""], "headline").Figures
	want := []page.Figure{
		{Name: "Mean TTFT, absolute error", Value: "15.3%", Interval: "95% interval 10.0% to 20.0%", Count: "5 points", Scope: "scope A", Covers: "resampling"},
		{Name: "Mean TTFT, bias", Value: "−2.0%", Count: "9 points", Scope: "scope B", Covers: "one run"},
		{Name: "Mean TPOT, absolute error", Value: "too few points", Few: true, Count: "4 points", Scope: "scope C", Covers: "resampling"},
		{Name: "Mean TPOT, bias", Value: "+50.0%", Count: "9 points", Scope: "scope D", Covers: "one run"},
	}
	if !slices.Equal(figures, want) {
		t.Errorf("got  %+v\nwant %+v", figures, want)
	}
	if body := build(t, in).docs[""].Body; !strings.Contains(body, "9 points · scope D · one run") {
		t.Error("what differs between figures is not said beside each")
	}
	for i, how := range []string{"resampling", "one run"} { // said beside each where it differs, once where it does not
		in.Summary.Headline = []record.Accuracy{{Metric: "ttft_mean", MAPE: record.NewFigure(0.1, "ratio", 9, "A", 0, 1, "resampling"), Bias: record.NewFigure(0.1, "ratio", 9, "A", 0, 1, how)}}
		if got, want := strings.Count(build(t, in).docs[""].Body, "resampling"), 1; got != want || i == 1 && !strings.Contains(build(t, in).docs[""].Body, "9 points · one run") {
			t.Errorf("intervals by resampling and %s: resampling is named %d times, want %d", how, got, want)
		}
		if body := build(t, in).docs[""].Body; strings.Count(body, "Over A. ") != 1 {
			t.Errorf("the scope that all share is not said once")
		}
	}
}

func TestChartOfTooFewPointsIsWords(t *testing.T) {
	keep.Rule(t, "COV-11")
	for _, c := range []struct {
		points int
		few    bool
	}{{record.MinPoints - 1, true}, {record.MinPoints, false}} {
		in := sitetest.Release(40)
		kept := in.Points[:0]
		for _, p := range in.Points {
			if p.Grade != record.G5 && len(kept) < c.points {
				kept = append(kept, p)
			}
		}
		in.Points = kept
		m := build(t, in)
		var chart *page.Chart
		for _, b := range m.docs[""].Blocks {
			if b.Kind == "pair" && chart == nil {
				chart = b.Blocks[0].Chart
			}
		}
		if got := chart.Few != ""; got != c.few {
			t.Errorf("%d points: got words %v (%q), want %v", c.points, got, chart.Few, c.few)
		}
		if _, drawn := m.files["charts/scatter-ttft_mean-light.svg"]; drawn == c.few {
			t.Errorf("%d points: got picture %v, want %v", c.points, drawn, !c.few)
		}
	}
}

func TestLongLaneGoesOnOverPages(t *testing.T) {
	in := sitetest.Release(30)
	p := in.Points[0]
	in.Points = nil
	for i := range 501 {
		p.UnitID = fmt.Sprintf("%064d", i)
		in.Points = append(in.Points, p)
	}
	m := build(t, in)
	rows := func(path string) int { return len(block(t, m.docs[path], "points").Table.Rows) }
	if got := rows("lanes/vllm-gpt-oss-120b-h100_sxm-fp8/"); got != 500 {
		t.Errorf("first page: got %d rows, want 500", got)
	}
	if got := rows("lanes/vllm-gpt-oss-120b-h100_sxm-fp8/2/"); got != 1 {
		t.Errorf("second page: got %d rows, want 1", got)
	}
	if got, want := m.docs["lanes/vllm-gpt-oss-120b-h100_sxm-fp8/2/"].Description, "units 501 to 501 of 501."; !strings.Contains(got, want) {
		t.Errorf("second page: described as %q, want %q in it", got, want)
	}
}

func TestDataFilesAreWhatTheirSchemasSay(t *testing.T) {
	m := build(t, sitetest.Release(60))
	charts := 0
	for name, data := range m.files {
		var schema string
		switch {
		case strings.HasPrefix(name, "charts/") && strings.HasSuffix(name, ".json") && !strings.HasSuffix(name, ".option.json"):
			schema = "chart"
			charts++
		case slices.Contains([]string{"data/points.json", "data/summary.json", "data/coverage.json", "data/backlog.json"}, name):
			schema = strings.TrimSuffix(strings.TrimPrefix(name, "data/"), ".json")
		default:
			continue
		}
		if err := validate(t, schema, data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if charts == 0 {
		t.Error("no chart data among the files")
	}
	if err := validate(t, "summary", []byte(`{"schema":"x"}`)); err == nil {
		t.Error("the schema of summary accepts a document without figures")
	}
}

func validate(t *testing.T, name string, data []byte) error {
	t.Helper()
	raw, err := docgen.Schema(name)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return compiled.Validate(doc)
}

func TestPointsCSVHasEveryPointAndValue(t *testing.T) {
	in := sitetest.Release(50)
	m := build(t, in)
	lines, err := csv.NewReader(bytes.NewReader(m.files["data/points.csv"])).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(lines), len(in.Points)+1; got != want {
		t.Fatalf("got %d lines, want %d", got, want)
	}
	var points []record.Point
	if err := json.Unmarshal(m.files["data/points.json"], &points); err != nil {
		t.Fatal(err)
	}
	at := slices.Index(lines[0], "ttft_mean_relative_error")
	for i, p := range points {
		got, want := lines[i+1][at], ""
		if m, ok := p.Metrics["ttft_mean"]; ok && p.Grade != record.G5 {
			want = fmt.Sprint(m.RelativeError)
		}
		if lines[i+1][0] != p.UnitID || got != want {
			t.Errorf("line %d: got %s %q, want %s %q", i+2, lines[i+1][0], got, p.UnitID, want)
		}
	}
}

func TestEveryReasonAndGradeHasWords(t *testing.T) {
	in := sitetest.Release(10)
	var points []record.Point
	for i, r := range record.Reasons() {
		p := in.Points[0]
		p.UnitID, p.Grade, p.Reason, p.Metrics = fmt.Sprintf("%064d", i), record.G5, r, nil
		points = append(points, p)
	}
	for i, g := range record.Grades()[:4] {
		p := in.Points[0]
		p.UnitID, p.Grade, p.Reason = fmt.Sprintf("%064d", 100+i), g, ""
		points = append(points, p)
	}
	in.Points = points
	for path, d := range build(t, in).docs {
		if strings.HasPrefix(path, "points/") && path != "points/" && (strings.Contains(d.Lead, ": .") || strings.HasSuffix(block(t, d, "grade").Title, ": ")) {
			t.Errorf("%s: a grade or reason has no words: %q, %q", path, d.Lead, block(t, d, "grade").Title)
		}
	}
}

func TestATableOfIntervalsIsDownloadedWithBothEnds(t *testing.T) {
	in := sitetest.Release(60)
	of := record.NewFigure(0.1532, "ratio", 9, "A", 0.125, 0.25, "resampling")
	accuracy := []record.Accuracy{{Group: "vllm", Metric: "ttft_mean", MAPE: of, Bias: of, MedianAPE: of, CountedMAPE: of, Spread: of}}
	in.Summary.ByChip, in.Summary.ByEngine, in.Summary.ByModel, in.Summary.ByGrade, in.Summary.ByBand = accuracy, accuracy, accuracy, accuracy, accuracy
	m := build(t, in)
	for _, name := range []string{"by-chip", "by-engine", "by-model", "each-engine", "each-grade", "each-concurrency"} {
		lines, err := csv.NewReader(bytes.NewReader(m.files["data/tables/"+name+".csv"])).ReadAll()
		if err != nil || len(lines) != 2 {
			t.Fatalf("%s: got %d lines, %v, want 2", name, len(lines), err)
		}
		low, high := slices.Index(lines[0], "95% low"), slices.Index(lines[0], "95% high")
		if low < 0 || high < 0 || lines[1][low] != "0.125" || lines[1][high] != "0.25" {
			t.Errorf("%s: got %q, want 95%% low 0.125 and 95%% high 0.25", name, lines)
		}
	}
	for name, data := range m.files {
		if head, _, _ := strings.Cut(string(data), "\n"); strings.HasSuffix(name, ".csv") && strings.Contains(head, "interval") {
			t.Errorf("%s: an interval in one column: %s", name, head)
		}
	}
}

func TestReproducingSaysWhetherItSimulates(t *testing.T) {
	in := sitetest.Release(60)
	m := build(t, in)
	for _, p := range in.Points {
		note := block(t, m.docs["points/"+p.UnitID+"/"], "reproduce").Note
		if got, want := strings.Contains(note, "nothing is simulated"), p.Grade == record.G5; got != want || strings.Contains(note, "command simulates") == want {
			t.Errorf("a point of grade %s: %q", p.Grade, note)
		}
	}
}

func TestCurvesOfALaneSayThatTheirScaleIsLogarithmic(t *testing.T) {
	curves := 0
	for name, data := range build(t, sitetest.Release(400)).files {
		if strings.HasPrefix(name, "charts/vllm-") && strings.HasSuffix(name, "_mean.option.json") {
			curves++
			if !strings.Contains(string(data), "(ms, log scale)") {
				t.Errorf("%s: no axis says that its scale is logarithmic", name)
			}
		}
	}
	if curves == 0 {
		t.Error("no lane has a curve")
	}
}

func TestALoadWithoutAChartSaysWhy(t *testing.T) {
	in := sitetest.Release(120)
	lane, kept := in.Points[0].Lane, 0
	in.Points = slices.DeleteFunc(in.Points, func(p record.Point) bool {
		if p.Lane == lane && p.Grade != record.G5 {
			kept++
		}
		return p.Lane != lane || kept > 4
	})
	text := block(t, build(t, in).docs["lanes/"+strings.ReplaceAll(lane, " ", "-")+"/"], "without").Items
	if len(text) == 0 || !strings.HasSuffix(text[0], "a picture takes 5") {
		t.Errorf("got %q, want how many points a picture takes", text)
	}
}
