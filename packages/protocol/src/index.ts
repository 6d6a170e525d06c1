// Everything that crosses a process: messages, results, the request files.
export * from './engine-messages.ts';
export * from './failure.ts';
export * from './harness-messages.ts';
export {
  buildManifestJsonSchema, type Manifest, MANIFEST_SCHEMA_VERSION, type ManifestInput, manifestSchema,
} from './manifest.ts';
export * from './messages.ts';
export * from './ndjson.ts';
export * from './request-index.ts';
export * from './result.ts';
export * from './shard-job.ts';
