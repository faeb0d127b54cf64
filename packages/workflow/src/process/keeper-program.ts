/**
 * The keeper: a shell that reads on its input what a process has started, and at the end of that input, which comes when
 * the process has died of whatever, ends what is left of it. Plain POSIX: dash, bash, busybox.
 *
 * Lines: `b ID TENTHS` a command is about to start, with its grace · `g ID GROUP START` its group · `e ID` all of it has
 * ended · `d PATH` a directory of files to be removed at the end · `m FIRST COUNT` named pipes to be made in it, named
 * by numbers; answered with their count, or with 0 · `n` no grace for anybody. Imports nothing.
 *
 * With `/proc` it finds members of the groups and everything that has the mark in its environment, and checks the start
 * of a group's leader: a pid that is used again is not touched. Elsewhere it knows groups only: what has left its group,
 * or was being started in the very moment, stays. Who is started in the grace is left to clean up. Two empty looks in a
 * row end it, since a command may be between fork and exec at the first one.
 */

/** Its arguments: the mark, as `NAME=value`. */
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

while read -r verb rest; do
  case $verb in
    b) live="$live\${rest% *}:\${rest#* } " ;;
    g) set -- $rest; groups="$groups$1:$2:$3 " ;;
    e) without "$live" "$rest"; live=$list; without "$groups" "$rest"; groups=$list ;;
    d) room=$rest ;;
    m) make $rest ;;
    n) now=1 ;;
  esac
done

pause() { sleep 0.1 2>/dev/null || sleep 1; }

# Somebody may be about to put something in.
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

# Rounds of a tenth of a second, $1 at most, with the signal $2: TERM in the first that finds somebody, KILL in all.
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
