// What became of the requests: tasks with their coverage, results and their files, work done, time taken, and what a reader must know.
import { AssayError } from '@assay/domain';
import type { Coverage, ManifestInput, Rendered, Scored } from '@assay/protocol';
import { digestFolder, type ResultLedger, type RunHistory, sumRequestPhases } from '@assay/store';
import type { IdleShare } from '../idle-clock.ts';
import type { RunContext } from '../run-context.ts';

/** What scoring knows of each task, by its number. */
export interface TaskScores {
  readonly scored: ReadonlyMap<number, Scored>;
  coverageOf(task: number): Coverage;
  lengthShareOf(task: number): number;
}

export function describeTasks(rendered: Rendered, scores: TaskScores): ManifestInput['tasks'] {
  return rendered.tasks.map((task, number) => {
    const scored = scores.scored.get(number);
    if (!scored) throw new AssayError('BUG', { problem: `task ${task.task} was not scored` });
    const { scoredDocuments, headline, answers } = scored;
    return { ...task, coverage: scores.coverageOf(number), lengthShare: scores.lengthShareOf(number), scoredDocuments, headline, answers };
  });
}

export function describeCoverage(results: ResultLedger): ManifestInput['coverage'] {
  const counts = results.countByOutcome();
  const answered = results.finalCount - counts.rejected;
  const requests = results.index.count;
  return { requests, final: results.finalCount, answered, share: requests === 0 ? 1 : answered / requests };
}

export async function describeResults({ run, events }: RunContext, results: ResultLedger): Promise<ManifestInput['results']> {
  const openTries = Array.from({ length: results.index.count }, (_, row) => results.tries(row)).reduce((sum, tries) => sum + tries, 0);
  const { duplicates, tornLines, fencedBytes } = results;
  return { files: await digestFolder(run.dir, 'resultsDir'), duplicates, tornLines, fencedBytes, openTries, failedAttempts: events.history.failedAttempts };
}

/** Sequences a step and tokens, as the engines counted them shard by shard. */
export function describeWork({ shards }: RunHistory): Pick<ManifestInput, 'batch' | 'tokens'> {
  const medians = shards.map(({ batch }) => batch.median).sort((a, b) => a - b);
  const sum = (pick: (shard: (typeof shards)[number]) => number) => shards.reduce((total, shard) => total + pick(shard), 0);
  return {
    batch: { medianRunning: medians[Math.floor(medians.length / 2)] ?? null, maxRunning: shards.reduce<number | null>((most, { batch }) => Math.max(most ?? 0, batch.max), null) },
    tokens: { prompt: sum((shard) => shard.promptTokens), cached: sum((shard) => shard.cachedTokens), new: sum((shard) => shard.newTokens) },
  };
}

export function describeTime(history: RunHistory, { wallSeconds, computingSeconds, idleSeconds }: IdleShare): Pick<ManifestInput, 'timings' | 'idle'> {
  return {
    timings: { requestPhaseSeconds: sumRequestPhases(history), wallSeconds, stages: Object.fromEntries(history.stageSeconds) },
    idle: { wallSeconds, computingSeconds, causes: idleSeconds, share: wallSeconds > 0 ? Math.min(1, (wallSeconds - computingSeconds) / wallSeconds) : 0 },
  };
}

/** Who did it, and what a reader must know before believing a number. */
export function describeEvents({ workers, waivers, warnings }: RunHistory): Pick<ManifestInput, 'workers' | 'waivers' | 'warnings'> {
  return {
    workers: [...workers.values()].map(({ started, ended }) => ({
      worker: started.worker, role: started.role, epoch: started.epoch, pid: started.pid, startedAt: started.at,
      endedAt: ended?.at ?? null, exitCode: ended?.exitCode ?? null, signal: ended?.signal ?? null, peakBytes: ended?.peakBytes ?? null,
    })),
    waivers: waivers.map(({ what, details = {} }) => ({ what, details })),
    warnings: warnings.map(({ code, message }) => ({ code, message })),
  };
}
