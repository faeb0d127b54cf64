/**
 * Nobody reads any more what the program writes: the pipe is closed, the terminal is gone, the disk is full. A command
 * that has something to put in order first says so here; others end at once. Light, since every start loads it.
 * Imports types only.
 */
import type { ExitCode } from './exit-codes.js'

/** With the exit code that says so; undefined where nobody is wrong. */
export type LossListener = (code: ExitCode | undefined) => void

let listener: LossListener | undefined

/** Until what it returns is called. */
export function onOutputLoss(hear: LossListener): () => void {
  listener = hear
  return () => {
    if (listener === hear) listener = undefined
  }
}

/** Whether somebody sees to the end. */
export function tellOutputLoss(code: ExitCode | undefined): boolean {
  listener?.(code)
  return listener !== undefined
}
