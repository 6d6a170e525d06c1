// Logs and metrics of a run. The one door to pino and prom-client.
export { BUILD_INFO, METRICS, type MetricEntry } from './catalogue.ts';
export { createLogger, type Logger } from './logger.ts';
export { Metrics } from './metrics.ts';
export { type MetricsServer, parseListenAddress, serveMetrics } from './metrics-server.ts';
export { logShardAttempt } from './shard-attempt-line.ts';
