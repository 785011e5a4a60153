// The page of `lambda-once console`. Plain, so that what is served is what stands here, and works without a network.

/** @param {string} selector */
const find = (selector) => {
  const element = document.querySelector(selector)
  if (element === null) throw new Error(`The page has no ${selector}.`)
  return element
}

/**
 * An element with content. Text stays text: nothing that is stored is ever taken for markup.
 * @param {string} tag
 * @param {Record<string, string>} attributes
 * @param {(Node | string)[]} children
 */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
  made.append(...children)
  return made
}

async function ask(path, query = {}, method = 'GET') {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) for (const one of [value].flat()) search.append(name, one)
  // The header is what a page from elsewhere cannot send here.
  const answer = await fetch(`api/${path}?${search}`, { method, headers: { 'x-lambda-once': '1' } }).catch(() => {
    throw new Error('The console does not answer: it was ended. Start it again.')
  })
  const body = await answer.json()
  if (!answer.ok) throw new Error(body.error.message)
  return body
}

const status = find('#status')
const rows = find('#found tbody')
const one = find('#one')
const filter = find('#filter')
const lookup = find('#lookup')
const question = find('#question')

const clock = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const time = (iso) => element('time', { datetime: String(iso), title: String(iso) }, clock.format(new Date(iso)))
const link = (id) => element('a', { href: `#${encodeURIComponent(id)}`, class: 'id' }, id)
const state = (word) => element('span', { class: `state ${word}` }, word)
const row = (...cells) => element('tr', {}, ...cells.map((cell) => element('td', {}, ...[cell].flat())))

/** Several readings may be under way; only the last one counts. */
let reading = 0

async function list() {
  const mine = ++reading
  const chosen = new FormData(filter)
  try {
    const found = await ask('operations', { state: chosen.getAll('state'), namespace: chosen.get('namespace') ?? '' })
    if (mine !== reading) return
    const operations = found.operations.map((operation) =>
      row(
        state(operation.standing),
        link(operation.id),
        String(operation.attempt),
        found.sentences[operation.id] ?? '',
      ),
    )
    const messages = found.messages.map((message) =>
      row(
        state(message.trouble),
        link(message.id),
        '',
        `A message to ${Object.values(message.to ?? {})[0] ?? 'nobody knows where'}${message.stuckReason ? `: ${message.stuckReason}` : ''}`,
      ),
    )
    const focused = document.activeElement?.getAttribute('href')
    rows.replaceChildren(...operations, ...messages)
    // Reading again must not take the focus away from whoever goes through the list by keyboard.
    if (focused) [...rows.querySelectorAll('a')].find((anchor) => anchor.getAttribute('href') === focused)?.focus()
    const count = operations.length + messages.length
    const what = count === 0 ? `Nothing is ${found.states.join(', ')}` : `${count} found (${found.states.join(', ')})`
    const rest = found.isComplete ? `${found.itemsRead} items read` : 'there may be more'
    say(`${what}; ${rest}.`)
    find('#when').textContent = `Read at ${clock.format(new Date())}.`
  } catch (error) {
    if (mine === reading) fail(status, error)
  }
}

/** Screen readers speak what changes here: the same again, every few seconds, is not worth it. */
function say(text) {
  status.className = ''
  if (status.textContent !== text) status.textContent = text
}

function fail(place, error) {
  place.className = 'error'
  place.textContent = error.message
}

const valueText = ({ bytes, stored, parts, value, lost }) => {
  const about = `${bytes.toLocaleString()} bytes, ${parts ? `in ${parts} parts` : stored === 'text' ? 'as text' : 'compressed'}`
  if (lost) return [element('span', { class: 'error' }, `${about}: lost. ${lost}`)]
  if (value === undefined) return [about]
  return [about, element('pre', {}, typeof value === 'string' ? value : JSON.stringify(value, null, 2))]
}

function fields(record) {
  const list = element('dl')
  const add = (name, ...content) => list.append(element('dt', {}, name), element('dd', {}, ...content))
  add('status', `${record.status}, attempt ${record.attempt}, rev ${record.rev}`)
  for (const [name, key] of [
    ['first claim', 'createdAt'],
    ['last write', 'updatedAt'],
    ['lease until', 'leaseUntil'],
    ['due', 'resumeAt'],
    ['kept until', 'expiresAt'],
  ]) {
    if (record[key] !== undefined) add(name, time(record[key]))
  }
  if (record.takeover === 'never') add('takeover', 'never: only an operator may decide')
  if (record.crashes) add('crashes', `${record.crashes} attempts ended without a word`)
  add('fence', element('code', {}, record.fence))
  for (const [name, value] of Object.entries(record.metadata ?? {})) add(`note ${name}`, value)
  if (record.outcome?.failure) {
    const { name, code, message } = record.outcome.failure
    add('failure', [name, code && `(${code})`, message].filter(Boolean).join(' '))
  }
  if (record.outcome?.value) add('outcome', ...valueText(record.outcome.value))
  if (record.request)
    add('request', ...valueText(record.request.payload), ` to ${Object.values(record.request.target)[0]}`)
  for (const signal of record.signals) add('signal', time(signal.at), ' ', ...valueText(signal.payload))
  return list
}

function block(title, head, body) {
  if (body.length === 0) return []
  const heads = element('tr', {}, ...head.map((name) => element('th', { scope: 'col' }, name)))
  const table = element('table', {}, element('thead', {}, heads), element('tbody', {}, ...body))
  return [element('h3', {}, title), element('div', { class: 'scroll' }, table)]
}

function stepRow({ name, kind, startedAt, result, failure }) {
  if (kind === 'done') return row(name, 'done', valueText(result))
  if (kind === 'started') return row(name, 'begun', [time(startedAt), ', and no end recorded'])
  return row(name, 'done', `its result could not be stored: ${failure.name}`)
}

async function show(query) {
  try {
    const found = await ask('operation', query)
    const { record } = found
    const heading = element('h3', { class: 'id' }, found.id, ' ', ...(record ? [state(record.standing)] : []))
    const buttons = found.acts.map((act) => {
      const button = element('button', { type: 'button' }, act.act)
      button.addEventListener('click', () => confirm(found.id, act))
      return button
    })
    one.replaceChildren(
      heading,
      element('p', {}, found.sentence),
      ...(buttons.length > 0 ? [element('p', {}, ...buttons.flatMap((button) => [button, ' ']))] : []),
      ...(record ? [fields(record)] : []),
      ...block('Steps', ['Name', 'State', 'Result'], (record?.steps ?? []).map(stepRow)),
      ...block(
        'Receipts',
        ['Kind', 'At', 'Attempt', 'Step', 'Value'],
        found.receipts.map((receipt) =>
          row(receipt.kind, time(receipt.at), String(receipt.attempt), receipt.step ?? '', valueText(receipt.value)),
        ),
      ),
      ...block(
        'Messages',
        ['State', 'To', 'Created', 'Body'],
        found.messages.map((message) =>
          message.isUnreadable
            ? row(state('stuck'), 'unreadable', '', '')
            : row(
                [state(message.state), message.stuckReason ? `: ${message.stuckReason}` : ''],
                Object.values(message.to)[0],
                time(message.createdAt),
                valueText(message.body),
              ),
        ),
      ),
      ...block(
        'What is known of its history',
        ['At', 'What'],
        found.timeline.map(({ at, what, isFuture }) =>
          row(time(at), element('span', isFuture ? { class: 'soft' } : {}, isFuture ? `${what} (to come)` : what)),
        ),
      ),
      element('p', { class: 'soft' }, found.limits),
    )
  } catch (error) {
    const message = element('p')
    fail(message, error)
    one.replaceChildren(message)
  }
}

function confirm(id, { act, meaning, rev }) {
  find('#question-title').textContent = `${act} ${id}?`
  find('#meaning').replaceChildren(...meaning.map((text) => element('p', {}, text)))
  find('#do-it').textContent = act
  question.returnValue = ''
  question.onclose = async () => {
    if (question.returnValue !== 'yes') return
    const said = element('p', { role: 'status' })
    try {
      said.textContent = (await ask('act', { id, act, rev: String(rev) }, 'POST')).result
    } catch (error) {
      fail(said, error)
    }
    await show({ id })
    one.prepend(said)
    await list()
  }
  question.showModal()
}

function showChosen() {
  const id = decodeURIComponent(location.hash.slice(1))
  if (!id.includes('#')) return
  lookup.reset()
  lookup.elements.id.value = id
  void show({ id }).then(() => find('#one-title').focus())
}

let timer
function schedule() {
  clearInterval(timer)
  const seconds = Number(new FormData(filter).get('every'))
  if (seconds === 0) return
  timer = setInterval(() => {
    // A page that nobody sees must not read the table, and a question that is open must not be overtaken.
    if (!document.hidden && !question.open) void list()
  }, seconds * 1000)
}

filter.addEventListener('submit', (event) => {
  event.preventDefault()
  void list()
})
filter.addEventListener('change', (event) => {
  if (event.target.name === 'every') schedule()
  else void list()
})
lookup.addEventListener('submit', (event) => {
  event.preventDefault()
  const given = [...new FormData(lookup)].filter(([, value]) => value !== '')
  void show(Object.fromEntries(given))
})
addEventListener('hashchange', showChosen)

try {
  const about = await ask('about')
  document.title = `${about.table} – lambda-once`
  find('#table').textContent = `${about.table}${about.endpoint ? ` at ${about.endpoint}` : ''}`
  find('#mode').textContent =
    `${about.allowWrites ? 'It may write: each time it asks.' : 'It only reads.'} ${about.isLocal ? '' : 'Reading the table is billed.'}`
  for (const name of about.states) {
    const box = element('input', { type: 'checkbox', name: 'state', value: name })
    box.checked = ['stale', 'unknown', 'stuck'].includes(name)
    find('#states').append(element('label', {}, box, ` ${name}`))
  }
  if (about.isLocal) filter.elements.every.value = '2'
  await list()
  schedule()
  showChosen()
} catch (error) {
  fail(status, error)
}
