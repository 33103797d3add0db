package engines

// CommandLine is an upstream's command line as its own parser reads it.
type CommandLine struct {
	Model string // as stated: a checkpoint's name or a path
	Args  map[string]any
	Env   map[string]string
}

// LaunchParser is a Kind that reads the words of its upstream's launch command,
// or of a container's arguments, and refuses in the upstream's own words.
type LaunchParser interface {
	ParseLaunch(words []string) (*CommandLine, error)
}
