/**
 * The words of `retryOn` by what an error states in fields: codes, names and statuses, and what browsers and Node say
 * when `fetch` fails. Core's own meaning of the words adds what tools print; whatever fits here fits there. Imports core
 * only.
 */
import type { Judge } from '../core/classify.js'
import { errorsIn, readText, statusesOf } from '../core/failure-fields.js'
import { hasNetworkCode, hasTimeoutName } from '../core/failure-text.js'

const FAILED_FETCH = /typeerror: (?:fetch failed|failed to fetch|load failed|networkerror)/i

export const judgeByFields: Judge = (error) => {
  const errors = errorsIn(error)
  const text = errors
    .map((one) => `${readText(one, 'name')}: ${readText(one, 'message')}\n${readText(one, 'code')}`)
    .join('\n')
  const statuses = statusesOf(errors)
  return (word) => {
    if (word === 'network') return hasNetworkCode(text) || FAILED_FETCH.test(text)
    if (word === 'timeout') return hasTimeoutName(text) || statuses.includes(408)
    return statuses.some((status) => (word === 'rate_limit' ? status === 429 : status >= 500))
  }
}
