/**
 * Deals tasks out to one process per core or to as many as are asked for, the next to whichever is ready. A module that is run as the main program with
 * `--child` serves such a process. Imports Node only.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { availableParallelism } from 'node:os'

export async function performAll<Task extends object, Result>(
  program: URL,
  tasks: readonly Task[],
  workers = availableParallelism(),
  onResult: (task: Task, result: Result) => void = () => undefined,
): Promise<readonly Result[]> {
  const left = [...tasks]
  const results: Result[] = []
  const work = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const child: ChildProcess = fork(program, ['--child'])
      let task: Task | undefined
      const next = (): void => {
        task = left.shift()
        if (task === undefined) child.disconnect()
        else child.send(task)
      }
      child.on('message', (result) => {
        results.push(result as Result)
        onResult(task as Task, result as Result)
        if (process.stderr.isTTY) process.stderr.write(`\r${results.length} of ${tasks.length} parts done`)
        next()
      })
      child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`A part ended with code ${code}`))))
      next()
    })
  await Promise.all(Array.from({ length: Math.min(tasks.length, workers) }, work))
  if (process.stderr.isTTY) process.stderr.write('\n')
  return results
}
