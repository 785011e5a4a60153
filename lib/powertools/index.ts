export type { PowertoolsRecordsOptions } from './options.ts'
export { type PowertoolsRecords, powertoolsRecords } from './records.ts'
