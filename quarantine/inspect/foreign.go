package inspect

import (
	"strings"

	"github.com/pratique-dev/pratique/quarantine/inspect/unfold"
)

// A phrase is an order in a script that the reader has no words of: one stem of
// each group, close together, in whatever order the language has them. First
// letters that may be capitals are left out.
type phrase struct {
	rule   string // the rule that it counts as
	groups [3][]string
}

var phrases = []phrase{
	{"override", [3][]string{{"гнорир", "абудь", "ігнору"}, {"редыдущ", "режни", "опередн", "ыше"}, {"нструкци", "казани", "равил", "нструкці"}}},
	{"secrecy", [3][]string{{"е говори", "е сообща", "е упомина", "е рассказыва", "е кажи"}, {"ользовател", "ористувач"}, {"ользовател", "ористувач"}}},
	{"override", [3][]string{{"忽略", "无视", "無視", "忘记", "忘記"}, {"之前", "以前", "以上", "先前", "上述", "前面"}, {"指令", "指示", "说明", "說明", "提示", "规则", "規則"}}},
	{"secrecy", [3][]string{{"不要", "别", "不得", "切勿"}, {"告诉", "告訴", "透露", "提及", "告知"}, {"用户", "用戶", "使用者"}}},
	{"override", [3][]string{{"無視", "忘れ"}, {"以前", "これまで", "上記", "すべて", "全て"}, {"指示", "命令", "ルール"}}},
	{"secrecy", [3][]string{{"ユーザー", "利用者"}, {"伝え", "知らせ", "言わ", "教え"}, {"ない", "ず", "な。"}}},
	{"override", [3][]string{{"무시"}, {"이전", "위의", "모든", "앞의"}, {"지시", "지침", "명령"}}},
	{"secrecy", [3][]string{{"사용자에게"}, {"알리지", "말하지", "언급하지"}, {"마", "말"}}},
	{"override", [3][]string{{"تجاهل", "انس"}, {"السابق", "جميع", "كل"}, {"تعليمات", "الأوامر", "القواعد"}}},
	{"override", [3][]string{{"अनदेखा", "नज़रअंदाज़", "भूल"}, {"पिछले", "सभी", "पहले"}, {"निर्देश"}}},
}

// reach is how many bytes of a phrase's first stem the others may stand away.
const reach = 72

// ruleOf is a rule's number by its name.
var ruleOf = func() map[string]int {
	m := map[string]int{}
	for i, r := range rules {
		m[r.name] = i
	}
	return m
}()

// foreign finds phrases in a view that has letters beyond ASCII.
func (j *judge) foreign(v *unfold.View) {
	text := v.Text
	if !beyondASCII(text) {
		return
	}
	for k := range phrases {
		p := &phrases[k]
		for _, stem := range p.groups[0] {
			for i := 0; ; {
				n := strings.Index(text[i:], stem)
				if n < 0 {
					break
				}
				from, to := i+n, i+n+len(stem)
				if a, b, ok := p.around(text, from, to); ok {
					a, b = v.Origin(a, b)
					j.hits = append(j.hits, hit{rule: ruleOf[p.rule], pos: int32(from / 6), last: int32(to / 6), from: int32(a), to: int32(b), deep: v.Depth > 0})
				}
				i = to
			}
		}
	}
}

// around finds the other stems of a phrase near its first one, and the bytes that
// all of them stand in.
func (p *phrase) around(text string, from, to int) (a, b int, ok bool) {
	lo, hi := max(0, from-reach), min(len(text), to+reach)
	a, b = from, to
	for _, group := range p.groups[1:] {
		found := false
		for _, stem := range group {
			if n := strings.Index(text[lo:hi], stem); n >= 0 {
				a, b = min(a, lo+n), max(b, lo+n+len(stem))
				found = true
				break
			}
		}
		if !found {
			return 0, 0, false
		}
	}
	return a, b, true
}

func beyondASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return true
		}
	}
	return false
}
