export { openTelemetry } from './tracing.ts'
