package declared

import "strings"

// A deed is what a verb says is done.
type deed uint8

const (
	unsaid   deed = iota
	reads         // looks and does not touch
	adds          // makes something new beside what is there
	changes       // what is there
	sends         // to others
	runs          // what it is given, or what stands somewhere
	destroys      // what is there
)

// deeds are verbs of names.
var deeds = func() map[string]deed {
	m := map[string]deed{}
	for d, list := range map[deed]string{
		reads: "get list read search find fetch show view describe check query count is has lookup browse preview validate analyze analyse compare download " +
			"export summarize explain retrieve inspect diff status test estimate calculate convert translate dry plan ping who what whoami verify discover wait " +
			"detect extract parse",
		adds: "create add insert write put append import register upload comment new attach upsert save store record",
		changes: "update edit set rename move copy merge commit assign enable disable grant modify patch order book approve reject change configure replace " +
			"restore revert archive unarchive close reopen resolve mark lock unlock rotate migrate toggle reassign promote demote apply rebase cherry accept unassign cancel",
		sends: "send post publish submit push transfer pay buy reply forward invite notify share email mail tweet broadcast refund charge purchase withdraw donate remit",
		runs:  "execute exec run invoke install deploy start restart stop eval launch spawn reboot shutdown retry play",
		destroys: "delete remove drop destroy purge wipe erase truncate clear kill terminate revoke uninstall reset shred overwrite unpublish deactivate " +
			"evict flush nuke discard prune",
	} {
		for w := range strings.FieldsSeq(list) {
			m[w] = d
		}
	}
	return m
}()

// nouns are verbs that stand in names as things as well: a merge request, an order,
// a post.
var nouns = wordSet(`merge post order commit comment release push run build test format set import export schedule share transfer message mail email book
	patch call log record plan status diff query start stop reset mark lock play store tweet charge refund purchase invite reply new order copy archive count
	cherry compile order format trigger clear make move`)

// things are those that a name ends in as what it is about: notes_store.
var things = wordSet("move store record order post comment plan format log schedule message mail email book play build copy save share call")

// tails are words behind a noun that is looked at.
var tails = wordSet(`status history info information detail details list log report stat statistics summary count diff preview template type schema result event
	by id url request requests policy rule rules setting settings version name note notes member members book books shelf hook hooks item items state usage
	metrics metric search lookup timeline activity feed overview catalog directory graph tree queue board book`)

// deedOf reads a name: its first verb, or that behind "and", "or", "then", where that
// is worse. A name that ends in a verb of reading reads.
func deedOf(name string) (d deed) {
	words := rawWordsOf(name)
	for i, w := range words {
		x := deeds[w]
		if x == unsaid || x > reads && nouns[w] && (len(words) == 1 || i == len(words)-1 && things[w] || anyOf(tails, words[i+1:])) {
			continue
		}
		if (x == adds || x == runs) && anyOf(products, words[i+1:]) {
			continue // create_chart, run_query
		}
		if d == unsaid || i > 0 && joins[words[i-1]] && x > d {
			d = x
		}
	}
	if d > reads && len(words) > 1 && nouns[words[0]] && deeds[words[len(words)-1]] == reads {
		return reads
	}
	return d
}

var joins = wordSet("and or then also")

func anyOf(set map[string]bool, words []string) bool {
	for _, w := range words {
		if set[w] {
			return true
		}
	}
	return false
}

// acts are what a deed comes to. What is changed is lost as it was.
func (d deed) acts() Acts {
	switch d {
	case reads:
		return Reads
	case adds:
		return Writes
	case changes, destroys:
		return Writes | Destroys
	case sends:
		return Writes | Egress
	case runs:
		return Writes | Executes
	}
	return 0
}

// says is a deed in a sentence.
func (d deed) says() string {
	switch d {
	case adds, changes:
		return "writes"
	case sends:
		return "sends"
	case runs:
		return "runs something"
	case destroys:
		return "destroys"
	}
	return "reads"
}
