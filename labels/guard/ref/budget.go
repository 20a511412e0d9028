package ref

// A Budget is what all commands of one call may cost together. The zero one is whole.
type Budget struct{ spent int }

// maxCall is how many bytes are read of all commands of one call.
const maxCall = 2 << 20

// wordCost is how many bytes a word counts for that is read for git.
const wordCost = 8

// Take spends bytes; false where there are not so many left.
func (b *Budget) Take(n int) bool {
	b.spent += n
	return !b.Over()
}

// Over tells whether more was asked for than there was.
func (b *Budget) Over() bool { return b.spent > maxCall }

// Spent is how many bytes were read, or asked for.
func (b *Budget) Spent() int { return b.spent }
