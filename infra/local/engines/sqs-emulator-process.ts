import { buildApp } from 'fauxqs'

// fauxqs's own start function listens on every interface; building the app ourselves keeps it on loopback.
const app = buildApp({ logger: false })
const endpoint = await app.listen({ port: Number(process.argv[2] ?? 0), host: '127.0.0.1' })
console.log(JSON.stringify({ endpoint }))
