export type { AppliedCommit, Transact } from './commits.ts'
export { type MemoryStore, type MemoryStoreOptions, memoryStore } from './memory-store.ts'
