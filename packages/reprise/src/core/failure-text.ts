/**
 * What the words of `retryOn` look for in a text: a message, or the end of a command's output.
 *
 * Texts speak of options, files and rows as well as of failures: `unknown flag: --timeout`, `line 503`, `imported 512
 * rows`. So a status counts only where the text speaks of HTTP, and the nouns `timeout` and `rate limit` only in a phrase
 * that reports one. The phrases are those of curl, wget, git, npm, pip, docker, kubectl, psql, aws, ssh, claude and of Node;
 * `test/behaviour/tool-outputs` has their real outputs.
 *
 * Invariant: each expression is linear in the text: every repetition is bounded or of characters that cannot begin the
 * expression again. Imports nothing.
 */

/** Codes of libuv, c-ares and undici, in `code` or in a text. Late to connect is a timeout too. */
const NETWORK_CODES = [
  /\bE(?:CONN(?:REFUSED|RESET|ABORTED)|NET(?:UNREACH|DOWN|RESET)|HOST(?:UNREACH|DOWN)|PIPE|ADDRNOTAVAIL|TIMEDOUT)\b/i,
  /\b(?:ENOTFOUND|EAI_AGAIN|UND_ERR_SOCKET|UND_ERR_CONNECT_TIMEOUT)\b/i,
]
const NETWORK = [
  // What a system says of its error numbers.
  /connection (?:refused|reset|aborted|timed out)|(?:network|host) is (?:unreachable|down)|no route to host|broken pipe/i,
  /could(?: not|n't) resolve host|unable to resolve host|name or service not known|(?:failure in name resolution|getaddrinfo failed|no such host)\b/i,
  // Of Node and of browsers; `load failed` alone is what any program says of a file.
  /socket hang up|\bfetch failed|failed to fetch|typeerror: load failed|networkerror/i,
  // Where a tool does not name the cause.
  /(?:failed|unable) to connect|(?:could(?: not|n't)|cannot) connect|empty reply from server|connection to the server \S{1,300} was refused/i,
  /connection closed (?:by|at byte)|closed (?:the )?connection|transfer closed with|remote end hung up|connection unexpectedly closed|(?:send|recv) failure:/i,
  /database system is (?:starting up|shutting down)|terminating connection due to/i,
]

const TIMEOUT_NAMES = /timeout(?:error|exception|expired)\b|\bERR_(?:[A-Z]+_){0,5}TIMEOUT\b|UND_ERR_[A-Z]+_TIMEOUT\b/i
const TIMEOUT =
  /timed[ -]?out\b(?!["']?\s{0,9}[:=]\s{0,9}(?:false|0))|deadline[ _]?(?:has )?(?:exceeded|elapsed)|operation too slow/i
/** The noun: reported by what follows it, or as what a kind of wait ended with. Not an option, a setting or a parameter. */
const TIMEOUT_NOUN = [
  /(?<![-\w])(?:client\.)?time-?out (?:was |has |of )?(?:\d{1,9} ?m?s )?(?:been )?(?:expired|exceeded|occurred|reached|elapsed|error|awaiting|waiting|while|during|after|on |at:)/i,
  /(?<![-\w])(?:attempt|i\/o|read|write|connect(?:ion)?|handshake|request|gateway|network|socket|operation|response|idle|lock|statement|transaction|query) ?time-?out(?=[\s.,;!)"']*(?:$|[\n;)]))/im,
  /(?:^|: |\()time-?out[.!)]?\s{0,9}$|\(timeout\):/im,
]
const RATE_LIMIT =
  /too ?many ?requests|rate[- ]limited|rate_?limit_?(?:error|exceeded|ed)|rate exceeded|reduce your request rate|throttling(?:exception|: )|\((?:throttling|slowdown|requestlimitexceeded)\)|requests? (?:was|were|has been|have been) throttled|= resourceexhausted/i
const RATE_LIMIT_NOUN =
  /rate[- ]limit(?:s|ing)?\b[^\n]{0,40}(?:exceeded|reached|hit)|(?:exceeded|reached|hit|due to|because of)\b[^\n]{0,40}\brate[- ]limit/i

/** A line about how a program was called, or about a setting: it names what it has not met. */
const ABOUT_USE =
  /\b(?:unknown|unrecogni[sz]ed|unsupported|unexpected|invalid|illegal|ambiguous|missing|bad|no such|required) (?:\w{1,20} )?(?:options?|flags?|arguments?|parameters?|values?|fields?|keys?|settings?|propert(?:y|ies)|names?|commands?)\b|\busage:|\b(?:must|should) (?:not )?be\b|\bis not (?:a |an )?(?:valid|known|allowed)/i

const STATUS = '(408|429|5\\d\\d)(?!\\w|[.,]\\d)'
const REASON =
  '(?:internal server|server error|client error|not implemented|bad gateway|service |gateway time|http version|insufficient storage|loop detected|bandwidth|network auth|too many req|request time|web server|connection timed|origin|a timeout|slow ?down|backend|over capacity)'
/** Each has the status as its only group. */
const STATUS_FORMS = [
  // `HTTP/1.1 503`, `HTTP 503`, `HTTP error 503`, `HTTP response code: 503`, `http_code=503`.
  `\\bhttps?(?:/\\d(?:\\.\\d)?)?[ _:="(-]{0,3}(?:(?:response|error|status|code|returned|with)[ _:="(-]{0,3}){0,3}${STATUS}`,
  // `status 503`, `"statusCode": 503`, `response code 503`; not the status of a process.
  `(?<!exit |with |wait |process )(?:status[ _-]?(?:code)?|response[ _-]code)(?: was| is| of)?["']?[ :=(]{0,4}["']?${STATUS}`,
  `status[ _-]?code["']?[ :=(]{0,4}${STATUS}`,
  // curl and git, wget, npm, aws, pip, Google's tools (`googleapi: Error 503`), claude (`API Error: 529`).
  `url returned error: ${STATUS}`,
  `awaiting response\\.\\.\\. ${STATUS}`,
  `\\bcode E${STATUS}`,
  `error occurred \\(${STATUS}\\)`,
  `too many ${STATUS} error responses`,
  `api(?: error)?: (?:error )?${STATUS}`,
  // `503 Service Unavailable`, `503: Bad Gateway`, `503 - Gateway Time-out`, `Internal Server Error (500)`.
  `(?<![\\w.,])${STATUS}\\)?[ :"-]{1,4}${REASON}`,
  `(?:error|gateway|unavailable|time-?out|requests) \\(${STATUS}\\)`,
]
const STATUSES = /* @__PURE__ */ STATUS_FORMS.map((source) => new RegExp(source, 'gi'))
/** HTTP's own names of statuses, kubectl's and aws's among them. */
const SERVER_ERROR =
  /internal ?server ?error|bad gateway|service ?(?:temporarily )?unavailable|gateway time-?out|\((?:internalerror|internalfailure)\)|server is currently unable to handle the request|error on the server \(|= unavailable\b/i

export function hasNetworkCode(text: string): boolean {
  return NETWORK_CODES.some((code) => code.test(text))
}

/** Names of errors, and codes. */
export function hasTimeoutName(text: string): boolean {
  return TIMEOUT_NAMES.test(text)
}

export function speaksOfNetwork(text: string): boolean {
  return hasNetworkCode(text) || NETWORK.some((sign) => sign.test(text))
}

export function speaksOfTimeout(text: string): boolean {
  return hasTimeoutName(text) || TIMEOUT.test(text) || isReported(text, TIMEOUT_NOUN)
}

export function speaksOfRateLimit(text: string): boolean {
  return RATE_LIMIT.test(text) || isReported(text, [RATE_LIMIT_NOUN])
}

/** Of 408, 429 and 500 to 599, those that the text gives as the status of an HTTP answer. */
export function statusesIn(text: string): number[] {
  const found = STATUSES.flatMap((form) => Array.from(text.matchAll(form), (match) => Number(match[1])))
  return SERVER_ERROR.test(text) ? [...found, 500] : found
}

function isReported(text: string, nouns: readonly RegExp[]): boolean {
  if (!nouns.some((noun) => noun.test(text))) return false
  return text.split('\n').some((line) => nouns.some((noun) => noun.test(line)) && !ABOUT_USE.test(line))
}
