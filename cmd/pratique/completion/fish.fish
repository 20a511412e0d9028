# fish completion of pratique. Load it with: pratique completion fish | source
function __pratique
    set -l words (commandline -opc)
    set -l cur (commandline -ct)
    if string match -q -- '-*' "$cur"
        set words $words "$cur"
    end
    command $words --generate-bash-completion 2>/dev/null
end
complete -c pratique -a '(__pratique)'
