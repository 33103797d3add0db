package main

import (
	"errors"
	"os"

	"github.com/spf13/pflag"
)

// pipeline is what a command leaves for the pipeline it runs in, besides its own output.
type pipeline struct{ junit, stepSummary string }

func (p *pipeline) junitFlag(f *pflag.FlagSet, cases string) {
	f.StringVar(&p.junit, "junit", "", "also write the "+cases+" as JUnit XML to this file")
}

func (p *pipeline) summaryFlag(f *pflag.FlagSet) {
	f.StringVar(&p.stepSummary, "step-summary", "", "also append a Markdown summary to this file")
}

// check refuses files that could not be written once the long part is over.
func (p *pipeline) check() error {
	if err := writable("--junit", p.junit); err != nil {
		return err
	}
	return writable("--step-summary", p.stepSummary)
}

// deliver writes what was asked for; an empty summary is none.
func (p *pipeline) deliver(junit func() ([]byte, error), summary func() string) error {
	if p.junit != "" {
		data, err := junit()
		if err != nil {
			return err
		}
		if err := write(p.junit, data); err != nil {
			return err
		}
	}
	if p.stepSummary == "" {
		return nil
	}
	if text := summary(); text != "" {
		return appendTo(p.stepSummary, []byte(text))
	}
	return nil
}

// appendTo adds data to the end of a file that others write too.
func appendTo(file string, data []byte) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.Write(data)
		err = errors.Join(err, f.Close())
	}
	return unwritable(file, err)
}
