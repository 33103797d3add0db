package main

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"unicode"

	"github.com/inference-sim/accuracy-dashboard/cost/plan"
)

// snake is v as JSON shows it where its types name no fields: each field in snake_case, and a
// number that has a name as that name.
func snake(v any) any {
	switch x := v.(type) {
	case plan.Method:
		return x.String()
	case plan.Launch:
		return launchNames[x]
	case plan.StepMode:
		return modeNames[x]
	case encoding.TextMarshaler:
		return x
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Pointer, reflect.Interface:
		if r.IsNil() {
			return nil
		}
		return snake(r.Elem().Interface())
	case reflect.Slice, reflect.Array:
		list := make([]any, r.Len())
		for i := range list {
			list[i] = snake(r.Index(i).Interface())
		}
		return list
	case reflect.Map:
		m := make(map[string]any, r.Len())
		for _, k := range r.MapKeys() {
			m[fmt.Sprint(k)] = snake(r.MapIndex(k).Interface())
		}
		return m
	case reflect.Struct:
		m := make(map[string]any, r.NumField())
		for i := range r.NumField() {
			if f := r.Type().Field(i); f.IsExported() {
				m[snakeName(f.Name)] = snake(r.Field(i).Interface())
			}
		}
		return m
	}
	return v
}

// snakeName writes KVBudget as kv_budget and TopK as top_k.
func snakeName(name string) string {
	var b strings.Builder
	runes := []rune(strings.ReplaceAll(name, "DType", "Dtype"))
	for i, c := range runes {
		if i > 0 && unicode.IsUpper(c) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}
