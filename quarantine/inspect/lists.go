package inspect

// endTags are what a text pretends to have come to its end with.
var endTags = set("result results output document tool_result tool_response function_results tool_output user_query data context")

// tagWords are what stands in a pseudo tag, headWords what stands in capitals
// and brackets before an order.
var (
	tagWords  = set("important system instructions instruction inst im_start im_end endoftext eot_id start_header_id sys information system_message")
	markWords = set("secret hidden critical admin override") // the same, but placeholders are named so too
	headWords = set("system instruction instructions directive hidden admin override secret priority priority_instruction system_override")
)

// Words that are places of secrets only behind what stands before them: a dot
// that begins a word, or a slash.
var (
	dotSecrets   = set("ssh netrc npmrc gnupg pgpass pypirc bash_history")
	softSecrets  = set("env aws kube cursor docker config gcloud azure slack stripe gitconfig db_admin_credentials github_token oauth_token mcp")
	slashSecrets = set("passwd shadow environ")
	slashSoft    = set("credentials")
	sideWords    = set("note notes trace context session reference metadata comment memo tag label extra remark scratch details sidenote")
	substWords   = set("cat env printenv whoami hostname id uname history set find ls base64")
)

// lengths[first letter] has bit n set when a word of the dictionary, or of the
// lists beside it, begins with the letter and has n bytes: most words of most
// texts end here.
var lengths = func() (t [256]uint64) {
	add := func(w string) { t[w[0]] |= 1 << len(w) }
	for w := range words {
		add(w)
	}
	for _, m := range []map[string]bool{tagWords, markWords, headWords, dotSecrets, softSecrets, slashSecrets, slashSoft, sideWords, substWords, endTags, {"http": true, "https": true}} {
		for w := range m {
			add(w)
		}
	}
	return t
}()

// blurred are the words of overriding without their vowels: a model reads ignoro
// all provious as what it is.
var blurred = func() map[string]class {
	m := map[string]class{}
	for w, c := range words {
		if len(w) >= 6 && c.has(parts(cIgnore, cAbove, cTold)) {
			m[blur([]byte(w))] = c
		}
	}
	return m
}()

// blurs is lengths of the words that blurred has: their first letter is none that
// is left out.
var blurs = func() (t [256]uint64) {
	for w := range blurred {
		t[w[0]] |= 1 << len(w)
	}
	return t
}()

// blur writes a word with one vowel for all.
func blur(w []byte) string {
	var buf [longest]byte
	for i, b := range w {
		switch b {
		case 'a', 'e', 'i', 'o', 'u':
			if i > 0 {
				b = '*'
			}
		}
		buf[i] = b
	}
	return string(buf[:len(w)])
}
