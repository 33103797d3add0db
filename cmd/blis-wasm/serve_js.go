package main

import "syscall/js"

// serve sets the page's function and stays.
func serve() int {
	js.Global().Set("blisRun", js.FuncOf(func(_ js.Value, args []js.Value) any {
		if len(args) != 1 || args[0].Type() != js.TypeString {
			return map[string]any{"error": "blisRun takes one string, a scenario in YAML", "hints": []any{}}
		}
		result, err := simulate("scenario", []byte(args[0].String()))
		if err != nil {
			list := []any{}
			for _, h := range hints(err) {
				list = append(list, h)
			}
			return map[string]any{"error": err.Error(), "hints": list}
		}
		return map[string]any{"result": string(result)}
	}))
	select {}
}
