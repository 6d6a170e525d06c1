// The shard queue: its port, its BullMQ adapter, and the Redis it stands on. The only door to bullmq and ioredis.
export { createShardQueue } from './bullmq-queue.ts';
export type { RedisServer } from './own-redis.ts';
export { examineRedis, type RedisFacts, resolveRedis } from './resolve-redis.ts';
export type { ShardQueue } from './shard-queue.ts';
