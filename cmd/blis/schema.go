package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/docgen"
	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
	"github.com/inference-sim/accuracy-dashboard/internal/world"
	"github.com/inference-sim/accuracy-dashboard/scorer/gate"
	"github.com/inference-sim/accuracy-dashboard/sim/search"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/santhosh-tekuri/jsonschema/v6"
	keyword "github.com/santhosh-tekuri/jsonschema/v6/kind"
	"github.com/spf13/cobra"
)

// schemaCmd prints a document's JSON Schema, and checks documents.
func schemaCmd() *cobra.Command {
	c := &cobra.Command{
		Use:     "schema [DOCUMENT]",
		Short:   "the JSON Schema of a document, or the list of documents",
		Example: "  blis schema scenario\n  blis schema validate scenario chat.yaml",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), strings.Join(docgen.SchemaNames(), "\n"))
				return err
			}
			b, err := docgen.Schema(args[0])
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(b)
			return err
		},
	}
	c.AddCommand(schemaValidateCmd())
	return c
}

func schemaValidateCmd() *cobra.Command {
	var d dataFlags
	c := &cobra.Command{
		Use:   "validate DOCUMENT FILE...",
		Short: "check files against a document's schema, a scenario as explain would, a search but for its runs",
		Long:  "A file holds one document; one whose name ends in .jsonl, such as the ledger's units, holds one on each line.",
		Args:  cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			check, err := validator(args[0], d)
			if err != nil {
				return err
			}
			return validateAll(cmd, check, args[0], args[1:])
		},
	}
	d.add(c)
	return c
}

// validateAll checks every file; one that is refused among several is named, and the rest are checked.
func validateAll(cmd *cobra.Command, check func(string, []byte) error, document string, files []string) error {
	var refused []error
	for _, file := range files {
		line, err := validate(check, document, file)
		switch {
		case err == nil:
			line = file + ": " + line
		case len(files) == 1:
			return err
		default:
			refused = append(refused, err)
			line = "refused: " + err.Error()
		}
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), line); err != nil {
			return err
		}
	}
	if len(refused) > 0 {
		return fmt.Errorf("%d of %d files refused, the first: %w", len(refused), len(files), refused[0])
	}
	return nil
}

// validate checks a file, and says what is valid in it. A refusal of a line names the line.
func validate(check func(string, []byte) error, document, file string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", &diag.Refusal{File: file, Problem: "cannot be read: " + err.Error()}
	}
	if filepath.Ext(file) != ".jsonl" {
		return "a valid " + document, check(file, data)
	}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		err := check(file, line)
		if r, ok := errors.AsType[*diag.Refusal](err); ok {
			r.Line = n
		}
		if err != nil {
			return "", err
		}
	}
	if n == 0 {
		return "", &diag.Refusal{File: file, Problem: "is empty", Accept: "a " + document + " on each line"}
	}
	return fmt.Sprintf("%d lines, each a valid %s", n, document), nil
}

// validator checks the files of a document. What a scenario may say is for the engine, the
// catalog and the coefficients to judge, so one is resolved; the grid of a search is laid out, and
// a pre-registration is read as the gate reads it.
func validator(document string, d dataFlags) (func(file string, data []byte) error, error) {
	switch document {
	case "search":
		w, err := world.Open(d.Paths)
		return func(file string, data []byte) error {
			_, err := openStudy(w, search.Document{File: file, Data: data})
			return err
		}, err
	case "pre-registration":
		return func(file string, data []byte) error { _, err := gate.ReadRegistration(file, data); return err }, nil
	case "scenario":
		w, err := world.Open(d.Paths)
		return func(file string, data []byte) error {
			s, err := spec.Parse(file, data)
			if err != nil {
				return err
			}
			_, _, err = explain(w, s)
			return diag.In(file, err)
		}, err
	}
	schema, err := compile(document)
	return func(file string, data []byte) error {
		tree, err := generic(file, data)
		if err != nil {
			return err
		}
		return violation(file, schema.Validate(tree))
	}, err
}

func compile(document string) (*jsonschema.Schema, error) {
	b, err := docgen.Schema(document)
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(document, doc); err != nil {
		return nil, err
	}
	return c.Compile(document)
}

// generic reads YAML or JSON, strictly, into what a schema validator takes.
func generic(file string, data []byte) (any, error) {
	var v any
	if err := strict.YAML(file, data, &v); err != nil {
		return nil, err
	}
	b, err := canon.JSON(v)
	if err != nil {
		return nil, &diag.Refusal{File: file, Problem: err.Error()}
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(b))
}

// violation names the first place, by path, that breaks the schema: the validator reports
// in the order of its maps.
func violation(file string, err error) error {
	v, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return err
	}
	first := slices.MinFunc(leaves(v), func(a, b *jsonschema.ValidationError) int {
		return cmp.Or(slices.CompareFunc(a.InstanceLocation, b.InstanceLocation, byNumber), slices.Compare(a.ErrorKind.KeywordPath(), b.ErrorKind.KeywordPath()))
	})
	problem := first.Error()
	if i := strings.LastIndex(problem, "': "); i >= 0 {
		problem = problem[i+3:]
	}
	return &diag.Refusal{File: file, Field: strings.Join(first.InstanceLocation, "."), Problem: problem, Rule: "SUB-19"}
}

// leaves are the violations that have no cause; that a value is not null is one only where
// nothing else may stand.
func leaves(v *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if k, ok := v.ErrorKind.(*keyword.AdditionalProperties); ok {
		slices.Sort(k.Properties)
	}
	if len(v.Causes) == 0 {
		return []*jsonschema.ValidationError{v}
	}
	var all []*jsonschema.ValidationError
	for _, c := range v.Causes {
		if k, ok := c.ErrorKind.(*keyword.Type); ok && len(v.Causes) > 1 && slices.Equal(k.Want, []string{"null"}) {
			continue
		}
		all = append(all, leaves(c)...)
	}
	return all
}

// byNumber orders steps of a path: indices as numbers, keys as text.
func byNumber(a, b string) int {
	x, errX := strconv.Atoi(a)
	y, errY := strconv.Atoi(b)
	if errX == nil && errY == nil {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(a, b)
}
