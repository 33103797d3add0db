package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/docgen"
	"github.com/inference-sim/accuracy-dashboard/internal/canon"
	"github.com/inference-sim/accuracy-dashboard/internal/diag"
	"github.com/inference-sim/accuracy-dashboard/internal/strict"
	"github.com/inference-sim/accuracy-dashboard/sim/spec"
	"github.com/santhosh-tekuri/jsonschema/v6"
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
	c.AddCommand(&cobra.Command{
		Use:   "validate DOCUMENT FILE...",
		Short: "check files against a document's schema, and a scenario as a run would",
		Args:  cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, file := range args[1:] {
				if err := validate(args[0], file); err != nil {
					return err
				}
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: a valid %s\n", file, args[0]); err != nil {
					return err
				}
			}
			return nil
		},
	})
	return c
}

func validate(document, file string) error {
	schema, err := compile(document)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return &diag.Refusal{File: file, Problem: "cannot be read: " + err.Error()}
	}
	if document == "scenario" {
		_, err := spec.Parse(file, data)
		return err
	}
	tree, err := generic(file, data)
	if err != nil {
		return err
	}
	if err := schema.Validate(tree); err != nil {
		return violation(file, err)
	}
	return nil
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

// violation names the deepest place that breaks the schema.
func violation(file string, err error) error {
	v, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return err
	}
	for len(v.Causes) > 0 {
		v = v.Causes[0]
	}
	problem := v.Error()
	if i := strings.LastIndex(problem, "': "); i >= 0 {
		problem = problem[i+3:]
	}
	return &diag.Refusal{File: file, Field: strings.Join(v.InstanceLocation, "."), Problem: problem, Rule: "SUB-19"}
}
