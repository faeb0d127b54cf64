import { isRepriseError } from '../core/errors.js'
import { describe, expect, it } from 'vitest'
import { capacityOf, readScenario, type ScenarioInput } from './scenario.js'

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
