package host

// What a rule says of a text that it refuses. None repeats the text.
const (
	WhyNoRule = "No rule was made; no host can be judged."
	// WhyOther is said of a plain host, and of no other: it surely is none of Allow.
	WhyOther = "The host is none of those that are allowed."
)
