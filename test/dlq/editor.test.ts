/** `dlq edit` without `--input`: the data is changed in the editor of the person at the terminal. Needs a build. */
import { afterEach, describe, expect, test } from 'vitest'
import { hasTerminal, onTerminal, withTerminal } from '../workflow/on-terminal.js'
import { LetterFixture } from './letter-fixture.js'

describe.skipIf(!hasTerminal)('dlq edit on a terminal', () => {
  let fixture: LetterFixture
  afterEach(() => fixture.remove())

  /** The letter of item x, edited by a program that is called as an editor is. */
  const edited = async (editor: string): Promise<{ code: number | null; said: string }> => {
    fixture = new LetterFixture({ items: [{ id: 'x', size: 0 }] })
    fixture.fail('x')
    expect((await fixture.here('run', 'workflow.yaml', '--run-id', 'r1')).code).toBe(3)
    fixture.write('editor', editor)
    // With a flag, as in `code --wait`.
    fixture.env = { ...fixture.env, EDITOR: `sh -e ${fixture.path('editor')}` }
    const { code, stdout } = await onTerminal(fixture, 'dlq', 'edit', 'r1/map', 'x', '--reason', 'typo').ended
    // oxlint-disable-next-line no-control-regex -- colours
    return { code, said: stdout.replaceAll(/\u001b\[\d+m/g, '') }
  }

  test(withTerminal('opens $EDITOR with the data, and records the text that was saved'), async () => {
    const { code, said } = await edited('cp "$1" seen; printf \'{"id": "x", "size": 5}\' > "$1"')
    expect([code, said]).toEqual([0, expect.stringContaining('The data of r1/map/0000000.x is changed')])
    expect(JSON.parse(fixture.read('seen'))).toEqual({ id: 'x', size: 0 })
    expect((await fixture.showLetter('r1/map', 'x')).data).toEqual({ id: 'x', size: 5 })
  })

  test.each([
    ['that saves no change', 'true', 'nothing was changed'],
    ['that saves no JSON', 'echo { > "$1"', 'the edited text is not valid JSON'],
    ['that fails', 'exit 3', 'ended with exit code 3: nothing was changed'],
  ])(withTerminal('leaves the letter as it was after an editor %s'), async (_what, editor, said) => {
    const ended = await edited(editor)
    expect([ended.code, ended.said]).toEqual([2, expect.stringContaining(said)])
    expect((await fixture.showLetter('r1/map', 'x')).changes).toEqual([])
  })
})
