import { context, type Tracer, trace } from '@opentelemetry/api'
import {
  AlwaysOffSampler,
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node'

/** A real OpenTelemetry SDK that keeps its spans, registered for the whole process as a Lambda layer does. */
export interface Spans {
  readonly tracer: Tracer
  all(): readonly ReadableSpan[]
  /** The only span of this name. */
  named(name: string): ReadableSpan
  clear(): void
  stop(): Promise<void>
}

export function recordSpans({ sampled = true }: { sampled?: boolean } = {}): Spans {
  const exporter = new InMemorySpanExporter()
  const provider = new NodeTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
    ...(!sampled && { sampler: new AlwaysOffSampler() }),
  })
  provider.register()
  return {
    tracer: provider.getTracer('test'),
    all: () => exporter.getFinishedSpans(),
    named(name) {
      const found = exporter.getFinishedSpans().filter((span) => span.name === name)
      if (found.length !== 1 || found[0] === undefined) {
        throw new Error(`${found.length} spans are named "${name}": ${exporter.getFinishedSpans().map((s) => s.name)}`)
      }
      return found[0]
    },
    clear: () => exporter.reset(),
    async stop() {
      await provider.shutdown()
      trace.disable()
      context.disable()
    },
  }
}
