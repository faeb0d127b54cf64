/** The operator's settings in the ledger: whoever submits is limited by the stricter of ledger and environment. Imports the rules. */
import type { Json, Ledger } from 'reprise/durable'
import { damaged, fieldsOf } from '../record/damaged-record.js'
import { SETTINGS_KEY } from '../record/names.js'
import { DEFAULT_OPERATOR_SETTINGS, type OperatorSettings, stricterOf } from '../rules/operator-settings.js'

/** Undefined: nobody has written any. */
export async function recordedOperator(ledger: Ledger): Promise<OperatorSettings | undefined> {
  const state = await ledger.transact<Json | undefined>({ tasks: [], gates: [SETTINGS_KEY] }, (view) => ({
    result: view.gate(SETTINGS_KEY)?.state,
  }))
  if (state === undefined || state === null) return undefined
  const fields = fieldsOf(state, SETTINGS_KEY)
  for (const [name, usual] of Object.entries(DEFAULT_OPERATOR_SETTINGS))
    if (typeof fields[name] !== typeof usual) throw damaged(SETTINGS_KEY, `${name} is ${JSON.stringify(fields[name])}`)
  return fields as unknown as OperatorSettings
}

/** From now on; jobs that were submitted before keep theirs. */
export async function recordOperator(ledger: Ledger, settings: OperatorSettings): Promise<void> {
  await ledger.transact({ tasks: [], gates: [SETTINGS_KEY] }, () => ({
    gates: [{ key: SETTINGS_KEY, kind: 'record', state: { ...settings } }],
    result: undefined,
  }))
}

export async function effectiveOperator(ledger: Ledger, ownSettings: OperatorSettings): Promise<OperatorSettings> {
  const recorded = await recordedOperator(ledger)
  return recorded === undefined ? ownSettings : stricterOf(recorded, ownSettings)
}
