// CommonJS, as Node 22 and later can require a module.
const { createIdempotency } = require('lambda-once')
const { memoryStore } = require('lambda-once/memory')

const idempotency = createIdempotency({ store: memoryStore(), namespace: 'mails' })
idempotency.run({ key: '1', fingerprint: false }, () => 'done').then(({ value }) => console.log(value))
