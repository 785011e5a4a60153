import type { Listable } from '../operation/search.ts'
import type { Standing } from '../operation/standing.ts'
import type { ShownValue } from '../operation/values.ts'
import type { Attempt } from '../watch/attempts.ts'
import type { Told } from '../watch/happening.ts'
import type { Series } from '../watch/series.ts'
import type { Reading } from '../watch/watch.ts'
import type { DemoState } from './demo.ts'

/** What the page asks first. */
export interface About {
  readonly table: string
  readonly endpoint?: string
  readonly region?: string
  /** Reading it costs nothing. */
  readonly isLocal: boolean
  readonly allowWrites: boolean
  readonly showValues: boolean
  readonly isDemo: boolean
  /** Replays and conflicts are told here: by events, since no table holds them. */
  readonly hasEvents: boolean
  /** Goes into the header of what changes something. Made anew with every start. */
  readonly token: string
}

/** One line of the list. */
export interface Row {
  readonly id: string
  readonly namespace: string
  readonly label?: string
  readonly heading: Listable | 'released' | 'expired'
  readonly standing: Standing
  readonly attempt: number
  readonly rev: number
  readonly updatedAtMs: number
  readonly story: readonly Told[]
  /** Told before what is in `story`. */
  readonly earlier: number
  /** Messages of its outbox that somebody has to look after. */
  readonly stuckMessages: number
}

/** What the page shows of the table; it comes again whenever it has changed. */
export interface LiveView {
  readonly counts: Readonly<Record<Listable, number>>
  readonly namespaces: readonly string[]
  readonly rows: readonly Row[]
  /** How many match, shown or not. */
  readonly matching: number
  readonly series: Series
  readonly reading?: Reading
  /** Why the last reading failed: what is shown is older. */
  readonly problem?: string
  /** The operation that is open. */
  readonly chosen?: { readonly id: string; readonly rev: number; readonly told: number }
  readonly demo?: DemoState
}

/** Something that can be done to an operation as it stands. */
export interface OfferedAct {
  readonly act: WriteAct
  /** What somebody says who does it. */
  readonly meaning: readonly string[]
  /** Stands for exactly what was shown; the write is refused when anything else lies there. */
  readonly shown: string
  /** What has to be said besides, for it to be allowed. */
  readonly insistence?: { readonly name: 'forgetsSteps' | 'isHolderGone'; readonly text: string }
  /** It can put the stored request into the outbox with the same write. */
  readonly canRelay?: true
  /** `settle`: how long the outcome is kept where nobody says otherwise, in seconds. */
  readonly retentionSeconds?: number
}
export type WriteAct = 'resume' | 'settle' | 'release' | 'redrive' | 'dispatch'

/** What the page sends to have something done. */
export interface ActRequest {
  readonly id: string
  readonly act: WriteAct
  readonly shown: string
  readonly insists?: boolean
  readonly relay?: boolean
  readonly settlement?:
    | { readonly kind: 'value'; readonly json: string; readonly retentionSeconds: number }
    | { readonly kind: 'error'; readonly message: string; readonly retentionSeconds: number }
}

/** One operation, with everything that lies under it. */
export interface OneOperation {
  readonly id: string
  readonly label?: string
  readonly standing?: Standing
  readonly sentence: string
  readonly holder: string
  readonly record?: RecordView
  readonly attempts: readonly Attempt[]
  readonly story: readonly Told[]
  /** What is told by what lies beside it, and what is to come. */
  readonly beside: readonly { readonly atMs: number; readonly what: string; readonly isFuture: boolean }[]
  readonly receipts: readonly ReceiptView[]
  readonly messages: readonly MessageView[]
  /** What nobody can know from here. */
  readonly limits: string
  /** Empty where the console only reads, or nothing is possible. */
  readonly acts: readonly OfferedAct[]
}

type Time = string | number

/** The record as `--json` writes it. */
export interface RecordView {
  readonly status: string
  readonly attempt: number
  readonly rev: number
  readonly fence: string
  readonly takeover: 'auto' | 'never'
  readonly createdAt: Time
  readonly updatedAt: Time
  readonly leaseUntil?: Time
  readonly expiresAt?: Time
  readonly resumeAt?: Time
  readonly waitingFor?: string
  readonly crashes?: number
  readonly isCommitted?: true
  readonly metadata?: Readonly<Record<string, string>>
  readonly steps: readonly {
    readonly name: string
    readonly kind: 'started' | 'done' | 'result-lost'
    readonly startedAt?: Time
    readonly result?: ShownValue
    readonly failure?: FailureView
  }[]
  readonly outcome?: {
    readonly kind: 'value' | 'failure'
    readonly value?: ShownValue
    readonly failure?: FailureView
  }
  readonly wireResponse?: ShownValue
  readonly signals: readonly { readonly id: string; readonly at: Time; readonly payload: ShownValue }[]
  readonly request?: { readonly target: Readonly<Record<string, string>>; readonly payload: ShownValue }
}

interface FailureView {
  readonly name?: string
  readonly code?: string
  readonly message?: string
}

/** A receipt as `--json` writes it. */
export interface ReceiptView {
  readonly kind: string
  readonly at: Time
  readonly attempt: number
  readonly step?: string
  readonly expiresAt?: Time
  readonly value: ShownValue
}

/** A message as `--json` writes it. */
export interface MessageView {
  readonly messageId?: string
  readonly state: string
  readonly isUnreadable?: true
  readonly to?: Readonly<Record<string, string>>
  readonly createdAt?: Time
  readonly dispatchedAt?: Time
  readonly stuckAt?: Time
  readonly stuckReason?: string
  readonly body?: ShownValue
}
