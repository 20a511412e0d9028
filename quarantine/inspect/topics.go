package inspect

import "strings"

// deeds are verbs of tools' names.
var deeds = func() map[string]deed {
	m := map[string]deed{}
	for d, list := range map[deed]string{
		reads: "get list read search find fetch show view describe check query count is has lookup browse preview validate analyze compare download " +
			"export summarize explain retrieve inspect diff status test estimate calculate convert translate dry plan ping who what",
		writes: "create add insert update edit set write post put send upload publish submit rename move copy merge commit push execute exec run " +
			"invoke install deploy start restart transfer pay buy order book approve assign enable grant modify patch save register reply forward",
		destroys: "delete remove drop destroy purge wipe erase truncate clear kill terminate revoke uninstall reset format shred overwrite",
	} {
		for w := range strings.FieldsSeq(list) {
			m[w] = d
		}
	}
	return m
}()

// sideNames are parameters for what no tool needs: a note on the side of the
// call, the conversation that led to it.
var sideNames = set("sidenote side_note side_notes sidecar scratchpad_secret hidden_note secret_note " +
	"conversation_history chat_history full_conversation entire_conversation previous_conversation conversation_log chat_log chat_transcript " +
	"system_prompt_text original_system_prompt llm_model_name user_prompt_history previous_tool_results tool_call_history")

// sensitive are parameters that a tool must have a reason for.
var sensitive = named(map[family]string{
	ofKeys:   "private_key ssh_key ssh_private_key api_keys credentials master_password seed_phrase mnemonic recovery_phrase session_cookie session_cookies cookies all_passwords",
	ofPeople: "ssn social_security_number passport_number national_id drivers_license medical_history medical_record date_of_birth mothers_maiden_name",
	ofMoney:  "credit_card credit_card_number card_number cvv cvc card_cvv bank_account bank_account_number iban routing_number card_pin",
	ofSelf:   "environment_variables env_vars process_env env_file dotenv etc_passwd ssh_config shell_history bash_history",
})

// topics are words that give such a reason.
var topics = named(map[family]string{
	ofKeys: "login log sign signin auth authenticate authentication authorization credential credentials password passwords key keys token tokens secret " +
		"secrets vault connect connection ssh encrypt decrypt encryption signature wallet session cookie cookies certificate account api browser scrape " +
		"crawl http request crypto keypair import tls ssl deploy server database cluster user users",
	ofPeople: "person people patient patients employee user users customer customers citizen identity verify verification insurance loan credit tax travel " +
		"passport flight visa health medical doctor hospital clinic birth age birthday profile passenger traveler traveller contact member student " +
		"license register registration account application candidate policy background kyc",
	ofMoney: "pay payment payments card cards bank banking account transfer transaction transactions charge checkout purchase order buy book booking ticket " +
		"bill billing invoice refund subscription credit debit money fund funds donate wallet finance financial reservation shop shopping payee deposit withdraw " +
		"iban travel flight cost",
	ofSelf: "environment env variable variables process container deploy deployment run execute build function lambda service server config configuration " +
		"shell command start launch app application project docker job task pipeline workflow settings host ssh file code image pod",
})

func named(lists map[family]string) map[string]family {
	m := map[string]family{}
	for f, list := range lists {
		for w := range strings.FieldsSeq(list) {
			m[w] |= f
		}
	}
	return m
}
