package value

import "time"

// What is said of a date that is refused. None repeats it.
const (
	WhyNotDate   = "The value is not a date or time of RFC 3339."
	WhyNotBefore = "The date is not surely earlier than is asked."
	WhyNotAfter  = "The date is not surely later than is asked."
)

// A Date is a day, or an instant with its offset. The zero value is no date.
type Date struct {
	day      time.Time // midnight UTC of a day; zero of an instant
	from, to time.Time // first and last instant that may be meant
}

// ParseDate reads "2026-03-01" or "2026-03-01T12:00:00.5+01:00" of RFC 3339, strictly.
// A leap second is none of ours.
func ParseDate(text string) (d Date, ok bool) {
	if len(text) == len(time.DateOnly) {
		t, err := time.Parse(time.DateOnly, text)
		if err != nil || t.Format(time.DateOnly) != text {
			return d, false
		}
		// The day begins first at +14:00 and ends last at -12:00.
		return Date{day: t, from: t.Add(-14 * time.Hour), to: t.Add(36 * time.Hour)}, true
	}
	if !instant(text) {
		return d, false
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return d, false
	}
	return Date{from: t, to: t}, true
}

// instant tells whether a text has the form of a date and time; package time is more
// lenient. A small t or z is RFC 3339 too, but not everybody's.
func instant(s string) bool {
	const form = "0000-00-00T00:00:00"
	if len(s) <= len(form) || !formed(s[:len(form)], form) {
		return false
	}
	s = s[len(form):]
	if s[0] == '.' {
		n := 1
		for n < len(s) && '0' <= s[n] && s[n] <= '9' {
			n++
		}
		if n == 1 || n > 10 { // package time drops what is finer than a nanosecond
			return false
		}
		s = s[n:]
	}
	return s == "Z" || formed(s, "+00:00") || formed(s, "-00:00")
}

func formed(s, form string) bool {
	if len(s) != len(form) {
		return false
	}
	for i := range len(s) {
		if form[i] == '0' && (s[i] < '0' || s[i] > '9') || form[i] != '0' && s[i] != form[i] {
			return false
		}
	}
	return true
}

// Before tells whether d is surely earlier than x: two days are compared as days, a
// day and an instant with the time zone of the day unknown.
func (d Date) Before(x Date) bool {
	if !d.day.IsZero() && !x.day.IsZero() {
		return d.day.Before(x.day)
	}
	if d.day.IsZero() {
		return d.to.Before(x.from)
	}
	return !d.to.After(x.from) // the last instant of a day is not part of it
}
