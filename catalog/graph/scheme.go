package graph

import (
	"regexp"
	"strings"

	"github.com/inference-sim/accuracy-dashboard/internal/quantity"
)

// readScheme reads a config.json's quantization_config. Four producers occur:
// block-scaled fp8, mxfp4, compressed-tensors and ModelOpt.
func readScheme(c *config) (scheme, error) {
	if c == nil {
		return scheme{}, nil
	}
	var s scheme
	switch method := c.text("quant_method"); method {
	case "fp8":
		s.format = quantity.FP8Block
		c.must("weight_block_size", []int{128, 128})
		c.must("fmt", "e4m3", "float8_e4m3fn")
		c.must("activation_scheme", "dynamic")
		s.keep(c, "modules_to_not_convert")
	case "mxfp4":
		s.format = quantity.MXFP4
		s.keep(c, "modules_to_not_convert")
	case "compressed-tensors":
		s.format = quantity.INT4Group
		c.must("format", "pack-quantized")
		c.must("kv_cache_scheme", nil)
		c.must("quantization_status", "compressed")
		c.group("int", 32)
		s.keep(c, "ignore")
	case "modelopt":
		c.group("float", 16)
		s.modelOpt(c, "ignore")
		if kv := c.sub("kv_cache_scheme"); kv != nil {
			kv.must("num_bits", 8)
			kv.must("type", "float")
			s.kv = quantity.FP8
			c.err = first(c.err, kv.err)
		}
	default:
		c.fail("quant_method", method, "is a quantisation this deriver does not know", "fp8, mxfp4, compressed-tensors, modelopt")
	}
	return s, c.done()
}

// readHFQuant reads ModelOpt's own file, which wins over quantization_config.
func readHFQuant(file string, data []byte) (scheme, error) {
	top, err := parse(file, data)
	if err != nil {
		return scheme{}, err
	}
	top.read["producer"] = true
	q := top.sub("quantization")
	if q == nil {
		top.fail("quantization", "", "is missing", "an object")
		return scheme{}, top.done()
	}
	var s scheme
	s.modelOpt(q, "exclude_modules")
	switch kv := q.text("kv_cache_quant_algo"); kv {
	case "":
	case "FP8":
		s.kv = quantity.FP8
	default:
		q.fail("kv_cache_quant_algo", kv, "is a cache format this deriver does not know", "FP8")
	}
	if err := q.done(); err != nil {
		return scheme{}, err
	}
	return s, top.done()
}

func (s *scheme) modelOpt(c *config, kept string) {
	c.read["producer"] = true
	switch algo := c.text("quant_algo"); algo {
	case "NVFP4":
		s.format = quantity.NVFP4
		c.must("group_size", 16)
	case "FP8":
		s.format = quantity.FP8
	default:
		c.fail("quant_algo", algo, "is an algorithm this deriver does not know", "NVFP4, FP8")
	}
	s.keep(c, kept)
}

// group holds config_groups to one group over all linear layers, of 4-bit weights
// of the given type and group size.
func (c *config) group(kind string, size int) {
	groups := c.sub("config_groups")
	if groups == nil {
		c.fail("config_groups", "", "is missing", "one group")
		return
	}
	g := groups.sub("group_0")
	if g == nil || len(groups.keys) != 1 {
		c.fail("config_groups", "", "is not exactly group_0", "one group")
		return
	}
	g.must("targets", []string{"Linear"})
	g.must("output_activations", nil)
	w := g.sub("weights")
	if w == nil {
		c.fail("config_groups.group_0.weights", "", "is missing", "")
		return
	}
	w.must("num_bits", 4)
	w.must("type", kind)
	w.must("group_size", size)
	c.err = first(c.err, g.err, w.err)
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// keep reads the list of modules left unquantised.
func (s *scheme) keep(c *config, key string) {
	var names []string
	c.get(key, &names)
	for _, n := range names {
		if expr, ok := strings.CutPrefix(n, "re:"); ok {
			re, err := regexp.Compile("^(?:" + expr + ")")
			if err != nil {
				c.fail(key, n, err.Error(), "a regular expression")
				return
			}
			s.kept = append(s.kept, re.MatchString)
			continue
		}
		// GLM-5 writes the indexer's head weights without the dot.
		n = strings.Replace(n, ".indexers_proj", ".indexer.weights_proj", 1)
		s.kept = append(s.kept, glob(n))
		if strings.Contains(n, ".layers.") && !strings.HasPrefix(n, "*") {
			s.layers = append(s.layers, n)
		}
	}
}

// glob matches whole dotted parts anywhere in a module's name; * spans any text.
func glob(pattern string) func(string) bool {
	parts := strings.Split("."+pattern+".", "*")
	return func(module string) bool {
		rest := "." + module + "."
		for _, part := range parts {
			i := strings.Index(rest, part)
			if i < 0 {
				return false
			}
			rest = rest[i+len(part):]
		}
		return true
	}
}
