package vllm

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/engines"
	"github.com/inference-sim/accuracy-dashboard/engines/fields"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
)

// aliases are the short options (arg_utils.py, add_cli_args; utils/argparse_utils.py).
var aliases = map[string]string{
	"-tp": "tensor-parallel-size", "-pp": "pipeline-parallel-size", "-dp": "data-parallel-size", "-dcp": "decode-context-parallel-size",
	"-pcp": "prefill-context-parallel-size", "-ep": "enable-expert-parallel", "-n": "nnodes", "-r": "node-rank", "-q": "quantization",
	"-cc": "compilation-config", "-ac": "attention-config", "-sc": "speculative-config", "-O": "optimization-level",
}

// ParseLaunch reads the words of `[VAR=value ...] vllm serve MODEL --options`, of
// `python -m vllm.entrypoints.openai.api_server --options`, or of a container's
// arguments alone. Refusals use vLLM's words (argparse's, prefixed as its parser
// does).
func (k *Kind) ParseLaunch(words []string) (*engines.CommandLine, error) {
	l := &engines.CommandLine{Args: map[string]any{}, Env: map[string]string{}}
	p := &parser{k: k, rest: head(l, words), launch: l}
	for len(p.rest) > 0 {
		if err := p.option(); err != nil {
			return nil, err
		}
	}
	if m, ok := l.Args["model"]; ok {
		l.Model = fmt.Sprint(m)
		delete(l.Args, "model")
	}
	if l.Model == "" {
		return nil, &diag.Refusal{Field: "vllm serve", Problem: "the following arguments are required: model", Accept: "vllm serve MODEL"}
	}
	return l, nil
}

// head takes the variables and the program's own words off the front.
func head(l *engines.CommandLine, words []string) []string {
	for len(words) > 0 {
		w := words[0]
		name, value, assigned := strings.Cut(w, "=")
		switch {
		case assigned && !strings.HasPrefix(w, "-") && variableName(name):
			l.Env[name] = value
		case slices.Contains([]string{"exec", "env", "vllm", "serve", "-m", "vllm.entrypoints.openai.api_server"}, w),
			strings.HasPrefix(w[strings.LastIndexByte(w, '/')+1:], "python"), strings.HasSuffix(w, "/vllm"):
		default:
			return words
		}
		words = words[1:]
	}
	return words
}

func variableName(s string) bool {
	return s != "" && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") == ""
}

type parser struct {
	k      *Kind
	rest   []string
	launch *engines.CommandLine
}

func (p *parser) option() error {
	word := p.rest[0]
	p.rest = p.rest[1:]
	if !strings.HasPrefix(word, "-") {
		if p.launch.Model != "" {
			return unrecognized(word)
		}
		p.launch.Model = word
		return nil
	}
	name, value, inline := strings.Cut(word, "=")
	if strings.HasPrefix(name, "-O") && len(name) == 3 { // -O2
		name, value, inline = "-O", name[2:], true
	}
	head, path, nested := strings.Cut(name, ".")
	if full, ok := aliases[head]; ok {
		head = full
	}
	head = strings.ReplaceAll(strings.TrimLeft(head, "-"), "_", "-")
	f := p.k.find(head, false)
	off := false
	if positive, ok := strings.CutPrefix(head, "no-"); f == nil && ok {
		if g := p.k.find(positive, false); g != nil && strings.HasPrefix(g.Type, "bool") {
			head, f, off = positive, g, true
		}
	}
	if f == nil && strings.HasPrefix(name, "--") && !nested {
		full, err := p.k.complete(head)
		if err != nil {
			return err
		}
		if positive, ok := strings.CutPrefix(full, "no-"); ok && p.k.find(full, false) == nil {
			full, off = positive, true
		}
		head, f = full, p.k.find(full, false)
	}
	if f == nil {
		return &diag.Refusal{Field: "vllm serve", Value: word, Problem: "unrecognized arguments: " + word, Accept: nearest(p.k.fields, head)}
	}
	if f.Status == fields.Removed {
		return &diag.Refusal{Field: "vllm serve", Value: word, Problem: "unrecognized arguments: " + word + " (" + f.Evidence + ")", Accept: instead(f)}
	}
	if nested {
		head += "." + path
	}
	if off || strings.HasPrefix(f.Type, "bool") && !inline && !nested {
		p.launch.Args[head] = !off
		return nil
	}
	values := []string{value}
	if !inline {
		if values = p.values(f); len(values) == 0 {
			return &diag.Refusal{Field: "--" + head, Problem: "expected one argument", Accept: f.Type}
		}
	}
	v, err := typed(f, values, nested)
	if err != nil {
		return &diag.Refusal{Field: "--" + head, Value: strings.Join(values, " "), Problem: err.Error(), Accept: f.Type}
	}
	p.launch.Args[head] = v
	return nil
}

// complete is the one option that begins as name does, "" for none; argparse takes
// it for the option.
func (k *Kind) complete(name string) (string, error) {
	var found []string
	for i := range k.fields.Fields {
		f := &k.fields.Fields[i]
		if f.Kind != "argument" || f.Status == fields.Removed || strings.Contains(f.Name, ".") {
			continue
		}
		if strings.HasPrefix(f.Name, name) {
			found = append(found, f.Name)
		}
		if strings.HasPrefix(f.Type, "bool") && strings.HasPrefix("no-"+f.Name, name) {
			found = append(found, "no-"+f.Name)
		}
	}
	switch len(found) {
	case 0:
		return "", nil
	case 1:
		return found[0], nil
	}
	slices.Sort(found)
	return "", &diag.Refusal{Field: "vllm serve", Value: "--" + name, Problem: "ambiguous option: --" + name + " could match --" + strings.Join(found, ", --"), Accept: "one of them in full"}
}

// values are the words up to the next option: one, or all of them for a list.
func (p *parser) values(f *fields.Field) []string {
	n := 0
	for n < len(p.rest) && (n == 0 || strings.Contains(f.Type, "list[")) && !looksOption(p.rest[n]) {
		n++
	}
	out := p.rest[:n]
	p.rest = p.rest[n:]
	return out
}

func looksOption(w string) bool {
	_, err := strconv.ParseFloat(w, 64)
	return strings.HasPrefix(w, "-") && err != nil
}

func unrecognized(word string) error {
	return &diag.Refusal{Field: "vllm serve", Value: word, Problem: "unrecognized arguments: " + word, Accept: "the options `blis fields --engine vllm` lists"}
}

// typed reads words as a field's type says; nested values are JSON where they can be.
func typed(f *fields.Field, words []string, nested bool) (any, error) {
	w := words[0]
	var v any
	if (nested || strings.HasPrefix(w, "{") || strings.HasPrefix(w, "[")) && json.Unmarshal([]byte(w), &v) == nil {
		return v, nil
	}
	switch {
	case strings.HasPrefix(w, "{"):
		return nil, fmt.Errorf("Value %s cannot be converted to <function loads>.", w)
	case nested:
		return w, nil
	case strings.Contains(f.Type, "list[int]"):
		var list []any
		for _, x := range words {
			n, err := humanInt(x)
			if err != nil {
				return nil, err
			}
			list = append(list, n)
		}
		return list, nil
	case f.Name == "max-model-len" && w == "auto":
		return -1, nil
	case strings.HasPrefix(f.Type, "int"):
		return humanInt(w)
	case strings.HasPrefix(f.Type, "float"):
		n, err := strconv.ParseFloat(w, 64)
		if err != nil {
			return nil, fmt.Errorf("invalid float value: '%s'", w)
		}
		return n, nil
	case strings.HasPrefix(f.Type, "bool"):
		return strconv.ParseBool(w)
	}
	return w, nil
}

// humanInt is human_readable_int: 1k is 1,000, 1K is 1,024, with decimals in
// decimal units only.
func humanInt(w string) (int, error) {
	if n, err := strconv.Atoi(w); err == nil {
		return n, nil
	}
	bad := fmt.Errorf("invalid int value: '%s'", w)
	if w == "" {
		return 0, bad
	}
	unit := w[len(w)-1:]
	if i := strings.Index("kmgt", unit); i >= 0 {
		f, err := strconv.ParseFloat(w[:len(w)-1], 64)
		scale := 1.0
		for range i + 1 {
			scale *= 1000
		}
		if err != nil {
			return 0, bad
		}
		return int(math.Floor(f * scale)), nil
	}
	if i := strings.Index("KMGT", unit); i >= 0 {
		n, err := strconv.Atoi(w[:len(w)-1])
		if err != nil {
			return 0, fmt.Errorf("Decimals are not allowed with binary suffixes like %s. Did you mean to use %s%s instead?", unit, w[:len(w)-1], strings.ToLower(unit))
		}
		return n << (10 * (i + 1)), nil
	}
	return 0, bad
}
