// The interpreter and the Redis server that tests use: what the set-up built, else what the system has.
import { readEnvironment, resolveHome } from '@assay/store';

const environment = readEnvironment(resolveHome(process.env));

export const python = environment?.python ?? 'python3';
export const embeddedRedis = environment?.redisServer;
