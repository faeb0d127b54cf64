/** A directory for one turn, on a disk that really syncs. Imports Node. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

export async function inNewDirectory<T>(act: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(path.join(tmpdir(), 'reprise-bench-'))
  try {
    return await act(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
