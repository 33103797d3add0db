package main

// offer is what scenarios may name: the engines' one release each, and the catalog.
type offer struct {
	Engines []engineOffer `json:"engines"`
	Models  []modelOffer  `json:"models"`
	Chips   []chipOffer   `json:"chips"`
}

type engineOffer struct {
	Kind    string `json:"kind"`
	Version string `json:"version"`
}

type modelOffer struct {
	Name        string            `json:"name"`
	Checkpoints []checkpointOffer `json:"checkpoints"` // the first is the default
}

type checkpointOffer struct {
	Name       string   `json:"name"`
	Precisions []string `json:"precisions"` // labels data sources give it
}

type chipOffer struct {
	Name  string `json:"name"`
	Title string `json:"title"`
}

// offered lists the embedded data, in the order of names.
func offered() (*offer, error) {
	w, err := data()
	if err != nil {
		return nil, err
	}
	o := new(offer)
	for _, k := range w.Kinds {
		o.Engines = append(o.Engines, engineOffer{k.Name(), k.Upstream().Version})
	}
	for _, name := range w.Catalog.Models() {
		m, err := w.Catalog.Model(name)
		if err != nil {
			return nil, err
		}
		mo := modelOffer{Name: name}
		for _, cp := range m.Checkpoints {
			mo.Checkpoints = append(mo.Checkpoints, checkpointOffer{cp.Name, cp.Precisions})
		}
		o.Models = append(o.Models, mo)
	}
	for _, name := range w.Catalog.Chips() {
		c, err := w.Catalog.Chip(name)
		if err != nil {
			return nil, err
		}
		o.Chips = append(o.Chips, chipOffer{name, c.Title})
	}
	return o, nil
}
