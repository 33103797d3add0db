package canon

import (
	"math"
	"testing"
)

func TestJSON(t *testing.T) {
	type doc struct {
		Z int    `json:"z"`
		A string `json:"a"`
		N any    `json:"n"`
	}
	got, err := JSON(doc{Z: 9007199254740993, A: "é<&>", N: []any{nil, true, 1.5}})
	if want := `{"a":"é<&>","n":[null,true,1.5],"z":9007199254740993}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if _, err := JSON(math.NaN()); err == nil {
		t.Error("NaN was written; want an error")
	}
}

func TestHashIgnoresFieldOrder(t *testing.T) {
	a, _ := Hash(map[string]int{"x": 1, "y": 2})
	b, _ := Hash(struct {
		Y int `json:"y"`
		X int `json:"x"`
	}{2, 1})
	if a != b || a != Sum([]byte(`{"x":1,"y":2}`)) {
		t.Errorf("got %s and %s, want one hash", a, b)
	}
}
