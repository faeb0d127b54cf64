/**
 * The keeper: a shell that reads on its input what a process has started, and at the end of that input, which comes when
 * the process has died of whatever, ends what is left of it. Plain POSIX: dash, bash, busybox.
 *
 * Lines: `b ID TENTHS` a command is about to start, with its grace · `g ID GROUP START` its group · `e ID` all of it has
 * ended · `d PATH` a directory of files to be removed at the end. Imports nothing.
 *
 * With `/proc` it finds members of the groups and everything that has the mark in its environment, and checks the start
 * of a group's leader: a pid that is used again is not touched. Elsewhere it knows groups only. Nobody is told TERM twice.
 * Two empty looks in a row, since a command may be between fork and exec at the first one.
 */

/** Its arguments: the mark, as `NAME=value`. */
export const KEEPER_PROGRAM = `# reprise: ends what a process has started, should that process die
trap '' HUP INT QUIT TERM PIPE USR1 USR2
mark=$1 live=' ' groups=' ' room=

# From the list in $1 without what starts with "$2:".
without() {
  case $1 in
    *" $2:"*) list="\${1%%" $2:"*} \${1#*" $2:"*" "}" ;;
    *) list=$1 ;;
  esac
}

while read -r verb rest; do
  case $verb in
    b) live="$live\${rest% *}:\${rest#* } " ;;
    g) set -- $rest; groups="$groups$1:$2:$3 " ;;
    e) without "$live" "$rest"; live=$list; without "$groups" "$rest"; groups=$list ;;
    d) room=$rest ;;
  esac
done

if [ -n "$room" ]; then
  rm -f -- "$room"/* 2>/dev/null
  rmdir -- "$room" 2>/dev/null
fi
[ "$live" != ' ' ] || exit 0

if [ -r /proc/self/stat ]; then has_proc=1; else has_proc=; fi

# The fields of a process behind its name, as arguments of the caller's choice: state parent group ... start.
fields() {
  line=
  { read -r line <"/proc/$1/stat"; } 2>/dev/null
  fields=\${line##*) }
}

# Our groups, but for those whose number is somebody else's by now.
own_groups() {
  own=' '
  for entry in $groups; do
    entry=\${entry#*:} group=\${entry%:*} start=\${entry#*:}
    fields "$group"
    set -- $fields
    [ -n "$fields" ] && [ "\${20}" != "$start" ] || own="$own$group "
  done
}

find_all() {
  found=' '
  if [ -z "$has_proc" ]; then
    for entry in $groups; do
      entry=\${entry#*:} group=\${entry%:*}
      if kill -0 -- "-$group" 2>/dev/null; then found="$found-$group "; fi
    done
    return
  fi
  own_groups
  for file in /proc/[0-9]*; do
    pid=\${file#/proc/}
    fields "$pid"
    set -- $fields
    case $1 in '' | Z | X) continue ;; esac
    case $own in *" $3 "*) found="$found$pid " ;; esac
  done
  for file in $(grep -lF "$mark" /proc/[0-9]*/environ 2>/dev/null); do
    file=\${file#/proc/} pid=\${file%/environ}
    case $found in *" $pid "*) ;; *) found="$found$pid " ;; esac
  done
}

pause() { sleep 0.1 2>/dev/null || sleep 1; }

# Rounds of a tenth of a second with the signal $2 to all, but TERM only once; $1 rounds at most.
end_all() {
  rounds=0 empty=0 told=' '
  while [ "$rounds" -le "$1" ]; do
    find_all
    if [ "$found" = ' ' ]; then
      empty=$((empty + 1))
      [ "$empty" -lt 2 ] || exit 0
    else
      empty=0
    fi
    for pid in $found; do
      case $2$told in TERM*" $pid "*) continue ;; esac
      told="$told$pid "
      kill -s "$2" -- "$pid" 2>/dev/null
      [ "$2" = KILL ] || kill -s CONT -- "$pid" 2>/dev/null
    done
    rounds=$((rounds + 1))
    pause
  done
}

most=0
for entry in $live; do
  grace=\${entry#*:}
  if [ "$grace" -gt "$most" ]; then most=$grace; fi
done
end_all "$most" TERM
end_all 100 KILL
`
