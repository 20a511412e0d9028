package content

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// A role is what a member of an object is for, by its name.
type role uint8

const (
	other    role = iota
	pathName      // where to
	weakName      // where to, if it reads like a file with effects
	fromName      // where from
	textName      // what
	partName      // what, of a part
	patchName
	oldName // what goes away
	proseName
	encodingName
	base64Name // what, in base64; or whether it is
	execName
	modeName
	actionName
	mapName // an object by paths
	placeName
	dirName // a folder that a path is in
)

// roles by the folded name of the member.
var roles = roleTable(map[role]string{
	pathName:     "path filepath file filename filepathname targetfile targetpath targetfilepath destinationpath destpath newpath newfilepath newfilename fileuri relativepath relativeworkspacepath absolutepath fullpath abspath localpath repopath entrypath notebookpath pathname destinationfile outputpath outputfile savepath filelocation documentpath paths filepaths filenames",
	weakName:     "title name key target dest destination to uri url dst location resource slug id objectname blobname",
	fromName:     "from source src oldpath previouspath sourcepath oldname frompath oldfilepath previousfilename",
	textName:     "content contents text data filecontent filecontents filetext newcontent newcontents blob code sourcecode newsource payload updatedcontent raw html markdown value streamcontent newfilecontent fulltext document bytes lines contentlines",
	partName:     "newtext newstr newstring inserttext replacement replace insert append chunk codeedit newvalue inserted addition newlines newcode replacetext replacewith textedit",
	patchName:    "patch diff unifieddiff patchtext patchcontent diffcontent input changes udiff",
	oldName:      "oldtext oldstr oldstring oldcontent oldvalue search find original before oldcode searchtext findtext oldlines",
	proseName:    "message commitmessage description comment note reason summary authorname authoremail subject reply labels explanation instruction instructions query prompt",
	encodingName: "encoding contentencoding transferencoding charset fileencoding format contentformat",
	base64Name:   "isbase64 base64 contentbase64 base64content datab64 contentb64 base64data base64encoded",
	execName:     "executefilemode executable isexecutable executablebit setexecutable exec",
	modeName:     "mode filemode permissions permission chmod perms umode",
	actionName:   "action operation op command",
	mapName:      "files tree filemap",
	dirName:      "dir directory folder folderpath dirpath directorypath basepath basedir parentpath parentdir parentfolder parent prefix root rootdir repodir workingdir workingdirectory cwd subfolder subdir",
	placeName:    "line startline position side linenumber newline oldline pullnumber pullrequestnumber issuenumber mergerequestiid issueiid discussionid positiontype subjecttype commitid inreplyto",
})

func roleTable(m map[role]string) map[string]role {
	t := map[string]role{"body": textName}
	for r, names := range m {
		for _, n := range strings.Fields(names) {
			t[n] = r
		}
	}
	return t
}

// roleOf is what a member is for. Case, marks between words and compatible forms of
// letters do not matter.
func roleOf(name string) role {
	if len(name) > 64 {
		return other
	}
	var b [64]byte
	n := 0
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 0x80:
			return oddRole(name)
		case c >= 'A' && c <= 'Z':
			c |= 0x20
		case c == '_' || c == '-' || c == '.' || c == ' ':
			continue
		}
		b[n] = c
		n++
	}
	return roles[string(b[:n])]
}

// oddRole is the role by a name that is not of ASCII.
func oddRole(name string) role {
	name = norm.NFKC.String(name)
	var b [64]byte
	n := 0
	for _, r := range name {
		switch r = unicode.ToLower(r); {
		case r == '_' || r == '-' || r == '.' || r == ' ' || unicode.Is(unicode.Cf, r):
		case r < 0x80 && n < len(b):
			b[n] = byte(r)
			n++
		default:
			return other
		}
	}
	return roles[string(b[:n])]
}
