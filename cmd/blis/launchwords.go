package main

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"gopkg.in/yaml.v3"
)

// launchWords splits the command given, or read from the file of that name. A YAML
// document gives the words of its engine's container, and the variables beside them.
func launchWords(from string) ([]string, map[string]string, error) {
	text := from
	b, err := os.ReadFile(from)
	switch {
	case err == nil:
		text = string(b)
	case namesFile(from):
		return nil, nil, &diag.Refusal{Field: "--from-args", Value: from, Problem: "cannot be read: " + err.Error(), Accept: "a file, or the command itself: vllm serve MODEL"}
	}
	c := container(text)
	if c == nil {
		words, err := shellWords(text)
		if err == nil {
			err = otherProgram(words)
		}
		return words, nil, err
	}
	env, err := variables(c.env)
	if err != nil {
		return nil, nil, err
	}
	if len(c.words) == 3 && strings.HasSuffix(c.words[0], "sh") { // sh -c "..."
		words, err := shellWords(c.words[2])
		if err == nil {
			err = otherProgram(words)
		}
		return words, env, err
	}
	return expand(c.words, env), env, otherProgram(c.words)
}

// namesFile is whether a text is the name of a file rather than a command: one word, with a
// file's ending or from the root.
func namesFile(text string) bool {
	return !strings.ContainsAny(text, " \t\n") && (filepath.IsAbs(text) || slices.Contains([]string{".yaml", ".yml", ".json", ".txt", ".sh"}, filepath.Ext(text)))
}

// otherProgram refuses a command that starts something else than the engine that reads it. Only
// the words before the options name a program.
func otherProgram(words []string) error {
	for _, w := range words {
		switch name := path.Base(w); {
		case strings.HasPrefix(w, "-") && w != "-m":
			return nil
		case slices.Contains([]string{"docker", "podman", "nerdctl"}, name):
			return &diag.Refusal{Field: "--from-args", Value: w, Problem: "starts a container, and its own options are not the engine's", Accept: "the words after the image, or a manifest"}
		case name == "sglang" || strings.HasPrefix(name, "sglang."):
			return &diag.Refusal{Field: "--from-args", Value: w, Problem: "starts SGLang, whose launch commands are not read", Accept: "vllm serve MODEL; `blis fields --engine sglang` lists what a scenario's engine.args may state"}
		}
	}
	return nil
}

// expand puts in the values of the manifest's references, $(NAME), and drops the
// variables that served only them.
func expand(words []string, env map[string]string) []string {
	var used []string
	for i, w := range words {
		words[i] = references.ReplaceAllStringFunc(w, func(r string) string {
			name := r[2 : len(r)-1]
			if v, ok := env[name]; ok {
				used = append(used, name)
				return v
			}
			return r
		})
	}
	for _, name := range used {
		if !strings.HasPrefix(name, "VLLM_") {
			delete(env, name)
		}
	}
	return words
}

var references = regexp.MustCompile(`\$\([A-Za-z_][A-Za-z0-9_]*\)`)

// process is what a container runs.
type process struct {
	words  []string
	env    any
	engine bool // its image or command names the engine
}

// container finds a list of words, or the first mapping with args or command that
// names the engine, else the first, in a stream of YAML documents.
func container(text string) *process {
	var found []process
	dec := yaml.NewDecoder(strings.NewReader(text))
	for {
		var doc any
		if dec.Decode(&doc) != nil {
			break
		}
		if list, isList := doc.([]any); isList {
			if words, ok := stringsOf(list); ok {
				return &process{words: words}
			}
		}
		found = findContainers(found, doc)
	}
	if len(found) == 0 {
		return nil
	}
	i := slices.IndexFunc(found, func(p process) bool { return p.engine })
	return &found[max(i, 0)]
}

func findContainers(found []process, v any) []process {
	switch x := v.(type) {
	case []any:
		for _, e := range x {
			found = findContainers(found, e)
		}
	case map[string]any:
		args, hasArgs := x["args"].([]any)
		command, hasCommand := x["command"].([]any)
		if words, ok := stringsOf(append(slices.Clone(command), args...)); ok && (hasArgs || hasCommand) {
			named := fmt.Sprint(x["image"], words)
			return append(found, process{words, x["env"], strings.Contains(named, "vllm")})
		}
		for _, name := range slices.Sorted(maps.Keys(x)) {
			found = findContainers(found, x[name])
		}
	}
	return found
}

// variables reads a container's env list. A value kept elsewhere is not known here:
// it is refused for a variable of the engine's own and left out for another.
func variables(v any) (map[string]string, error) {
	list, _ := v.([]any)
	env := map[string]string{}
	for _, e := range list {
		m, ok := e.(map[string]any)
		if !ok {
			continue
		}
		name := fmt.Sprint(m["name"])
		switch {
		case m["value"] != nil:
			env[name] = fmt.Sprint(m["value"])
		case m["valueFrom"] != nil && strings.HasPrefix(name, "VLLM_"):
			return nil, &diag.Refusal{Field: "env." + name, Value: "valueFrom", Problem: "is kept outside the manifest", Accept: "value: with the text itself"}
		}
	}
	return env, nil
}

func stringsOf(list []any) ([]string, bool) {
	out := make([]string, len(list))
	for i, e := range list {
		switch e.(type) {
		case []any, map[string]any:
			return nil, false
		}
		out[i] = fmt.Sprint(e)
	}
	return out, len(out) > 0
}

// shellWords splits one command as a POSIX shell would, without expansions.
func shellWords(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	open, escaped, comment, quote := false, false, false, rune(0)
	put := func(r rune) {
		word.WriteRune(r)
		open = true
	}
	end := func() {
		if open {
			words = append(words, word.String())
		}
		word.Reset()
		open = false
	}
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
		switch {
		case comment:
			comment = r != '\n'
		case escaped:
			escaped = false
			if quote == '"' && !strings.ContainsRune("$`\"\\\n", r) {
				put('\\')
			}
			if r != '\n' {
				put(r)
			}
		case r == '\\' && quote != '\'':
			escaped = true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			put(r)
		case r == '\'' || r == '"':
			quote, open = r, true
		case strings.ContainsRune(" \t\n", r):
			end()
		case r == '#' && !open:
			comment = true
		case strings.ContainsRune(";|&<>", r):
			return nil, &diag.Refusal{Field: "from-args", Value: string(r), Problem: "is an operator of the shell", Accept: "the one command that starts the engine, or the character in quotes"}
		default:
			put(r)
		}
	}
	if quote != 0 {
		return nil, &diag.Refusal{Field: "from-args", Problem: fmt.Sprintf("a quote (%c) is not closed", quote)}
	}
	end()
	return words, nil
}
