package ledger

import (
	"testing"
	"testing/fstest"
)

// Whatever ingest accepts, Open accepts and gives back the same bytes.
func FuzzIngest(f *testing.F) {
	row := firstRow(f)
	f.Add(encode(f, row).Data, []byte(`{"row_id":"`+row["id"]+`","match":"none","spec":"unknown"}`+"\n"))
	f.Add(encode(f, row).Data, []byte{})
	f.Fuzz(func(t *testing.T, rows, launches []byte) {
		l, err := Ingest(Input{"rows", rows}, Input{"launches", launches}, Published{SeedSHA256: zeros})
		if err != nil {
			return
		}
		files, err := l.Files()
		if err != nil {
			t.Fatal(err)
		}
		fsys := fstest.MapFS{}
		for name, data := range files {
			fsys[name] = &fstest.MapFile{Data: data}
		}
		if _, err := Open(fsys); err != nil {
			t.Fatalf("Open refuses what Ingest made: %v", err)
		}
	})
}

// Open never panics, and what it accepts it writes back unchanged.
func FuzzOpen(f *testing.F) {
	l := ingested(f, encode(f, firstRow(f)), Input{})
	l.Published = Published{SeedSHA256: zeros}
	files, err := l.Files()
	if err != nil {
		f.Fatal(err)
	}
	valid := fstest.MapFS{}
	for name, data := range files {
		valid[name] = &fstest.MapFile{Data: data}
	}
	f.Add(valid[unitsFile].Data, valid[reportFile].Data, valid[fitFile].Data)
	f.Fuzz(func(t *testing.T, units, report, fit []byte) {
		fsys := fstest.MapFS{
			unitsFile: {Data: units}, reportFile: {Data: report}, fitFile: {Data: fit},
			anchorFile: valid[anchorFile], seedFile: valid[seedFile],
		}
		l, err := Open(fsys)
		if err != nil {
			return
		}
		files, err := l.Files()
		if err != nil {
			t.Fatal(err)
		}
		if string(files[unitsFile]) != string(units) || string(files[reportFile]) != string(report) {
			t.Error("Open accepted bytes that Write would not write")
		}
	})
}

const zeros = "0000000000000000000000000000000000000000000000000000000000000000"
