package record

// WorkbenchSchema names the layout of a Workbench.
const WorkbenchSchema = "blis.workbench/1"

// Workbench is what a site's workbench starts from: one measured unit a lane, and how far off each
// lane's simulated figures were.
type Workbench struct {
	Schema  string          `json:"schema"`
	Default string          `json:"default"` // unit of the lane with the most points; "" without lanes
	Lanes   []WorkbenchLane `json:"lanes"`
}

// WorkbenchLane is a lane with points that were simulated. A scenario belongs to it when it names
// the same engine, model, checkpoint and chip.
type WorkbenchLane struct {
	Name       string           `json:"name"`
	Href       string           `json:"href"` // of the lane's page, from the site's root
	Unit       string           `json:"unit"` // the middle one in the order of lists
	Engine     string           `json:"engine"`
	Model      string           `json:"model"`
	Checkpoint string           `json:"checkpoint"`
	Hardware   string           `json:"hardware"`
	Covers     string           `json:"covers"` // what its measured points span
	Errors     []WorkbenchError `json:"errors"` // of each metric that heads a list of points
	Points     []WorkbenchPoint `json:"points"` // every one, so that a changed scenario is known for one of them
}

// WorkbenchPoint is a simulated point by its load; its scenario is in its own document.
type WorkbenchPoint struct {
	Unit        string `json:"unit"`
	Concurrency int    `json:"concurrency"`
	ISL         int    `json:"isl"`
	OSL         int    `json:"osl"`
}

// WorkbenchError is a published Figure in words, as the pages say it.
type WorkbenchError struct {
	Name     string `json:"name"`
	Value    string `json:"value"`
	Few      bool   `json:"few,omitempty"` // Value says that there are too few points
	Interval string `json:"interval,omitempty"`
	Rests    string `json:"rests"`  // count and scope
	Covers   string `json:"covers"` // what the interval covers, or why there is none
}
