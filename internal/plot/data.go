package plot

// Data is the downloadable form of a chart.
type Data struct {
	ID         string       `json:"id"`
	Title      string       `json:"title"`
	X          string       `json:"x"` // label with unit
	Y          string       `json:"y"`
	Categories []string     `json:"categories,omitempty"` // of the axis that counts them
	Series     []SeriesData `json:"series"`
}

// SeriesData is one series.
type SeriesData struct {
	Name  string     `json:"name"`
	Kind  string     `json:"kind,omitempty"` // "measured" or "simulated", where a name has both
	Marks []MarkData `json:"marks"`
}

// MarkData is one mark and the page it stands for.
type MarkData struct {
	X    float64 `json:"x"`
	Y    float64 `json:"y"`
	Low  float64 `json:"low,omitempty"` // ends of the interval, where there is one
	High float64 `json:"high,omitempty"`
	Page string  `json:"page,omitempty"`
}

// Data lists every mark of c, those a log axis cannot show included.
func (c Chart) Data() Data {
	d := Data{ID: c.ID, Title: c.Title, X: c.X.Label, Y: c.Y.Label, Categories: append(c.X.Names, c.Y.Names...), Series: []SeriesData{}}
	for _, s := range c.Series {
		one := SeriesData{Name: s.Name, Kind: s.Kind, Marks: []MarkData{}}
		for _, m := range s.Marks {
			one.Marks = append(one.Marks, MarkData{m.X, m.Y, m.Low, m.High, m.Link})
		}
		d.Series = append(d.Series, one)
	}
	return d
}
