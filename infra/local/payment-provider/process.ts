import { type ProviderBehaviour, servePaymentProvider } from './server.ts'

const behaviour = JSON.parse(process.argv[2] ?? '{}') as ProviderBehaviour
const { endpoint } = await servePaymentProvider(behaviour)
console.log(JSON.stringify({ endpoint }))
