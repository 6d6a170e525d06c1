// Logs and metrics of a run. The one door to pino and prom-client.
export { BUILD_INFO, METRICS, type MetricEntry, type MetricName } from './catalogue.ts';
export { createLogger, type Logger, type LoggerOptions, type LogLevel } from './logger.ts';
export { type Build, createMetrics, Metrics } from './metrics.ts';
export { type ListenAddress, type MetricsServer, parseListenAddress, serveMetrics } from './metrics-server.ts';
export { logShardAttempt, type ShardAttemptLine } from './shard-attempt-line.ts';
