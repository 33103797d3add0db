package kv

import (
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
)

func layer(kind Kind, count, window, page int) Layer {
	return Layer{Count: count, Spec: GroupSpec{Kind: kind, BlockSize: 16, Window: window, PageBytes: int64(page)}}
}

func TestGroup(t *testing.T) {
	for _, c := range []struct {
		name   string
		layers []Layer
		unify  bool
		want   []GroupSpec // Kind, BlockSize, Window, Layers
	}{
		{"equal layers share a group", []Layer{layer(Full, 3, 0, 512), layer(Full, 2, 0, 512)}, false, []GroupSpec{{Kind: Full, BlockSize: 16, Layers: 5}}},
		{"the smallest kind sets the group size", []Layer{layer(Full, 2, 0, 512), layer(SlidingWindow, 4, 64, 512)}, false,
			[]GroupSpec{{Kind: Full, BlockSize: 16, Layers: 2}, {Kind: SlidingWindow, BlockSize: 16, Window: 64, Layers: 2}, {Kind: SlidingWindow, BlockSize: 16, Window: 64, Layers: 2}}},
		{"nearly equal kinds are padded instead of split", []Layer{layer(SlidingWindow, 12, 64, 512), layer(Full, 13, 0, 512)}, false,
			[]GroupSpec{{Kind: SlidingWindow, BlockSize: 16, Window: 64, Layers: 12}, {Kind: Full, BlockSize: 16, Layers: 13}}},
		{"smaller pages get larger blocks", []Layer{layer(Full, 1, 0, 256), layer(SlidingWindow, 1, 64, 1024)}, false,
			[]GroupSpec{{Kind: Full, BlockSize: 64, Layers: 1}, {Kind: SlidingWindow, BlockSize: 16, Window: 64, Layers: 1}}},
		{"unified windows allocate in full", []Layer{layer(Full, 1, 0, 512), layer(SlidingWindow, 1, 64, 512)}, true, []GroupSpec{{Kind: Full, BlockSize: 16, Window: 64, Layers: 2}}},
		{"windows alone stay windows", []Layer{layer(SlidingWindow, 2, 64, 512)}, true, []GroupSpec{{Kind: SlidingWindow, BlockSize: 16, Window: 64, Layers: 2}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Group(c.layers, c.unify)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(c.want) {
				t.Fatalf("got %+v, want %+v", got, c.want)
			}
			for i, g := range got {
				if w := c.want[i]; g.Kind != w.Kind || g.BlockSize != w.BlockSize || g.Window != w.Window || g.Layers != w.Layers || g.PageBytes != got[0].PageBytes {
					t.Errorf("group %d: got %+v, want %+v", i, g, w)
				}
			}
		})
	}
}

func TestGroupRefusesPagesThatDoNotDivide(t *testing.T) {
	if _, err := Group([]Layer{layer(Full, 1, 0, 512), layer(SlidingWindow, 1, 64, 768)}, false); err == nil {
		t.Error("pages of 512 and 768 bytes: got no refusal")
	}
	if _, err := Group([]Layer{layer(Full, 1, 0, 512), layer(SlidingWindow, 1, 64, 1024)}, false); err != nil {
		t.Errorf("pages of 512 and 1024 bytes: %v", err)
	}
}

func TestSpecKindRefusesByName(t *testing.T) {
	keep.Rule(t, "VLM-7")
	for class, known := range map[string]bool{"FullAttentionSpec": true, "MLAAttentionSpec": true, "SlidingWindowSpec": true, "ChunkedLocalAttentionSpec": true,
		"MambaSpec": true, "CrossAttentionSpec": false, "SinkFullAttentionSpec": false, "RSWASpec": false, "EncoderOnlyAttentionSpec": false} {
		if _, err := SpecKind(class); (err == nil) != known {
			t.Errorf("%s: got %v, want known %v", class, err, known)
		}
	}
}

func TestStatesPeakAtTheRunningOneAndItsDrafts(t *testing.T) {
	for _, c := range []struct {
		g    GroupSpec
		want int
	}{
		{GroupSpec{Kind: Mamba, BlockSize: 16, Aligned: true, Extra: 3}, 5}, // the last state, the running one, drafts
		{GroupSpec{Kind: Mamba, BlockSize: 512, Extra: 3}, 4},
	} {
		if got := c.g.Peak(400, 64); got != c.want {
			t.Errorf("%+v: got %d blocks, want %d", c.g, got, c.want)
		}
	}
}
