package unfold

// A What is what a sign is about.
type What uint8

// The signs. None of them is given where an honest use explains it: joiners in
// emoji and in scripts that need them, flags, marks in right-to-left text, colours
// in a log, attachments.
const (
	Invisible   What = iota // a character without width: inside of a word, or where it has no use
	TagText                 // tag characters that are no flag
	Selectors               // variation selectors that select nothing
	Direction               // a control of direction where no text needs it
	Override                // direction turned by force
	Mixed                   // letters of another script inside of a word, to look like it
	Terminal                // an escape sequence where none belongs
	Concealed               // an escape sequence that hides text, erases it or leaves it
	ControlChar             // another control character
	Comment                 // a comment or hidden element with words in it
	Coded                   // words in base64, hex, percent or the like
	Broken                  // bytes that are no UTF-8
	Exhausted               // more inside of it than is unfolded
)

// A Sign is something that was met in a text, and where: bytes [From, To) of
// the original.
type Sign struct {
	What     What
	Layer    Layer // of the view that reads it, or Plain
	From, To int
	Size     int // characters; words where it is Comment or Coded
}
