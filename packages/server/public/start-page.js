const element = (id) => document.getElementById(id)

for (const origin of document.querySelectorAll('.origin')) origin.textContent = location.origin

element('try').addEventListener('submit', (event) => {
  event.preventDefault()
  ask(event.submitter?.value ?? 'limit').catch((error) => show('refused', `No answer: ${error.message}`, ''))
})

/** Sends what stands in the form; the service itself says what is wrong with it. */
async function ask(operation) {
  const cost = element('cost').value
  const body = `{"descriptor":${element('descriptor').value || 'null'},"cost":${cost === '' ? 'null' : cost}}`
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`/v1/${operation}`, { method: 'POST', headers, body })
  const answer = await response.json()
  const limits = ['ratelimit', 'ratelimit-policy', 'retry-after']
  const shown = limits
    .filter((name) => response.headers.has(name))
    .map((name) => `${name}: ${response.headers.get(name)}`)
  const details = [`HTTP ${response.status}`, ...shown, '', JSON.stringify(answer, null, 2)].join('\n')
  show(answer.allowed ? 'allowed' : 'refused', verdict(answer), details)
  element('meter').hidden = answer.rule == null
  element('meter').value = answer.limit ? answer.used / answer.limit : 0
}

function verdict(answer) {
  if (answer.allowed === undefined) return answer.detail
  if (answer.rule === null) return 'Allowed: no rule applies'
  if (answer.reason === 'missing_dimension') return `Refused: ${answer.rule} needs a dimension that is not there`
  if (answer.rules.some(({ rule, unlimited }) => unlimited && rule === answer.rule))
    return `Allowed: ${answer.rule} is unlimited`
  const left = `${answer.remaining} of ${answer.limit} left by ${answer.rule}`
  if (answer.allowed) return `Allowed: ${left}`
  return answer.retryAfterMs === null ? `Refused for good: ${left}` : `Refused for ${answer.retryAfterMs} ms: ${left}`
}

function show(kind, text, details) {
  element('answer').hidden = false
  element('verdict').className = kind
  element('verdict').textContent = text
  element('details').textContent = details
}
