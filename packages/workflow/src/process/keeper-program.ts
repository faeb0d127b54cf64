/**
 * The keeper: a shell that reads on its input what a process has started. That input ends when the process dies, however
 * it dies; the keeper then ends what is left of the commands. Plain POSIX: dash, bash, busybox.
 *
 * Lines: `b ID TENTHS` a command is about to start, with its grace · `g ID GROUP START` its group, instead of the one that
 * the command before it under this number had · `e ID` all of it has ended · `d PATH` a directory of files to be removed at the end · `m FIRST COUNT` named pipes to be made in it, named
 * by numbers; answered with their count, or with 0 · `n` no command gets a grace. Imports nothing.
 *
 * With `/proc` it finds members of the groups and every process with the mark in its environment, and checks the start
 * of a group's leader: a pid that is used again is not touched. Elsewhere it knows groups only: a process that has left
 * its group, or was being started at that moment, stays. Processes that a command starts in its grace may finish. Two
 * searches in a row that find nothing end it, since a command may be between fork and exec at the first one.
 */

/**
 * Its arguments: the mark, as `NAME=value`, and lines that are true already when it starts. They are an argument so that
 * a keeper that replaces another knows them from its first instruction, even if the process dies before it can write.
 */
export const KEEPER_PROGRAM = `# reprise: ends what a process has started, should that process die
trap '' HUP INT QUIT TERM PIPE USR1 USR2
mark=$1 live=' ' groups=' ' room= now=

# From the list in $1 without what starts with "$2:".
without() {
  case $1 in
    *" $2:"*) list="\${1%%" $2:"*} \${1#*" $2:"*" "}" ;;
    *) list=$1 ;;
  esac
}

# Named pipes, $2 of them, the first called $1. By this shell, since a small process starts another at less cost.
make() {
  names= name=$1 end=$(($1 + $2))
  while [ "$name" -lt "$end" ]; do names="$names $name" name=$((name + 1)); done
  if (cd -- "$room" && mkfifo -m 600 $names) 2>/dev/null; then echo "$2"; else echo 0; fi
}

# One line: its verb and the rest.
apply() {
  verb=$1 rest=$2
  case $verb in
    b) live="$live\${rest% *}:\${rest#* } " ;;
    g) set -- $rest; without "$groups" "$1"; groups="$list$1:$2:$3 " ;;
    e) without "$live" "$rest"; live=$list; without "$groups" "$rest"; groups=$list ;;
    d) room=$rest ;;
    m) make $rest ;;
    n) now=1 ;;
  esac
}

set -f
IFS='
'
set -- $2
set +f
unset IFS
for line; do apply "\${line%% *}" "\${line#* }"; done
while read -r verb rest; do apply "$verb" "$rest"; done

pause() { sleep 0.1 2>/dev/null || sleep 1; }

# A file may still be added to the directory while it is being emptied.
leave() {
  tries=0
  while [ -d "$room" ] && [ "$tries" -lt 50 ]; do
    rm -f -- "$room"/* 2>/dev/null
    rmdir -- "$room" 2>/dev/null || pause
    tries=$((tries + 1))
  done
  exit 0
}

[ "$live" != ' ' ] || leave

if [ -r /proc/self/stat ]; then has_proc=1; else has_proc=; fi

# The fields of a process behind its name, as arguments of the caller's choice: state parent group ... start.
fields() {
  line=
  { read -r line <"/proc/$1/stat"; } 2>/dev/null
  fields=\${line##*) }
}

# Our groups, without those whose number belongs to another process by now.
own_groups() {
  own=' '
  for entry in $groups; do
    entry=\${entry#*:} group=\${entry%:*} start=\${entry#*:}
    fields "$group"
    set -- $fields
    [ -n "$fields" ] && [ "\${20}" != "$start" ] || own="$own$group "
  done
}

# Environments with the mark. The grep of busybox sees nothing behind a NUL.
if printf 'a\\000b\\n' | grep -qF b; then sees_all=1; else sees_all=; fi
marked() {
  if [ -n "$sees_all" ]; then
    grep -lF "$mark" /proc/[0-9]*/environ 2>/dev/null
    return
  fi
  for file in /proc/[0-9]*/environ; do
    if tr '\\000' '\\n' <"$file" | grep -qxF "$mark"; then echo "$file"; fi
  done 2>/dev/null
}

find_all() {
  found=' '
  if [ -z "$has_proc" ]; then
    for entry in $groups; do
      entry=\${entry#*:} group=\${entry%:*}
      if kill -0 "-$group" 2>/dev/null; then found="$found-$group "; fi
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
  for file in $(marked); do
    file=\${file#/proc/} pid=\${file%/environ}
    case $found in *" $pid "*) ;; *) found="$found$pid " ;; esac
  done
}

# Rounds of a tenth of a second, at most $1, with the signal $2: TERM only in the first that finds a process, KILL in all.
end_all() {
  rounds=0 empty=0 told=
  while [ "$rounds" -le "$1" ]; do
    find_all
    if [ "$found" = ' ' ]; then empty=$((empty + 1)); else empty=0; fi
    [ "$empty" -lt 2 ] || leave
    if [ "$empty$told" = 0 ]; then
      for pid in $found; do
        kill "-$2" "$pid" 2>/dev/null
        [ "$2" = KILL ] || kill -CONT "$pid" 2>/dev/null
      done
      [ "$2" = KILL ] || told=told
    fi
    rounds=$((rounds + 1))
    pause
  done
}

most=0
for entry in $live; do
  grace=\${entry#*:}
  if [ "$grace" -gt "$most" ]; then most=$grace; fi
done
[ -n "$now" ] || end_all "$most" TERM
end_all 100 KILL
leave
`
