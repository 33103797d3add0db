package strict

// Ways are the two ways that YAML and JSON read a document.
var Ways = map[string]struct {
	Direct    func([]byte, any) bool
	ByTheBook func(string, []byte, any) error
}{"YAML": {direct, byTheBook}, "JSON": {directJSON, jsonByTheBook}}
