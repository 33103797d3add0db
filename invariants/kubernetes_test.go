package invariants

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"
)

// checkJob holds a manifest to the fields of batch/v1, and its shards to its pods.
func checkJob(t *testing.T, manifest []byte) error {
	t.Helper()
	text, err := os.ReadFile("testdata/job.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("job.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("job.json")
	if err != nil {
		t.Fatal(err)
	}
	var job map[string]any
	if err := yaml.Unmarshal(manifest, &job); err != nil {
		return err
	}
	asJSON, err := json.Marshal(job)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		return err
	}
	if err := schema.Validate(value); err != nil {
		return err
	}
	n := job["spec"].(map[string]any)["completions"]
	if shard := fmt.Sprintf(`--shard "$((JOB_COMPLETION_INDEX + 1))/%v"`, n); !bytes.Contains(manifest, []byte(shard)) {
		return fmt.Errorf("%v completions do not run %s", n, shard)
	}
	return nil
}

// TestKubernetesJob keeps the manifest of the sharded run a lawful Indexed Job whose
// pods are the shards.
func TestKubernetesJob(t *testing.T) {
	good, err := os.ReadFile("../.github/kubernetes/score.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := checkJob(t, good); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ old, new string }{
		{"completionMode: Indexed", "completionMode: NonIndexed"},
		{"completions: 7", "completions: 8"},
		{"completions: 7", `completions: "7"`},
		{"restartPolicy: Never", "restartPolicy: Always"},
		{"backoffLimit", "backOffLimit"},
		{"batch/v1", "batch/v1beta1"},
		{"image: golang:1.26.8", "image: golang"},
		{"memory: 4Gi", "memory: 4GB"},
	} {
		if err := checkJob(t, []byte(strings.Replace(string(good), c.old, c.new, 1))); err == nil {
			t.Errorf("%s: accepted", c.new)
		}
	}
}
