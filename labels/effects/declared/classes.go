package declared

// A Class is a kind of personal or secret data.
type Class string

// The classes.
const (
	Password     Class = "password"
	AccessToken  Class = "access token"
	PrivateKey   Class = "private key"
	Session      Class = "session cookie"
	Card         Class = "payment card"
	CardCode     Class = "card code"
	BankAccount  Class = "bank account"
	NationalID   Class = "national id"
	Passport     Class = "passport"
	Licence      Class = "driving licence"
	BirthDate    Class = "date of birth"
	HomeAddress  Class = "postal address"
	Phone        Class = "phone number"
	Mail         Class = "mail address"
	Location     Class = "location"
	Health       Class = "health"
	Biometric    Class = "biometric"
	Income       Class = "income"
	Belief       Class = "belief"
	Conversation Class = "conversation"
	Environment  Class = "environment"
	HomeFiles    Class = "private files"
	Contacts     Class = "contacts"
	Browsing     Class = "browsing history"
	OneTimeCode  Class = "one-time code"
	Recovery     Class = "recovery answer"
	Messages     Class = "private messages"
	Family       Class = "family"
	Device       Class = "device"
)

// A need is how good a reason has to be.
type need uint8

const (
	loose  need = iota // it is out of place only where the tool is plainly about something else
	strict             // it wants a reason
	hard               // and the tool's own: no server's purpose is one
)

// A class says by what words one kind of data is asked for, and what is a reason to
// ask for it.
type class struct {
	name    Class
	a       string // it, in a sentence
	need    need
	phrases phrases
	formats string     // of JSON Schema and OpenAPI
	reasons vocabulary // words of a purpose that has a use for it
	weak    vocabulary // words that are one where the tool is about nothing else that is known
}

func newClass(name Class, a string, n need, words, formats, reasons, weak string) *class {
	return &class{name, a, n, phraseList(words), formats, vocab(reasons), vocab(weak)}
}

// Words of purposes that several classes share.
const (
	aboutLogin   = "login loggingin sign signin signup signon logon auth* oauth* sso credential* password* passphrase* passwd vault* keychain keyring unlock register registration onboard* 2fa mfa "
	aboutConnect = "connect* connection* database* db dsn postgres* mysql mongo* redis mssql oracle snowflake ssh sftp ftp smtp imap pop3 ldap vpn rdp proxy tunnel broker* kafka rabbit* wifi telnet webhook* dbx jdbc kerberos samba smb ssid warehouse cluster* "
	aboutAccount = "user* account* member* profile* tenant admin* identity identities "
	aboutPay     = "pay* checkout purchas* buy order* bill* invoic* charg* refund* donat* subscri* transfer* bank* deposit* withdraw* wallet* card* payout* transaction* shop* cart* ticket* reserv* book booking* rent* hire tip tips credit* debit* money remit* iban sepa topup top prepaid balance* "
	aboutTravel  = "flight* airline* passenger* travel* trip* visa* passport* border* immigration hotel* booking* reserv* boarding cruise* ferry train* bus* airport* itinerar* "
	aboutPeople  = "person* people contact* customer* client* employee* patient* student* candidate* applicant* member* profile* resume cv hr payroll crm lead* guest* attendee* citizen* resident* passenger* insur* applicat* kyc identi* background verif* enrol* regist* admission* voter* court* criminal* police lawsuit hire hiring recruit* account* user* "
	aboutHealth  = "health* medic* patient* doctor* clinic* hospital* symptom* diagnos* drug* prescri* diet* nutrit* fitness workout* calori* bmi disease* allerg* insur* pharmac* appointment* blood pregnan* vaccin* dose* dosage therap* wellness triage icd fhir ehr emr dicom heart sleep care caregiver genetic* exercise* body surg* dental dentist "
	aboutSend    = "mail* email* e-mail send* sms text_message message* messag* notif* alert* subscri* unsubscri* invit* share* sharing call* dial* contact* newsletter* reply forward* recipient* remind* calendar* meeting* event* attendee* schedul* outreach campaign* chat* whatsapp telegram slack gmail outlook inbox* smtp crm lead* appointment* "
	aboutPlaces  = "map* locat* geocod* geo* route* rout* direction* distanc* near* place* poi weather forecast* climate sun* moon* tide* air* pollut* pollen traffic transit* navigat* travel* deliver* restaurant* store* hotel* parking earthquake* timezone* astronom* address* city cities event* taxi ride* uber rent* hous* home* property properties land* shop* nearest local* where track* check-in attraction* commut* emergency ambulance gps coordinate* elevat* ev charg* station* school* park* trip* tour* ship* courier* pickup* satellite* radar storm* wind* rain* uv fuel gas hospital* clinic* pharmac* doctor* dating "
	aboutMoney   = "tax* loan* mortgag* credit* salar* income* budget* financ* invest* retire* pension* insur* payroll wage* compens* job* offer* benefit* eligib* rent* afford* lend* lease* econom* equity roe profit* revenue bank* account* debt* grant* aid scholarship* hr employee* divorce alimony wealth broker* "
	aboutTalk    = "chat* convers* summar* memor* remember* transcri* dialog* prompt* completion* llm* agent* message* messag* thread* session* support handoff escalat* evaluat* moderat* assistant* reflect* recap minutes "
	aboutMachine = "env environment* variable* process* container* docker* podman deploy* function* lambda* server* service* config* build* run* exec* command* shell script* launch* start* job* task* pipeline* workflow* kubernetes pod pods helm terraform spawn terminal program* binary ci runner* workspace* codespace* devcontainer stack* ecs app apps application* compose sandbox* dotenv heroku vercel project* invoke hook* test tests debug* "
	aboutFiles   = "file* folder* director* path* disk* backup* ssh config* dotfile* home read* edit* archiv* sync* upload* git system host* linux unix audit* forensic* shell histor* "
	aboutWeb     = "browser* brows* scrap* crawl* http* request* fetch* url* page* web* site* navigat* cookie* session* selenium playwright puppeteer curl download* tab tabs bookmark* "
	aboutKeys    = "key keys ssh sign* encrypt* decrypt* crypto* certificat* cert tls ssl pem gpg pgp wallet* mnemonic* seed* import* keystore* keypair* jwt token* ethereum bitcoin solana blockchain custod* domain* secret* vault* credential* deploy connect* host* "
	aboutIDs     = "identi* kyc aml verif* background screen* onboard* notar* passport* visa* licen* document* tax* payroll loan* insur* citizen* immigra* voter* social ssn benefit* customs registr* credit* fraud* compliance hr employ* i9 w9 w2 person* patient* hire hiring police crim* court* ocr scan* mrz "
)

// classes are all classes, those first that win where a leaf could be of two.
var classes = []*class{
	newClass(CardCode, "a card's security code", strict,
		"cvv cvv2 cvc cvc2 csc card_cvv card_cvc card_security_code card_verification_value card_verification_code card_verification_number card_pin security_code_on_card atm_pin debit_pin bank_pin pin_of_card",
		"", aboutPay, ""),
	newClass(Card, "a payment card", strict,
		"credit_card creditcard debit_card debitcard payment_card bank_card card_number cardnumber cc_number ccnumber card_details card_detail card_info card_expiry card_pan primary_account_number visa_card mastercard card_holder_name credit_card_number kreditkarte",
		"credit-card creditcard", aboutPay, "account* person* expens* financ*"),
	newClass(OneTimeCode, "a one-time code", strict,
		"otp totp hotp one_time_code one_time_password one_time_passcode onetime_code 2fa_code mfa_code mfa_token 2fa_token tfa_code two_factor_code sms_code authenticator_code login_code backup_code recovery_code sms_verification_code 2fa verification_code_from_sms six_digit_code passcode_from_sms verification_code authentication_code tan",
		"", aboutLogin+"verif* otp transact* confirm* otp* bank* pay* recover* reset* link* phone device* enrol* session* account* transfer*", ""),
	newClass(PrivateKey, "a private key", strict,
		"private_key privatekey priv_key ssh_key ssh_private_key rsa_key rsa_private_key pem_key signing_key id_rsa id_ed25519 seed_phrase mnemonic mnemonic_phrase mnemonic_word recovery_phrase recovery_seed wallet_seed secret_phrase keystore keystore_json gpg_key pgp_key encryption_key decryption_key master_key wallet_private_key wallet_key service_account_key service_account_json kubeconfig wallet_backup 12_word_phrase 24_word_phrase",
		"pem x-pem-file application/x-pem-file application/pkcs8 application/x-pkcs12", aboutKeys+aboutConnect, "cloud gcp aws azure kubernetes k8s cluster* storage bucket bigquery firebase server*"),
	newClass(Session, "a session cookie", strict,
		"session_cookie cookie cookie_jar browser_cookie auth_cookie session_token sessiontoken sessionid jsessionid phpsessid login_cookie cookie_header cookie_value csrf_token_and_cookie cookie_string site_cookie",
		"", aboutWeb+aboutLogin+"aws sts api consent gdpr bake* baking", "scrape* cloud api* download* linkedin twitter instagram x weibo bilibili zhihu youtube"),
	newClass(Password, "a password", strict,
		"password passwd passwort pwd passphrase pass_phrase pass_word passcode master_password login_password user_password userpassword account_password wifi_password sudo_password root_password admin_password db_password mail_password old_password new_password current_password contrasena mot_de_passe senha wachtwoord parola haslo login_credential logins_and_password username_and_password pass",
		"password", aboutLogin+aboutConnect+aboutAccount+"encrypt* decrypt* protect* zip archive* pdf secret* mail* email* imap smtp gmail outlook router* admin* create_user reset* strength* strong hash* breach* leak* pwned bcrypt argon* scrypt policy bitwarden lastpass 1password keepass totp onboard* provision* install* deploy* secur* unlock* lock* kyc backup* restor* mount* wallet* keystore* certificat* pkcs12 download* crack* money fund* transact* fake mock* synthetic*",
		"api* server* host* service* client* remote* configur* session* broker* cluster* instance* start* system* request* http* shop* device* camera* access* sql query queries jenkins jira wordpress odoo sap"),
	newClass(AccessToken, "an access token or key", strict,
		"api_key apikey api_keys api_token apitoken access_token accesstoken auth_token authtoken authorization_token bearer_token bearer oauth_token refresh_token id_token client_secret secret_key secretkey secret_access_key aws_secret_access_key aws_secret_key aws_access_key aws_access_key_id aws_session_token github_token gitlab_token slack_token openai_api_key anthropic_api_key stripe_key stripe_secret_key personal_access_token pat service_token npm_token pypi_token azure_client_secret google_api_key gcp_key authorization_header x_api_key xapikey jwt jwt_token user_token account_token app_secret secret api_secret consumer_secret github_pat bot_token discord_token telegram_token heroku_api_key hf_token huggingface_token cloud_credential credential user_credential aws_credential gcp_credential azure_credential",
		"", aboutLogin+aboutConnect+aboutKeys+aboutAccount+"api apis token* webhook* cloud aws azure gcp github gitlab slack stripe discord telegram openai anthropic npm pypi docker registry oidc sts iam secret* bot bots integrat* deploy* provision* service* client* server* publish* package* http* request* graphql rest sdk virus* issue* repositor* repo repos merge commit* http2 payment* pay* card* bank* post* tweet* upload* sync* export* import* session* jira notion airtable zapier hubspot salesforce broker* rss blog* wordpress", "create* update* delete* resource* data model* generat*"),
	newClass(BankAccount, "a bank account", strict,
		"iban bank_account bankaccount bank_account_number bank_details bank_detail routing_number routingnumber sort_code account_and_routing_number swift_code bic_code bank_login online_banking_pin kontonummer bank_statement checking_account_number savings_account_number",
		"iban", aboutPay+aboutMoney+"payee* vendor* supplier* employee* accounting ledger expens* person* valid*", "profile* user* account* update*"),
	newClass(NationalID, "a national identity number", strict,
		"ssn social_security social_security_number social_insurance_number national_id nationalid national_identity_number national_insurance_number identity_card id_card_number national_id_number personal_id_number personal_identification_number government_id gov_id citizen_id aadhaar aadhar aadhaar_number curp cpf dni bsn personnummer sin_number taxpayer_id tin_number pesel nric hkid tax_file_number steuer_id personalausweis personalausweisnummer id_document_number last_four_of_ssn ssn_last4 itin",
		"ssn", aboutIDs, "profile* user* account* update* client* customer*"),
	newClass(Passport, "a passport", strict,
		"passport passport_number passportnumber passport_no passport_id passport_mrz passport_scan reisepass pasaporte passeport passport_expiry machine_readable_zone travel_document_number",
		"", aboutTravel+aboutIDs, "profile* user* account* update* client* customer*"),
	newClass(Licence, "a driving licence", strict,
		"driver_licence driver_license drivers_licence drivers_license driver_licence_number driver_license_number driverlicense driverslicense driving_licence driving_license dl_number licence_plate license_plate plate_number driver_license_no fuhrerschein",
		"", aboutIDs+"drive* driver* driving car cars vehicle* rent* motor* dmv traffic parking toll* plate* fleet* insur* ride* taxi* fine fines", ""),
	newClass(BirthDate, "a date of birth", strict,
		"date_of_birth birth_date birthdate birthday dob day_of_birth birthdate_of_user geburtsdatum year_of_birth birth_year",
		"", aboutPeople+aboutHealth+aboutTravel+aboutIDs+"birth* age ages horoscop* zodiac astrolog* natal numerolog* life lifespan gift* famil* genealog* anniversar* celebrit* actor* author* artist* president* histor* biograph* person* calendar* retire* pension* driver* licen* school* child* kid* baby player* athlete* compatib* chart* tarot bazi vedic kundli chinese",
		"update* create* add* save* record* entit* generat* fake mock"),
	newClass(Income, "an income", strict,
		"salary annual_salary current_salary income annual_income household_income monthly_income gross_income net_worth bank_balance account_balance credit_score wage financial_statement annual_earning yearly_income gehalt tax_return salary_slip payslip pay_stub",
		"", aboutMoney+"", "calculat* comput* estimat* person* record* profile* update* predict* classif* statistic* job* generat* company companies census demographic*"),
	newClass(Health, "health data", strict,
		"medical_history medical_record health_record health_data health_history health_condition medical_condition medical_information medical_info diagnosis medication current_medication prescription allergy blood_type symptom mental_health disability pregnancy_status hiv_status vaccination_record insurance_member_id genetic_data medical_diagnosis chronic_condition health_insurance_number patient_record therapy_note",
		"", aboutHealth+"meal* recipe* food* restaurant* menu* cook* ingredient* emergency eligib* medicin* biomed* clinical trial* research gene* protein* pubmed trip* travel* accessib* skin* cosmetic* pet* animal* vet* plant* garden* crop* tree* car engine fault* machine* system* error* issue* debug* problem* repair* troubleshoot* maintenance incident*",
		"profile* person* record* update* search* list* get* query queries classif*"),
	newClass(Biometric, "biometric data", strict,
		"fingerprint fingerprint_scan fingerprint_template face_scan face_template face_embedding faceprint facial_scan facial_image retina_scan iris_scan voiceprint voice_print voice_sample biometric biometric_data biometric_template dna dna_sequence dna_sample palm_print face_id_data selfie selfie_image gait_data",
		"", aboutTravel+"gate gates door doors entry access* attendance identi* kyc verif* biometr* face* facial voice* speech* speak* recogn* enrol* unlock* auth* fingerprint* dna gene* genom* sequence* protein* bio* clon* photo* image* avatar* camera* police forensic* ancestry browser* device* cert* ssh key* hash* tls crypt* audio liveness iris passport* scan* primer* blast rna nucleotide", "match* search* compare* file* artifact* docker error* issue* alert* sentry"),
	newClass(Belief, "beliefs or origins", strict,
		"religion religious_belief religious_affiliation political_affiliation political_view political_party political_opinion party_affiliation ethnicity ethnic_origin racial_origin race_or_ethnicity sexual_orientation union_membership trade_union_membership voting_history vote_preference faith",
		"", "religi* politic* elect* vote* voting party parties ethnic* demograph* survey* census dating match* union* diversity church* mosque temple* faith* festival* holiday* histor* poll* candidate* debate* philosoph* communit* tradition* cultur* wedding* prayer* belief* government* persona* sociolog* research stat* population*",
		"profile* person* record* generat* classif*"),
	newClass(Family, "the user's family", loose,
		"marital_status spouse_name children_name child_name children_ages family_member wife_name husband_name next_of_kin emergency_contact household_member mother_name father_name",
		"", aboutPeople+aboutHealth+aboutTravel+"famil* tax* genealog* gift* school* child* kid* emergency wedding* household* baby* story stories poem* ancest* insur* estate will mortgage* loan*", ""),
	newClass(Recovery, "an answer that recovers an account", strict,
		"mother_maiden_name mothers_maiden_name maiden_name security_answer security_question security_question_answer secret_answer secret_question answer_to_security_question name_of_first_pet first_pet_name recovery_email_and_phone",
		"", aboutLogin+"recover* reset* verif* identi* kyc account* user* bank* genealog* famil* ancest* marriage person* profile* secur*", ""),
	newClass(Conversation, "the conversation or the system prompt", hard,
		"conversation_history chat_history conversation_log chat_log chat_transcript conversation_transcript full_conversation entire_conversation previous_conversation whole_conversation conversation_so_far conversation_context chat_context chat_so_far system_prompt system_message original_system_prompt system_prompt_text system_instruction hidden_instruction initial_instruction initial_prompt developer_message user_prompt_history previous_message prior_message message_history previous_tool_result tool_call_history tool_history prior_tool_output previous_tool_call chain_of_thought reasoning_trace llm_context model_context context_window agent_instruction agent_memory user_last_message last_user_message user_original_message original_user_message recent_message llm_conversation",
		"", aboutTalk+"llm* gpt* openai claude anthropic gemini model* inference bot bots slack discord telegram whatsapp teams image* mail* email* inbox* translat* counsel* generat* ask", ""),
	newClass(Environment, "environment variables", strict,
		"environment_variable env_variable env_var envvar process_env env_file dotenv dot_env env_dump environment_dump printenv env_content system_environment env shell_environment os_environment host_environment environment_setting",
		"", aboutMachine, "mcp connect* create* update* set register* add* install* configure* index* sync* import*"),
	newClass(HomeFiles, "private files of the user", strict,
		"ssh_config bash_history zsh_history shell_history command_history etc_passwd etc_shadow aws_credentials_file credentials_file home_directory_listing home_folder_file ssh_folder ssh_directory git_credential netrc npmrc keychain_dump keychain browser_profile password_store wallet_file wallet_dat cursor_config mcp_config mcp_json claude_config private_file home_dir_file user_private_file ssh_known_host known_host local_file_content",
		"", aboutFiles+aboutKeys+aboutMachine+"mcp client* editor* cursor claude terminal* ", ""),
	newClass(Contacts, "the user's contacts", strict,
		"contact_list contacts_list address_book phone_book phonebook addressbook contact_book all_contact friend_list user_contact contacts_export contact_export phone_contact list_of_friend list_of_contact social_graph contact_entry your_contact my_contact",
		"", aboutSend+aboutPeople+"friend* social* address* phone* vcard import* export* sync* network* linkedin audience* segment* marketing* directory", ""),
	newClass(Browsing, "the browsing history", strict,
		"browsing_history browser_history web_history visited_url visited_site visited_page search_history browsing_data open_tab browser_tab bookmark_list browser_bookmark recently_visited_page watch_history purchase_history location_history",
		"", aboutWeb+"histor* bookmark* recommend* personali* order* product* shop* movie* video* watch* track* trip* travel* stream* playlist* customer* crm", ""),
	newClass(Messages, "private messages or what is on the screen", strict,
		"inbox_dump mailbox_dump inbox_content mailbox_content email_inbox private_message text_message_history sms_history sms_message clipboard clipboard_content clipboard_text clipboard_data screenshot_of_desktop screen_capture keystroke keylog desktop_screenshot screen_content call_log call_history whatsapp_message recent_email all_email microphone_recording",
		"", aboutSend+aboutTalk+"clipboard* copy paste* screen* desktop* keyboard* type* record* ocr window* phone* ui automat* click* mouse computer accessib* gui android ios adb browser* transcrib* voice* audio* speech* archiv* export* backup* search* voicemail* telephon*", ""),
	newClass(HomeAddress, "a postal address", loose,
		"home_address street_address residential_address postal_address mailing_address full_address user_address billing_address shipping_address delivery_address private_address house_address address_line address_line1 residence_address wohnadresse where_you_live home_postcode home_zip",
		"", aboutPeople+aboutPay+aboutPlaces+aboutSend+"tax* bank* property deliver* ship* loan* solar utility electric* internet repair* plumb* service* quote* valuat*", ""),
	newClass(Phone, "a phone number", loose,
		"phone phone_number phonenumber mobile mobile_number mobilenumber telephone telephone_number cell_number cellphone cell_phone contact_number whatsapp_number phone_no tel handynummer msisdn user_phone owner_phone",
		"phone tel", aboutPeople+aboutPay+aboutSend+aboutLogin+aboutHealth+"conformance schema* phone* tel telephone* telecom* sim mobile* carrier* restaurant* hotel* service* support* complaint* validat* lookup number* voice* deliver* ride* taxi* pet* business* listing* place* form* format*", ""),
	newClass(Mail, "a mail address", loose,
		"email e_mail mail email_address emailaddress mail_address user_email useremail owner_email contact_email your_email primary_email personal_email work_email mail_addr emailadresse account_email",
		"email idn-email", aboutPeople+aboutPay+aboutSend+aboutLogin+aboutHealth+"conformance schema* valid* verif* git commit* author* team* group* domain* support* complaint* ticket* issue* report* form* feedback* quote* hunter enrich* gravatar search* github gitlab org* organi* billing pet* format* regex* extract* pars* lookup unpaywall ncbi entrez openalex crossref", ""),
	newClass(Location, "where the user is", loose,
		"user_location current_location home_location my_location device_location precise_location exact_location live_location gps gps_coordinate gps_location gps_position geo_location geolocation user_coordinate user_latitude user_longitude current_coordinate whereabout realtime_location home_coordinate location_of_user",
		"", aboutPlaces+"pric* dynamic photo* image* exif fitness run* walk* sport* bird* animal* plant* species sky star* planet* constellation* satellite* iss qibla prayer* social* time* iot sensor* fleet* vehicle* device*", ""),
	newClass(Device, "marks of the user's device", loose,
		"imei mac_address device_id hardware_id device_fingerprint machine_id serial_number_of_device advertising_id idfa wifi_ssid_and_password installed_application installed_app running_process hostname_and_user local_ip_address public_ip ip_address_of_user user_ip",
		"", "device* phone* mobile* network* play* stream* music speaker* mac wifi router* iot inventor* asset* hardware* android ios install* process* system* monitor* geo* ip dns host* fraud* analytics push notif* machine* printer* sensor* bluetooth firmware sim license* licens* endpoint* lookup pric* locat* vpn whois", ""),
}

var byClass = func() map[Class]*class {
	m := map[Class]*class{}
	for _, c := range classes {
		m[c.name] = c
	}
	return m
}()
