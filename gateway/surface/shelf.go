package surface

// A Shelf keeps verdicts for all keepers of a process.
type Shelf struct{}

// NewShelf makes a shelf for so many verdicts; 0: 65,536.
func NewShelf(size int) *Shelf { return &Shelf{} }
