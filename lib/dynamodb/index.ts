export { type DynamoStoreOptions, dynamoStore } from './dynamo-store.ts'
