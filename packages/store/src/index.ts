// The run directory and what this machine keeps outside of it.
export { writeFileAtomic } from './atomic-file.ts';
export { type CodeVersion, readCodeVersion } from './code-version.ts';
export { checkSpace, estimateRunBytes, freeBytes, MIN_FREE_BYTES, toDiskError } from './disk.ts';
export { EventLog, openEventLog, readEvents } from './event-log.ts';
export { type AssayEnvironment, explainHomeEntry, HOME_ENTRIES, readEnvironment, resolveHome } from './home.ts';
export { compareIdentities, digestOf, selectRunSettings } from './identity.ts';
export { readIfThere } from './missing-file.ts';
export { ResultLedger } from './result-ledger.ts';
export { listAttempts, readResults, readStoredResults, readTaskResults, scanAttempt, scanResults } from './result-scan.ts';
export { openResultWriter, ResultWriter } from './result-writer.ts';
export { findRun, openRunDirectory, type OpenRunDirectory, readRunDirectory, type RunDirectory, writeConfig } from './run-directory.ts';
export type { EventOf, LoggedEvent, RunEvent } from './run-events.ts';
export { foldEvents, type RunHistory, sumRequestPhases } from './run-history.ts';
export { readIdentity, settleIdentity } from './run-identity.ts';
export { readRunJson, writeRunJson } from './run-json.ts';
export { buildRunPaths, orderFile, resultsFileName, workerLogFile } from './run-paths.ts';
export { digestFolder, readManifest, sealManifest } from './seal.ts';
