package page

import "testing"

func TestNumbersKeepFourSignificantDigits(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{{0, "0"}, {0.0123456, "0.0123"}, {1.23456, "1.235"}, {12.3456, "12.35"}, {123.456, "123.5"}, {1234.56, "1,235"}, {1234567.8, "1,234,568"}, {-1234.5, "−1,234"}, {999.96, "1,000.0"}, {-12.3456, "−12.35"}} {
		if got := number(c.v); got != c.want {
			t.Errorf("%v: got %s, want %s", c.v, got, c.want)
		}
	}
}

func TestThousandsStandApart(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{count(999), "999"}, {count(1000), "1,000"}, {count(1234567), "1,234,567"}, {aligned("ttft_mean", 59.17543), "59,175.4"}, {aligned("tpot_mean", 0.0084), "8.40"},
		{requests(4), "4"}, {requests(3.25), "3.250"}, {requests(2048), "2,048"}, {apart("−123456.7"), "−123,456.7"}, {apart("−123"), "−123"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}

func TestSignedErrorsShowTheirSign(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{{0.069, "+6.9%"}, {-0.069, "−6.9%"}, {0, "0.0%"}, {0.0004, "0.0%"}, {-0.0004, "0.0%"}, {0.0006, "+0.1%"}, {2.5, "+250.0%"}} {
		if got := signed(c.v); got != c.want {
			t.Errorf("%v: got %s, want %s", c.v, got, c.want)
		}
	}
}

func TestSlugsAreSafePathElements(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"vllm meta-llama/Llama-3.1-70B h100_sxm fp8", "vllm-meta-llama-llama-3.1-70b-h100_sxm-fp8"},
		{"../../etc/passwd", "..-..-etc-passwd"},
		{"<script>", "script"},
	} {
		if got := slug(c.name); got != c.want {
			t.Errorf("%q: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestBuildNamesKeepTheTag(t *testing.T) {
	for _, c := range []struct{ build, want string }{
		{"vllm/vllm-openai:v0.10.2", "v0.10.2"}, {"0.10.2", "0.10.2"}, {"localhost:5000/vllm:nightly", "nightly"}, {"localhost:5000/vllm", "vllm"},
	} {
		if got := buildName(c.build); got != c.want {
			t.Errorf("%q: got %q, want %q", c.build, got, c.want)
		}
	}
}
