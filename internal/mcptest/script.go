package mcptest

import "github.com/go-json-experiment/json/jsontext"

// JSON is raw JSON.
type JSON = jsontext.Value

// A Script is what an upstream is and does. The zero Script is a server without
// anything in it that speaks all revisions. It travels as JSON to the processes of
// a stdio upstream.
type Script struct {
	ServerInfo   JSON     `json:",omitzero"` // default {"name":"fixture","version":"1"}
	Instructions string   `json:",omitzero"`
	Capabilities JSON     `json:",omitzero"` // default: what is there, with listChanged
	Revisions    []string `json:",omitzero"` // spoken; default all five
	Tools        List
	Prompts      List
	Resources    List
	Templates    List

	// Answers are what calls come to: by tool name, "prompt:NAME", "resource:URI"
	// or "complete:NAME" (of the completed argument). What is listed and has no
	// answer gets a default one, what is not listed and has one is answered too.
	Answers map[string]Answer `json:",omitzero"`

	HTTP HTTP
	// Noise is written to standard output before anything else (stdio), with a line
	// end; Stderr to standard error.
	Noise  string `json:",omitzero"`
	Stderr string `json:",omitzero"`
}

// A List is what a list request comes to.
type List struct {
	Items    []JSON `json:",omitzero"`
	PageSize int    `json:",omitzero"` // 0: one page
	// Versions, if there are any, take turns in the place of Items, one for each
	// complete listing that begins: a flapping list.
	Versions [][]JSON `json:",omitzero"`
	// Endless is a list that never ends: "same" repeats the last page and its cursor,
	// "new" repeats the page under new cursors, "items" makes up items.
	Endless string `json:",omitzero"`
	Gate    string `json:",omitzero"` // pages wait until it is open (Upstream.Open)
	From    int    `json:",omitzero"` // the first page, from 0, that Gate and DelayMs hold for
	DelayMs int    `json:",omitzero"`
	TTLMs   int    `json:",omitzero"` // ttlMs in the modern era; 0: who asks is to list before each use
	Answer  Answer `json:",omitzero"` // Raw, Error, Silent, WrongID, Deep or Big in place of a page, from page From on
}

// An Answer is what one call comes to. Fields add up in the order in which they
// stand; without any it is a short text.
type Answer struct {
	// Before and while the call runs.
	Gate      string         `json:",omitzero"` // waits until it is open
	DelayMs   int            `json:",omitzero"`
	Noise     string         `json:",omitzero"` // a line on standard output (stdio)
	Becomes   []JSON         `json:",omitzero"` // the tools from now on, in this process
	Notify    []Notification `json:",omitzero"` // sent before the answer, to all, as events on GET and listen streams
	Progress  int            `json:",omitzero"` // progress notifications, if there is a token
	Message   string         `json:",omitzero"` // of these
	Logs      []JSON         `json:",omitzero"` // data of log messages of this exchange
	Flood     int            `json:",omitzero"` // log messages without a use
	Questions []Question     `json:",omitzero"` // asked; in the modern era by input_required
	Rounds    int            `json:",omitzero"` // how often, in the modern era; default once
	Exit      bool           `json:",omitzero"` // the process ends, or the connection is cut, in place of an answer
	CutStream bool           `json:",omitzero"` // HTTP with Resume: the stream ends before the answer, which waits for a GET

	// The answer.
	Silent  bool   `json:",omitzero"` // none
	WrongID bool   `json:",omitzero"` // under another id
	Raw     []byte `json:",omitzero"` // these bytes; %ID% stands for the id
	Error   JSON   `json:",omitzero"` // a JSON-RPC error
	Echo    bool   `json:",omitzero"` // the arguments' bytes as text, and as structuredContent if they are an object
	Result  JSON   `json:",omitzero"` // this result
	Big     int    `json:",omitzero"` // a text of that many letters a
	Tail    string `json:",omitzero"` // with this at its end
	Deep    int    `json:",omitzero"` // structuredContent of that many arrays in each other
	Utf8    bool   `json:",omitzero"` // a text that is not valid UTF-8
}

// A Notification is sent to an agent.
type Notification struct {
	Method string
	Params JSON `json:",omitzero"`
}

// A Question is asked of an agent.
type Question struct {
	Key    string `json:",omitzero"` // in inputRequests; default q0, q1, ...
	Method string
	Params JSON `json:",omitzero"`
}

// HTTP is how an HTTP upstream puts things.
type HTTP struct {
	JSON      bool   `json:",omitzero"` // answers as application/json; default: event streams
	NoSession bool   `json:",omitzero"` // no Mcp-Session-Id
	NoGet     bool   `json:",omitzero"` // 405
	Gzip      bool   `json:",omitzero"`
	Split     int    `json:",omitzero"` // writes so many bytes at a time
	Resume    bool   `json:",omitzero"` // events have ids, and GET with Last-Event-ID goes on from there
	Lax       bool   `json:",omitzero"` // modern: does not check headers
	Status    int    `json:",omitzero"` // this status in place of every answer
	Type      string `json:",omitzero"` // this Content-Type in place of the right one
}

// Tool is a tool definition: a name, a description and an inputSchema that takes
// any object.
func Tool(name, description string) JSON {
	return object("name", quote(name), "description", quote(description), "inputSchema", JSON(`{"type":"object"}`))
}

// Texts makes raw values of texts.
func Texts(values ...string) []JSON {
	out := make([]JSON, len(values))
	for i, v := range values {
		out[i] = JSON(v)
	}
	return out
}

// TextResult is the result of a tool that returned a text.
func TextResult(text string) JSON {
	return object("content", JSON(`[{"type":"text","text":`+string(quote(text))+`}]`))
}
