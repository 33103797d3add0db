package main

import (
	"encoding/json"
	"errors"
	"syscall/js"
)

// serve sets the Worker's functions and stays.
func serve() int {
	js.Global().Set("blisRun", promised(func(scenario string, p progress) ([]byte, error) {
		return simulate(made, []byte(scenario), p)
	}))
	js.Global().Set("blisRerun", promised(func(point string, p progress) ([]byte, error) {
		v, err := rerun([]byte(point), p)
		if err != nil {
			return nil, err
		}
		return json.Marshal(v)
	}))
	js.Global().Set("blisOffer", js.FuncOf(func(js.Value, []js.Value) any {
		o, err := offered()
		if err != nil {
			return failed(err)
		}
		b, err := json.Marshal(o)
		if err != nil {
			return failed(err)
		}
		return map[string]any{"result": string(b)}
	}))
	select {}
}

// promised makes do a function of a string and a callback that gives a promise of
// {result}, {stopped} or {error, hints}. The work is done outside the call, so that the
// Worker hears messages while it waits.
func promised(do func(text string, p progress) ([]byte, error)) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) any {
		var start js.Func
		start = js.FuncOf(func(_ js.Value, settle []js.Value) any {
			start.Release()
			go func() {
				out, err := do(args[0].String(), func(ended, total int64) bool {
					return args[1].Invoke(ended, total).Truthy()
				})
				if err != nil {
					settle[0].Invoke(failed(err))
					return
				}
				settle[0].Invoke(map[string]any{"result": string(out)})
			}()
			return nil
		})
		return js.Global().Get("Promise").New(start)
	})
}

func failed(err error) map[string]any {
	if errors.Is(err, errStopped) {
		return map[string]any{"stopped": true}
	}
	list := []any{}
	for _, h := range hints(err) {
		list = append(list, h)
	}
	return map[string]any{"error": told(err), "hints": list}
}
