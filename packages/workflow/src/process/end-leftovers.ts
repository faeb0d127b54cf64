/**
 * Ends what an earlier process has left running, before the same attempt starts again: everything with the attempt's tag
 * in its environment, the groups that were noted beside its log, and whatever holds such a note open.
 *
 * Invariants: this process, those above it and those it has started are spared: they are no leftovers. A noted group is touched only while its leader has the noted
 * start: a pid that is used again harms nobody. Without `/proc` nothing is found here; there the keeper alone sees to it.
 * Imports the parts of this directory.
 */
import { isOfLivingAgent, markIn } from './agent-mark.js'
import { fileIdOf, holdsMark } from './descriptor-mark.js'
import { endProcesses } from './end-tree.js'
import { type GroupNote, readGroupFile, removeGroupFile } from './group-file.js'
import { environmentOf, processStart } from './process-table.js'
import { PARENT_MARK } from './keeper.js'
import { ProcessTree } from './process-tree.js'

const GRACE_MS = 5000

export interface LeftoverOptions {
  /** Also of tags that go on with a slash behind this one. */
  readonly isPrefix?: boolean
  /** Notes of groups; removed when their groups are gone. */
  readonly groupFiles?: readonly string[]
  /** Only what this process has started: another one may go on with the same work. */
  readonly isOwn?: boolean
  /** What living agents have started goes on: they were not conducting. */
  readonly sparesAgents?: boolean
  /** From TERM to KILL; 5 seconds unless said. */
  readonly graceMs?: number
}

/** How many processes there were. */
export async function endLeftovers(tag: string, options: LeftoverOptions = {}): Promise<number> {
  const { isPrefix = false, isOwn = false, sparesAgents = false, graceMs = GRACE_MS } = options
  const entry = `REPRISE_TAG=${tag}`
  const isOurs = (text: string): boolean => text === entry || (isPrefix && text.startsWith(`${entry}/`))
  const isSpared = (mark: string | undefined): boolean => sparesAgents && isOfLivingAgent(mark)
  const groupFiles = (options.groupFiles ?? []).filter((file) => !isSpared(readGroupFile(file)?.agent))
  const notes = groupFiles.map(readGroupFile).filter((note) => note !== null)
  const marks = groupFiles.map(fileIdOf).filter((id) => id !== null)
  const tree = new ProcessTree({
    groups: new Map(notes.filter(isStillThere).map((note) => [note.group, note.start])),
    isMarked: (pid) => {
      const environment = environmentOf(pid)
      if (environment.some(isOurs) && (!isOwn || environment.includes(PARENT_MARK)))
        return !isSpared(markIn(environment))
      return holdsMark(pid, marks)
    },
    since: null,
    sparesOwn: true,
  })
  const count = await endProcesses(() => tree.find(), graceMs)
  for (const file of groupFiles) removeGroupFile(file)
  return count
}

function isStillThere(note: GroupNote): boolean {
  return processStart(note.group) === note.start
}
