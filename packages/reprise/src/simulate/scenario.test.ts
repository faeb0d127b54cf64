import { isRepriseError } from '../core/errors.js'
import { describe, expect, it } from 'vitest'
import { capacityOf, completeScenario, type FaultKind, readScenario, type ScenarioInput } from './scenario.js'

describe('a scenario', () => {
  it('has the defaults of the comparison', () => {
    const scenario = readScenario()
    expect(scenario).toMatchObject({ clients: 100, callsPerSecond: 750, workers: 20, queueLength: 2000, fault: 'hang' })
    expect(capacityOf(scenario)).toBe(1000)
    expect([scenario.faultStartMs, scenario.faultEndMs, scenario.endMs]).toEqual([30_000, 60_000, 180_000])
  })

  it('keeps its capacity when workers have to be whole', () => {
    const scenario = readScenario({ capacity: 30, serviceTime: '50ms' })
    expect(scenario.workers).toBe(2)
    expect(capacityOf(scenario)).toBeCloseTo(30)
  })

  it('is completed with every default, durations in milliseconds', () => {
    expect(completeScenario()).toEqual({
      ...{ clients: 100, load: 0.75, capacity: 1000, serviceTime: 20, serviceShape: 'exponential', queue: 2000 },
      ...{ fault: 'hang', before: 30_000, during: 30_000, after: 120_000, errorRate: 0 },
      ...{ faultShare: 1, keyed: false, burst: 0, restartAt: 0, ignoresSignal: false, neighbours: 0 },
    })
    expect(completeScenario({ during: '1m', fault: undefined })).toMatchObject({ during: 60_000, fault: 'hang' })
  })

  it('stays the same when it is completed twice', () => {
    const once = completeScenario({ fault: 'slow', queue: '5s', restartAt: '40s', keyed: true })
    expect(completeScenario(once)).toEqual(once)
    expect(readScenario(once)).toEqual(readScenario({ fault: 'slow', queue: '5s', restartAt: '40s', keyed: true }))
  })

  it.each<[FaultKind, number | undefined]>([
    ['capacity', 0.5],
    ['slow', 3],
    ['errors', 0.2],
    ['overload', 1.4],
    ['hang', undefined],
  ])('with the fault %s has the amount %s unless another is given', (fault, amount) => {
    expect(completeScenario({ fault }).amount).toBe(amount)
    expect(completeScenario({ fault, amount: 0.25 }).amount).toBe(amount === undefined ? undefined : 0.25)
  })

  it('takes an undefined field for a missing one', () => {
    expect(readScenario({ clients: undefined }).clients).toBe(100)
  })

  it.each([
    [{ clients: 0 }, 'clients: 0 is not'],
    [{ clients: 1.5 }, 'clients: 1.5 is not a whole number'],
    [{ load: Number.NaN }, 'load: NaN is not'],
    [{ load: '0.5' }, 'load: "0.5" is not'],
    [{ fault: 'hangs' }, 'did you mean `hang`?'],
    [{ serviceShape: 'gauss' }, 'serviceShape: "gauss" is not one of exponential'],
    [{ during: 'soon' }, 'during: "soon" is not a duration'],
    [{ during: '2d' }, 'during: "2d" is not a duration'],
    [{ fault: 'errors', amount: 2 }, 'amount: 2 is not a number from 0 to 1'],
    [{ fault: 'slow', amount: 0 }, 'amount: 0 is not'],
    [{ keyed: 'yes' }, 'keyed: "yes" is not true or false'],
    [{ faultShare: 0 }, 'faultShare: 0 is not a number from 0.001 to 1'],
    [{ burst: 1.5 }, 'burst: 1.5 is not a whole number'],
    [{ neighbours: 1 }, 'neighbours: 1 is not a number from 0 to 0.99'],
    [{ fault: 'overload', amount: 0 }, 'amount: 0 is not'],
    [{ errorRate: -1 }, 'errorRate: -1 is not'],
    [{ client: 3 }, 'client: unknown option (did you mean `clients`?)'],
    [{ xyzzy: 3 }, 'xyzzy: unknown option'],
    [{ capacity: 1_000_000 }, 'calls are too many (lower capacity, load or the times)'],
    [{ load: 0, keyed: 1, during: 'x' }, 'simulate: during: "x" is not a duration'],
    [{ load: 0, keyed: 1, during: 'x' }, '; load: 0 is not a number'],
    [{ load: 0, keyed: 1, during: 'x' }, '; keyed: 1 is not true or false'],
    [null, 'is not an object'],
  ])('%j is refused with its place', (input, message) => {
    try {
      readScenario(input as ScenarioInput)
      expect.unreachable()
    } catch (error) {
      expect(isRepriseError(error, 'invalid_options')).toBe(true)
      expect((error as Error).message).toContain(message)
    }
  })
})
