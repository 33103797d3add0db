package kv

import "github.com/inference-sim/accuracy-dashboard/internal/diag"

// Layer is a run of equal layers.
type Layer struct {
	Spec  GroupSpec // Layers unset
	Count int
}

// Group arranges layers into groups of one block table each: equal specs share a
// group; otherwise layers of a kind are split into groups of the same number of
// layers, after smaller pages were scaled up to the largest. unify makes windowed
// layers allocate as full attention (disable_hybrid_kv_cache_manager).
//
// Source: vllm/v1/core/kv_cache_utils.py:1086-1150, 1797-1880.
func Group(layers []Layer, unify bool) ([]GroupSpec, error) {
	types, err := layerTypes(layers, unify)
	if err != nil {
		return nil, err
	}
	if len(types) == 0 {
		return nil, &diag.Refusal{Field: "layers", Problem: "no layer keeps a KV cache", Rule: "VLM-1"}
	}
	if len(types) == 1 {
		g := types[0].Spec
		g.Layers = types[0].Count
		return []GroupSpec{g}, nil
	}
	if err := samePages(types); err != nil {
		return nil, err
	}
	least, most := types[0].Count, types[0].Count
	for _, t := range types {
		least, most = min(least, t.Count), max(most, t.Count)
	}
	size := least
	if 4*most < 5*least {
		size = most
	}
	var groups []GroupSpec
	for _, t := range types {
		n := ceilDiv(t.Count, size)
		for i := range n {
			g := t.Spec
			g.Layers = (t.Count - i + n - 1) / n
			groups = append(groups, g)
		}
	}
	return groups, nil
}

// layerTypes merges equal specs, in order of first appearance.
func layerTypes(layers []Layer, unify bool) ([]Layer, error) {
	hybrid := false
	for _, l := range layers {
		hybrid = hybrid || l.Spec.Kind == Full
	}
	var types []Layer
	for _, l := range layers {
		if l.Count <= 0 {
			return nil, &diag.Refusal{Field: "layers", Problem: "a run of layers must hold at least one", Rule: "VLM-1"}
		}
		if unify && hybrid && (l.Spec.Kind == SlidingWindow || l.Spec.Kind == ChunkedLocal) {
			l.Spec.Kind = Full
		}
		types = mergeType(types, l, unify)
	}
	return types, nil
}

func mergeType(types []Layer, l Layer, unify bool) []Layer {
	for k := range types {
		t := &types[k]
		same := t.Spec
		if unify && same.Kind == Full {
			same.Window = l.Spec.Window
		}
		if same == l.Spec {
			t.Spec.Window = max(t.Spec.Window, l.Spec.Window)
			t.Count += l.Count
			return types
		}
	}
	return append(types, l)
}

// samePages scales the block of smaller pages up to the largest page.
func samePages(types []Layer) error {
	var page int64
	for _, t := range types {
		page = max(page, t.Spec.PageBytes)
	}
	for k := range types {
		s := &types[k].Spec
		if s.PageBytes == page {
			continue
		}
		if page%s.PageBytes != 0 || s.Kind == Mamba {
			return &diag.Refusal{Field: "layers", Problem: "page sizes of the layers cannot be unified",
				Accept: "page sizes that divide the largest one", Rule: "VLM-1"}
		}
		s.BlockSize *= int(page / s.PageBytes)
		s.PageBytes = page
	}
	return nil
}

// BlockSizes gives the scheduler and the hash block size of groups
// (kv_cache_utils.py:648-709).
func BlockSizes(groups []GroupSpec, caching bool) (scheduler, hash int) {
	scheduler, hash = groups[0].BlockSize, groups[0].BlockSize
	for _, g := range groups[1:] {
		hash = gcd(hash, g.BlockSize)
		scheduler = scheduler / gcd(scheduler, g.BlockSize) * g.BlockSize
	}
	if !caching {
		hash = scheduler
	}
	return scheduler, hash
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// PeakBlocks is the most blocks one request of tokens can hold over all groups.
func PeakBlocks(groups []GroupSpec, tokens, inFlight int) int {
	n := 0
	for i := range groups {
		n += groups[i].Peak(tokens, inFlight)
	}
	return n
}
