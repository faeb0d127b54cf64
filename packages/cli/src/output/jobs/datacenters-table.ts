/** `reprise datacenters`: each datacenter with its workers. Imports tables and words. */
import type { DatacenterView } from '@reprise/jobs'
import { plainText } from 'reprise/internal'
import { fitTable, type FittedColumn } from '../fitted-table.js'
import type { Display } from '../display.js'
import { relativeTime } from '../relative-time.js'

export function datacentersTable(datacenters: readonly DatacenterView[], nowMs: number, display: Display): string[] {
  if (datacenters.length === 0) return ['No datacenter has been registered: start `reprise worker --datacenter NAME`.']
  const living = ({ workers }: DatacenterView): number => workers.filter(({ isLiving }) => isLiving).length
  const versions = ({ workers }: DatacenterView): string =>
    [...new Set(workers.flatMap(({ version }) => version ?? []))].join(', ')
  const columns: FittedColumn<DatacenterView>[] = [
    { title: 'datacenter', cell: ({ name }) => plainText(name), paint: () => display.style.bold, least: 8 },
    { title: 'workers', align: 'right', cell: (one) => String(living(one)) },
    { title: 'running', align: 'right', cell: ({ running }) => String(running) },
    { title: 'slots', align: 'right', cell: ({ slots }) => String(slots) },
    {
      title: 'heartbeat',
      align: 'right',
      cell: ({ lastHeartbeatAtMs }) => (lastHeartbeatAtMs === null ? 'never' : relativeTime(lastHeartbeatAtMs, nowMs)),
    },
    { title: 'versions', cell: (one) => plainText(versions(one)), expendable: 1 },
    { title: 'disabled', cell: ({ disabled }) => plainText(disabled ?? ''), least: 8 },
  ]
  return fitTable(columns, datacenters, display)
}
