package opinion

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/quarantine"
)

// A Question names the places of a batch that are asked about, as one segment.
// It holds no text: whoever carries it has the batch.
type Question struct {
	Pieces []Piece
}

// wire is a question as JSON: {"v":1,"pieces":[[at,from,to],...]}.
type wire struct {
	V      int      `json:"v"`
	Pieces [][3]int `json:"pieces"`
}

// Append appends the question's JSON to b.
func (q Question) Append(b []byte) []byte {
	b = append(b, `{"v":1,"pieces":[`...)
	for i, p := range q.Pieces {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		b = strconv.AppendInt(b, int64(p.At), 10)
		b = append(b, ',')
		b = strconv.AppendInt(b, int64(p.From), 10)
		b = append(b, ',')
		b = strconv.AppendInt(b, int64(p.To), 10)
		b = append(b, ']')
	}
	return append(b, "]}"...)
}

// ParseQuestion reads a question about b from somebody who is not trusted. What
// is not exactly a question about places of b, each once and in order, is
// ErrQuestion.
func ParseQuestion(raw []byte, b quarantine.Batch) (Question, error) {
	var w wire
	if len(raw) > MaxQuestion || jsontext.Value(raw).Kind() != '{' {
		return Question{}, ErrQuestion
	}
	if err := canon.Unmarshal(raw, &w, canon.Limits{Bytes: MaxQuestion, Depth: 3, NoNull: true}); err != nil {
		return Question{}, ErrQuestion
	}
	if w.V != 1 || len(w.Pieces) == 0 || len(w.Pieces) > MaxPieces {
		return Question{}, ErrQuestion
	}
	q := Question{Pieces: make([]Piece, len(w.Pieces))}
	size, before := 0, -1
	for i, x := range w.Pieces {
		p := Piece{x[0], x[1], x[2]}
		if p.At <= before || p.At >= len(b.Specimens) || p.From < 0 || p.From >= p.To || p.To > len(b.Specimens[p.At].Text) {
			return Question{}, ErrQuestion
		}
		if size += p.To - p.From; size > MaxWindow {
			return Question{}, ErrQuestion
		}
		before, q.Pieces[i] = p.At, p
	}
	return q, nil
}
