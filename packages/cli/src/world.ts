/** What the program sees of the process, so that tests can be the process. Imports nothing. */

export interface Output {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
  /** False once nobody reads it any more. */
  readonly writable?: boolean
  readonly rows?: number
}

export interface Input extends AsyncIterable<string | Uint8Array> {
  readonly isTTY?: boolean
}

export interface World {
  readonly stdin: Input
  /** Data. */
  readonly stdout: Output
  /** Talk. */
  readonly stderr: Output
  readonly env: Readonly<Record<string, string | undefined>>
}
