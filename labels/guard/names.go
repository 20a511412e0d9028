package guard

import (
	"slices"
	"strings"

	"github.com/pratique-dev/pratique/internal/lookalike"
)

// A kind is what the name of an argument says that it holds: a set.
type kind uint32

const (
	isPath    kind = 1 << iota
	likePath       // a path where the text looks like one
	isRef          // a branch, tag or refspec that is written
	isHost         // a host
	isURL          // a URL, perhaps a relative one
	isURI          // a URL where it is one of the web; else a name of something
	isCommand      // a command line, or the words of one
	isWords        // the words behind a command that stands beside
	isProse        // a text for people or a file: not looked into for JSON
	isInner        // says what the member around it says
	isFlag         // of a push: true writes refs that nothing names
	isEither       // what is written, or what something new is made of
	isInto         // what something goes into: a destination, but that of a request to merge
	isLoose        // may be for people: a URL where that is all of it
	isSpec         // a refspec
	isMany         // paths, URLs or hosts, perhaps several in one text
	isBase         // what others are compared with: a destination of a merge alone
	isMail         // who is written to
	isGiven        // a destination because the file says so
	isTurn         // where somebody is sent: a host without a scheme too
	isVague        // a turn that may be a file or a person as well
)

// squash appends the form of a name in which two names that a lenient server takes for
// one are equal: what it looks like in lower case, letters and digits alone.
func squash(b []byte, name string) []byte {
	b, _ = squashed(b, name)
	return b
}

// squashed is squash, and what signs the name has.
func squashed(b []byte, name string) ([]byte, sign) {
	start := len(b)
	b = slices.Grow(b, len(name))
	to := b[start : start+len(name)]
	n, s := 0, sign(0)
	for i := range len(name) {
		x := plain[name[i]]
		s |= x.sign
		if to[n] = x.letter; x.letter != 0 {
			n++
		}
	}
	if s&beyond != 0 {
		return squashMore(b[:start], name), oddName
	}
	return b[:start+n], s
}

// beyond is the sign of what is outside of ASCII, while a name is squashed.
const beyond sign = 1 << 7

// squashMore is squash of names beyond ASCII.
func squashMore(b []byte, name string) []byte {
	for _, c := range lookalike.Fold(nil, name) {
		if c >= 0x80 || plain[c].letter != 0 {
			b = append(b, c)
		}
	}
	return b
}

// plain is what is left of a byte, 0: nothing, and the sign that it is.
var plain = func() (t [256]struct {
	letter byte
	sign   sign
}) {
	for c := range t {
		x := &t[c]
		switch {
		case 'A' <= c && c <= 'Z':
			x.letter = byte(c) + 'a' - 'A'
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
			x.letter = byte(c)
		case c >= 0x80:
			x.sign = beyond
		case odd[c]:
			x.sign = oddName
		}
	}
	return t
}()

// kinds are names, squashed, that say what they hold.
var kinds = table(map[kind]string{
	isPath: "path paths file files filepath filepaths filename filenames pathname dir dirs directory directories folder folders oldpath newpath previouspath " +
		"localpath outputpath inputpath targetpath sourcepath destinationpath destpath srcpath dstpath artifactpath repopath workdir workingdirectory cwd outfile infile",
	likePath: "source destination dest src dst root output input target from to location",
	isRef: "branch branches branchname branchnames ref refs refname refnames refspec refspecs tag tagname tagnames gitref destinationref targetref destref " +
		"newbranch newbranchname tobranch pushbranch",
	isHost:    "host hosts hostname hostnames",
	isURL:     "url urls",
	isURI:     "uri uris href endpoint endpoints webhook callback link",
	isCommand: "command commands cmd cmds commandline script scripts shell bash run exec subcommand operation",
	isWords:   "args argv arguments params parameters options flags",
	isProse: "content contents text texts message messages description title note notes comment comments summary prompt query html markdown md " +
		"code sourcecode patch diff oldtext newtext oldstring newstring oldstr newstr filetext",
	isInner:  "name value id full default current",
	isInto:   "targetbranch base basebranch into",
	isFlag:   "mirror all allbranches pushall prune",
	isEither: "ref gitref basebranch",
	isLoose:  "query body reason subject search term keywords",
	isSpec:   "refspec refspecs",
	isMany:   "paths files filepaths filenames dirs directories folders urls uris hosts hostnames endpoints",
	isBase:   "base",
	isMail: "to cc ccs bcc bccs recipient recipients rcpt rcptto mailto sendto copyto tolist cclist bcclist emailto emailcc emailbcc toemail toemails ccemail ccemails " +
		"bccemail bccemails toaddress toaddresses ccaddress ccaddresses bccaddress bccaddresses carboncopy blindcopy blindcarboncopy",
})

// turns are names of what somebody is sent to, besides what else they say.
var turns = strings.Fields("redirect redirects redirecturi redirecturis redirecturl redirecturls redirectto redirectlocation redir redirurl next nextpage nexturl nexturi u goto gotourl " +
	"return returnto returnurl returnuri returl continue continueto continueurl dest desturl destination destinationurl target targeturl callback callbackurl callbackuri " +
	"forward forwardto forwardurl successurl failureurl cancelurl logouturl postlogoutredirecturi")

// elsewhere are names that end like one of a kind and are another thing: the sources
// of what is written, the destination of a review, settings, patterns.
var elsewhere = table(map[kind]string{0: "sourcebranch headbranch frombranch startbranch parentbranch comparebranch originbranch srcbranch defaultbranch " +
	"upstreambranch trackingbranch removesourcebranch baseref headref sourceref startref fromref contentref dryrunref beforeref afterref parentref " +
	"srcref originref compareref defaultref upstreamref trackingref previousref pref prefs userpref userprefs xref xrefs crossref crossrefs " +
	"jsonpath xpath classpath"})

func table(lists map[kind]string) map[string]kind {
	m := map[string]kind{}
	for k, list := range lists {
		for w := range strings.FieldsSeq(list) {
			m[w] |= k
		}
	}
	return m
}

// kindOf is what a squashed name says. Names that nobody listed are read by their
// ends, in the way that refuses more: a branch or ref that is not known to be a source
// is written.
func kindOf(name []byte) kind {
	if len(name) == 0 {
		return 0
	}
	for i := slotOf(name); slots[i].name != ""; i = (i + 1) % maxSlots {
		if slots[i].name == string(name) {
			return slots[i].kind
		}
	}
	return endOf(name)
}

// endOf is what the end of a name says that nobody listed.
func endOf(name []byte) kind {
	for _, e := range endsBy[name[len(name)-1]] {
		if at := len(name) - len(e.end); at >= 0 && name[at] == e.end[0] && string(name[at:]) == e.end {
			return e.kind
		}
	}
	return 0
}

type ending struct {
	end  string
	kind kind
}

var ends = []ending{
	{"pushref", isRef}, {"branchref", isRef}, {"href", isURI}, {"pushrefs", isRef}, {"branchrefs", isRef}, {"hrefs", 0}, // in this order
	{"branch", isRef}, {"branchname", isRef}, {"refspec", isRef | isSpec}, {"refspecs", isRef | isSpec}, {"gitref", isRef}, {"ref", isRef | isEither}, {"refs", isRef | isEither}, {"refname", isRef}, {"tagname", isRef},
	{"path", isPath}, {"paths", isPath | isMany}, {"filename", isPath}, {"directory", isPath}, {"folder", isPath}, {"dir", isPath},
	{"url", isURL}, {"urls", isURL | isMany}, {"hostname", isHost}, {"endpoint", isURI}, {"webhook", isURI}, {"uri", isURI}, {"uris", isURI | isMany}, {"recipient", isMail}, {"recipients", isMail},
	{"command", isCommand}, {"content", isProse}, {"contents", isProse}, {"text", isProse}, {"description", isProse}, {"message", isProse},
}

// endsBy are the ends by their last letter.
var endsBy = func() (by [256][]ending) {
	for _, e := range ends {
		c := e.end[len(e.end)-1]
		by[c] = append(by[c], e)
	}
	return by
}()

const maxSlots = 1024

// slots are kinds, and elsewhere as no kind, in a table of our own: every name of every
// call is looked up in it.
var slots = func() (t [maxSlots]struct {
	name string
	kind kind
}) {
	put := func(name string, k kind) {
		i := slotOf([]byte(name))
		for t[i].name != "" && t[i].name != name {
			i = (i + 1) % maxSlots
		}
		t[i].name, t[i].kind = name, k
	}
	for name, k := range kinds {
		put(name, k)
	}
	for name := range elsewhere {
		put(name, 0)
	}
	for _, name := range turns {
		k, listed := kinds[name]
		if !listed {
			k = endOf([]byte(name))
		}
		if k&likePath != 0 || name == "u" {
			k |= isVague
		}
		put(name, k|isTurn)
	}
	return t
}()

// slotOf is where the search for a name begins.
func slotOf(name []byte) int {
	n := len(name)
	return (n*31 + int(name[0])*131 + int(name[n-1])*17 + int(name[n/2])*7 + int(name[n/3])*257) % maxSlots
}
