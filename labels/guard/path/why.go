package path

// What a rule says of a path that it refuses. None repeats the path.
const (
	WhyNoRule = "No rule was made; no path can be judged."
	// WhyOutside is said of a plain path, and of no other: it surely lies elsewhere.
	WhyOutside = "The path lies outside of the folders and files that are allowed."
)
