// The run directory and what this machine keeps outside of it.
export { syncFolder, writeFileAtomic } from './atomic-file.ts';
export { type CodeVersion, readCodeVersion } from './code-version.ts';
export { checkSpace, checkWritable, estimateRunBytes, freeBytes, MIN_FREE_BYTES, toDiskError } from './disk.ts';
export { EventLog, type EventLogOptions, type EventRecord, openEventLog, readEvents } from './event-log.ts';
export { type AssayEnvironment, explainHomeEntry, HOME_ENTRIES, readEnvironment, resolveHome } from './home.ts';
export {
  canonicalJson, compareIdentities, type Difference, digestOf, formatDifferences, type JsonObject, KEYS_OUTSIDE_IDENTITY, selectRunSettings,
} from './identity.ts';
export { type FileLock, type LockAttempt, lockFile, tryLockFile } from './lock-file.ts';
export { compareAttempts, type OutcomeCounts, ResultLedger, type ResultPlace } from './result-ledger.ts';
export { listAttempts, readResults, readTaskResults, scanAttempt, type ScanOptions, scanResults } from './result-scan.ts';
export { openResultWriter, type ResultFile, ResultWriter, type ResultWriterOptions, SYNC_MS, SYNC_RESULTS } from './result-writer.ts';
export {
  findRun, openRunDirectory, type OpenRunDirectory, readRunDirectory, readRunJson, type RunDirectory, writeConfig, writeRunJson,
} from './run-directory.ts';
export { EVENT_TYPES, type EventOf, type EventType, isDurable, type LoggedEvent, type RunEvent } from './run-events.ts';
export { RUN_SCHEMA_VERSION, type RunHeader, readRunHeader } from './run-header.ts';
export { emptyHistory, foldEvents, nextAttempt, type RunHistory, sumRequestPhases } from './run-history.ts';
export { readIdentity, type RunIdentity, settleIdentity } from './run-identity.ts';
export { cleanModelName, resolveRunDirectory, type RunLocation, type RunRequest } from './run-location.ts';
export {
  type AttemptKey, buildRunPaths, formatAttempt, orderFile, parseResultsFileName, resultsFileName, RUN_FILES, type RunPaths, workerLogFile,
} from './run-paths.ts';
export { digestFile, digestFolder, readManifest, type SealedFile, sealManifest } from './seal.ts';
