package plot

import (
	"bytes"
	"fmt"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// canvas is an SVG whose texts are as long as they were measured, whatever font the
// reader's machine has in place of the one gonum measured with.
type canvas struct {
	*vgsvg.Canvas
	lengths []vg.Length // of each text
}

func newCanvas(w, h vg.Length) *canvas {
	return &canvas{Canvas: vgsvg.NewWith(vgsvg.UseWH(w, h), vgsvg.EmbedFonts(false))}
}

// FillString writes a text and keeps its length.
func (c *canvas) FillString(f font.Face, at vg.Point, s string) {
	c.lengths = append(c.lengths, f.Width(s))
	c.Canvas.FillString(f, at, s)
}

func write(c *canvas) ([]byte, error) {
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, err
	}
	const text = "<text "
	parts := bytes.Split(b.Bytes(), []byte(text)) // a text's own < is escaped
	out := parts[0]
	for i, part := range parts[1:] {
		out = append(out, text...)
		if n := c.lengths[i].Points(); n > 0 {
			out = fmt.Appendf(out, `textLength="%.1f" lengthAdjust="spacingAndGlyphs" `, n)
		}
		out = append(out, part...)
	}
	return bytes.ReplaceAll(out, []byte("font-family:Liberation Sans"),
		[]byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif")), nil
}
