// The shard queue: its port, its BullMQ adapter, and the Redis it stands on. The only door to bullmq and ioredis.
export type { LeaseTiming } from './bullmq-consumer.ts';
export { createShardQueue, type ShardQueueOptions } from './bullmq-queue.ts';
export type { QueueLog } from './log.ts';
export type { RedisServer, ServerHandle, SpawnServer } from './own-redis.ts';
export type { RedisAddress } from './redis-address.ts';
export { type ResolveOptions, resolveRedis } from './resolve-redis.ts';
export type { ShardJob } from '@assay/protocol';
export type { ConsumeOptions, QueueCounts, ShardConsumer, ShardQueue, ShardRef } from './shard-queue.ts';
