package catalog

import "testing"

func TestEmbeddedOpens(t *testing.T) {
	c, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range c.Models() {
		m, _ := c.Model(n)
		total, active := m.Graph.Params()
		t.Logf("%s %d layers %.4g total %.4g active", n, m.Graph.LayerCount(), float64(total), float64(active))
		for _, cp := range m.Checkpoints {
			var b float64
			for _, x := range m.Graph.WeightBytes(cp.Storage, false) {
				b += float64(x)
			}
			t.Logf("   %s %.4g GB", cp.Name, b/1e9)
		}
	}
}
