package harness

import (
	"strings"

	"github.com/inference-sim/accuracy-dashboard/ledger"
	"github.com/inference-sim/accuracy-dashboard/scorer/record"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
)

// clients maps a client's repository to the release of it that is reproduced.
var clients = map[string]string{
	"SemiAnalysisAI/InferenceX": spec.ClientInferenceX,
	"kimbochen/bench_serving":   spec.ClientBenchServing,
}

// maxFailed is the share of failed requests above which the benchmark discards a
// run (SemiAnalysisAI/InferenceX@843c6254 utils/bench_serving, max_failure_rate).
const maxFailed = 0.05

// concurrencyTolerance bounds how far the simulated client may fall from the
// concurrency the run stated while it has requests left (COV-10).
const concurrencyTolerance = 0.02

// frame states the run's requests and measurement in s. A value the run did not
// record refuses the unit; nothing is defaulted.
func frame(c *ledger.Configuration, vocab int, s *spec.Scenario, t *record.Trial) *record.Refused {
	k := c.Client
	release, known := clients[k.Repo]
	switch {
	case k.MaxConcurrency == nil:
		return refuse(record.ValueNotRecorded, "client max_concurrency")
	case k.NumPrompts == nil:
		return refuse(record.ValueNotRecorded, "client num_prompts")
	case !known:
		return refuse(record.ValueNotRecorded, "the requests client %s draws are not known", k.Repo)
	case k.Dataset != "random" || k.RequestRate != "inf" || !k.IgnoreEOS:
		return refuse(record.ValueNotRecorded, "the requests of dataset %s at rate %s are not known", k.Dataset, k.RequestRate)
	}
	s.Workload.InferenceX = &spec.InferenceX{
		Release: release, ISL: k.InputLen, OSL: k.OutputLen, RangeRatio: k.RandomRangeRatio,
		Prompts: *k.NumPrompts, Concurrency: *k.MaxConcurrency, Warmups: k.NumWarmups, VocabSize: vocab,
	}
	s.Frame.Drain = "measured"
	s.Frame.Accept = &spec.Accept{Failed: maxFailed, Unfinished: 0, Concurrency: concurrencyTolerance}
	t.Client = differences(k, release)
	return nil
}

// differences names how the run's client may have sent other requests than the
// simulated one (COV-12).
func differences(k *ledger.Client, release string) []string {
	_, pin, _ := strings.Cut(release, "-")
	d := []string{
		"prompt lengths are the client's, not verified with the run's tokenizer at a pinned revision",
		"prompt contents are drawn over the model's vocabulary; the tokenizer's own size is not recorded",
	}
	switch {
	case k.Commit == nil:
		d = append(d, "client release not recorded, simulated as "+release)
	case !strings.HasPrefix(*k.Commit, pin):
		d = append(d, "client of commit "+*k.Commit+", simulated as "+release)
	}
	if release == spec.ClientBenchServing {
		d = append(d, "this client re-encodes and cuts prompts, so the server may have received fewer tokens than it reports")
	}
	if k.UseChatTemplate {
		d = append(d, "the chat template's tokens are not recorded and not added")
	}
	return d
}
