/** What the program sees of the process, so that tests can be the process. Imports nothing. */

export interface Output {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
  /** False once nobody reads it any more. */
  readonly writable?: boolean
  readonly rows?: number
}

interface Input extends AsyncIterable<string | Uint8Array> {
  readonly isTTY?: boolean
  /** Nothing more is read; what waits for it ends. */
  destroy?(): unknown
}

export interface ProcessIo {
  readonly stdin: Input
  /** Of stdin, where it is a file of the system. A program can be given it only while nothing has touched `stdin`. */
  readonly stdinDescriptor?: number
  /** Data. */
  readonly stdout: Output
  /** Talk. */
  readonly stderr: Output
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Where something is said; without what is read. */
export type Outputs = Pick<ProcessIo, 'stdout' | 'stderr' | 'env'>
