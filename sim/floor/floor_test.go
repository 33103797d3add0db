package floor

import "testing"

// By hand: two requests share a prefill step of 5+2 us and two decode steps of
// 5+2 us; the third comes when they have ended.
func TestRunByHand(t *testing.T) {
	got := Run(&Load{Arrivals: []int64{0, 0, 100}, Prompt: []int32{10, 10, 10}, Output: []int32{3, 3, 1}, Budget: 100, Seqs: 2, Base: 5000, Seq: 1000, Token: 100})
	if want := (Count{Steps: 4, Output: 7, FirstToken: 7 + 7 + 6, EndToEnd: 21 + 21 + 6}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestBudgetCutsPrompts(t *testing.T) {
	got := Run(&Load{Arrivals: []int64{0}, Prompt: []int32{10}, Output: []int32{1}, Budget: 4, Seqs: 1, Base: 1000})
	if got.Steps != 3 {
		t.Errorf("got %d steps for 10 tokens by 4, want 3", got.Steps)
	}
}

// The yardstick costs at most 15 ns an output token on the project's machines.
func BenchmarkW1(b *testing.B) {
	const n = 10_000
	l := &Load{Budget: 2048, Seqs: 128, Base: 5_000_000, Seq: 50_000, Token: 10_000}
	for i := range n {
		l.Arrivals = append(l.Arrivals, int64(i)*50_000)
		l.Prompt, l.Output = append(l.Prompt, 512), append(l.Output, 128)
	}
	var tokens int64
	for b.Loop() {
		tokens = Run(l).Output
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(tokens), "ns/token")
}
