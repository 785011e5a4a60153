export { CACHE_DEFAULTS, type CachedStoreOptions, cachedStore } from './cached-store.ts'
