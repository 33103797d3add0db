package spec

import (
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// position finds the node at a dotted path such as "workload.clients[1].prompt"
// and returns where the deepest part that exists stands.
func position(n *yaml.Node, path string) (line, col int) {
	line, col = n.Line, n.Column
	for _, part := range parts(path) {
		key, value := child(n, part)
		if value == nil {
			return line, col
		}
		line, col, n = key.Line, key.Column, value
	}
	return line, col
}

func parts(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
}

// find is the value at a dotted path, nil when it is not written out.
func find(n *yaml.Node, path string) *yaml.Node {
	for _, part := range parts(path) {
		if _, n = child(n, part); n == nil {
			return nil
		}
	}
	return n
}

func child(n *yaml.Node, part string) (key, value *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == part {
				return n.Content[i], n.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(part); err == nil && i < len(n.Content) {
			return n.Content[i], n.Content[i]
		}
	}
	return nil, nil
}
