/** A job in a pipe: a line for everything that has changed since the last look. Imports cells and words. */
import type { JobStatus } from '@reprise/jobs'
import { plural } from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import type { Display } from '../display.js'

type WorkflowStatus = JobStatus['datacenters'][number]['workflows'][number]

const ENDED: readonly WorkflowStatus['state'][] = ['succeeded', 'failed', 'skipped', 'cancelled']
const isEnded = ({ state }: WorkflowStatus): boolean => ENDED.includes(state)

export class JobLines {
  private readonly display: Display
  private readonly told = new Map<string, string>()
  private waitsFor: string | null = null

  constructor(display: Display) {
    this.display = display
  }

  changesTo(status: JobStatus): string[] {
    const lines = this.told.size === 0 ? [this.headOf(status)] : []
    for (const { name, workflows, state } of status.datacenters) {
      // What has ended is told before what it let begin.
      const ordered = workflows.toSorted((a, b) => Number(isEnded(b)) - Number(isEnded(a)))
      for (const workflow of ordered) {
        const { attempts, error, denied } = workflow
        const place = `${name}/${workflow.name}`
        const isNew = this.isNew(place, `${workflow.state} ${attempts}`)
        if (!isNew || workflow.state === 'waiting' || workflow.state === 'blocked') continue
        const why = [denied?.reason ?? '', error ?? ''].filter((text) => text !== '').join(': ')
        const cause = workflow.state === 'succeeded' || workflow.state === 'running' || why === '' ? '' : `: ${why}`
        const number = attempts > 1 ? ` (attempt ${attempts})` : ''
        lines.push(plainText(`${place} ${workflow.state}${number}${cause}`))
      }
      if (this.isNew(name, state) && state !== 'waiting' && state !== 'running')
        lines.push(plainText(`${name} ${state}`))
    }
    // Its countdown changes with every look.
    const waitsFor = status.waitsFor?.replace(/ in [\dhms.]+$/, '') ?? null
    if (waitsFor !== this.waitsFor && waitsFor !== null && this.display.verbose) lines.push(plainText(waitsFor))
    this.waitsFor = waitsFor
    return lines
  }

  private isNew(place: string, state: string): boolean {
    if (this.told.get(place) === state) return false
    this.told.set(place, state)
    return true
  }

  private headOf({ name, id, datacenters, clamps }: JobStatus): string {
    const workflows = datacenters[0]?.counts.total ?? 0
    const where = `${plural(workflows, 'workflow')} at ${datacenters.map((one) => one.name).join(', ')}`
    return [`Job ${id} (${name}): ${where}`, ...clamps.map(({ sentence }) => sentence)]
      .map((text) => plainText(text))
      .join('\n')
  }
}
