// What earlier runs of these weights, on this engine build and device, have shown: read once at the start; what this run shows is
// written beside the work. Invariant: it makes a start better and is never needed: nothing here fails a run or holds it up, and
// nothing here stands in for a probe.
import {
  estimateMemory, fitCorrections, fitResidual, type MeasuredRun, MEMORY_MODEL, type MemoryKind, type MemoryResiduals, observeMemory, observeTime, pickRates, type Plan, type TimeCorrections, type Work,
} from '@assay/planner';
import type { Failure, ProbeStep, Rendered } from '@assay/protocol';
import {
  type LearnedLengths, learnedLengths, type LearnedMemory, learnedMemory, type LearnedSpeed, learnedSpeeds, type LearnedVerdict, learnedVerdicts,
} from '@assay/store';
import type { Logger } from '@assay/telemetry';
import type { OutsideLimit } from '@assay/workers';
import { AnswerHistory } from './answer-history.ts';
import { findSubject, namePlan, nameSpeed, nameSteps, type Subject, type SubjectInput } from './subject.ts';

/** What a probe has shown of one plan. */
export interface ProbedPlan {
  plan: Plan;
  steps: readonly ProbeStep[];
  verdict: 'fits' | 'oom';
  failure: Failure | undefined;
  /** Where the kernel ended the replica before its limit was reached. */
  outside?: OutsideLimit | undefined;
  /** Of the replica that took the most; undefined where none could tell. */
  measured: Partial<Record<MemoryKind, number>>;
}

interface Lessons {
  memory: LearnedMemory[];
  verdicts: LearnedVerdict[];
  speeds: LearnedSpeed[];
  /** Of these weights on this build, whatever the device. */
  lengths: LearnedLengths[];
}

const KINDS: readonly MemoryKind[] = ['resident', 'address_space', 'device'];
// Free memory is never twice the same; with so much more of it than last time, a plan that did not fit is worth another try.
const MORE_ROOM = 1.05;
const VERDICT_MS = 30 * 24 * 3600 * 1000;
// Of one setting: the middle one of them counts, so that a run or two on a busy machine teach nothing false.
const KEPT_RUNS = 5;

export class Experience {
  readonly #input: SubjectInput;
  readonly #log: Logger;
  readonly #lessons: Lessons;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(input: SubjectInput, log: Logger, lessons: Lessons) {
    this.#input = input;
    this.#log = log;
    this.#lessons = lessons;
  }

  /** What the memory model is off by; undefined where nothing was measured. */
  memoryResiduals(): MemoryResiduals | undefined {
    const fitted = KINDS.flatMap((kind) => {
      const residual = fitResidual(this.#lessons.memory.filter((entry) => entry.kind === kind && entry.model === MEMORY_MODEL));
      return residual ? [[kind, residual] as const] : [];
    });
    return fitted.length > 0 ? Object.fromEntries(fitted) : undefined;
  }

  /** The latest verdict on this very plan and these steps; an `oom` counts only while there is no more room than there was then. */
  recallVerdict(plan: Plan, steps: readonly ProbeStep[]): LearnedVerdict | undefined {
    const [name, shape] = [namePlan(plan, this.#input.config), nameSteps(steps)];
    const verdict = this.#lessons.verdicts.findLast((entry) => entry.plan === name && entry.shape === shape);
    if (!verdict || Date.now() - Date.parse(verdict.at) > VERDICT_MS) return undefined;
    return verdict.verdict === 'oom' && this.#roomOf(plan) > MORE_ROOM * verdict.roomBytes ? undefined : verdict;
  }

  /** Seconds a unit of work on all replicas together. */
  recallRates(plan: Plan): Work | undefined {
    const rates = pickRates(this.#speedsOf(plan).map((entry) => entry.rates as Work), plan.workload);
    return rates && mapRates(rates, (seconds) => seconds / plan.data);
  }

  /** By how much the roofline was off for this setting, or for others of these weights; undefined where nothing was measured. */
  timeCorrections(plan: Plan): TimeCorrections | undefined {
    const times = (entries: readonly LearnedSpeed[]) => entries.flatMap((entry) => (entry.times ? [entry.times] : [])).slice(-KEPT_RUNS);
    return fitCorrections(times(this.#speedsOf(plan))) ?? fitCorrections(times(this.#lessons.speeds));
  }

  /** How long the answers of these tasks were, and a place to note how long they are now. */
  answerHistory(rendered: Pick<Rendered, 'tasks' | 'chatTemplateDigest'>): AnswerHistory {
    return new AnswerHistory(rendered, this.#lessons.lengths);
  }

  noteAnswers(history: AnswerHistory, generations: (task: number) => number): void {
    const summaries = history.summarize(generations);
    if (summaries.length === 0) return;
    this.#write('lengths', async (subject) => {
      const at = now();
      const entries = summaries.map((lengths) => ({ ...subject, at, ...lengths }));
      return learnedLengths(this.#input.home).add(entries, (entry, other) => isOfModel(other, subject) && other.task === entry.task, KEPT_RUNS);
    });
  }

  noteProbe({ plan, steps, verdict, failure, outside, measured }: ProbedPlan): void {
    const { config } = this.#input;
    const [name, shape] = [namePlan(plan, config), nameSteps(steps)];
    const { where, message, allocationBytes } = failure ?? {};
    const roomBytes = this.#roomLeft(plan, outside);
    if (roomBytes === undefined) return;
    this.#write('verdict', async (subject) => {
      const entry = { ...subject, at: now(), plan: name, shape, verdict, roomBytes, where, message, allocationBytes };
      return learnedVerdicts(this.#input.home).add([entry], (_, other) => isAbout(other, subject) && other.plan === name && other.shape === shape);
    });
    // The simulated engine's memory is what its arguments say, and no model's.
    if (verdict === 'oom' || config.model === 'simulated') return;
    this.#noteMemory(plan, measured, `${name}-${shape}`);
  }

  /** `rates`: seconds a unit of work on all replicas together. */
  noteSpeed(plan: Plan, measured: MeasuredRun): void {
    const setting = nameSpeed(plan);
    const times = observeTime(plan, this.#input.node, measured);
    this.#write('speed', async (subject) => {
      const entry = { ...subject, at: now(), setting, rates: mapRates(measured.rates, (seconds) => seconds * plan.data), times };
      return learnedSpeeds(this.#input.home).add([entry], (_, other) => isAbout(other, subject) && other.setting === setting, KEPT_RUNS);
    });
  }

  /** Resolves when everything is written. */
  async settle(): Promise<void> {
    await this.#writing;
  }

  #speedsOf(plan: Plan): LearnedSpeed[] {
    const setting = nameSpeed(plan);
    return this.#lessons.speeds.filter((entry) => entry.setting === setting).slice(-KEPT_RUNS);
  }

  #noteMemory(plan: Plan, measured: ProbedPlan['measured'], setting: string): void {
    const { facts, workload } = plan;
    const observations = (Object.entries(measured) as [MemoryKind, number][]).map(([kind, measuredBytes]) => (
      { kind, setting, model: MEMORY_MODEL, ...observeMemory(estimateMemory({ facts, plan, workload, kind }), Math.round(measuredBytes)) }
    ));
    if (observations.length === 0) return;
    this.#write('memory', async (subject) => {
      const entries = observations.map((observation) => ({ ...subject, at: now(), ...observation }));
      return learnedMemory(this.#input.home).add(entries, (entry, other) => isAbout(other, subject) && other.kind === entry.kind && other.setting === setting);
    });
  }

  /** What a rank may take: its limit, and what others leave of the GPU or of the node. */
  #roomOf({ device, memoryLimitBytes, data, tensor, pipeline }: Plan): number {
    const { node } = this.#input;
    return Math.min(memoryLimitBytes, ...(device === 'cpu' ? [node.memoryBytes / (data * tensor * pipeline)] : node.gpus.map(({ freeBytes }) => freeBytes)));
  }

  /** What a rank had. Where the node had room for the whole limit and was full before it, others took that meanwhile: undefined where nobody knows how much. */
  #roomLeft(plan: Plan, outside: OutsideLimit | undefined): number | undefined {
    const [roomBytes, ranks] = [this.#roomOf(plan), plan.tensor * plan.pipeline];
    if (!outside || roomBytes < Math.floor(outside.limitBytes / ranks)) return Math.floor(roomBytes);
    return outside.peakBytes === undefined ? undefined : Math.floor(Math.min(roomBytes, outside.peakBytes / ranks));
  }

  /** One after the other. The weights are named anew: by now the engine may have left their digests. */
  #write(what: string, add: (subject: Subject) => Promise<boolean>): void {
    this.#writing = this.#writing.then(async () => {
      const subject = await findSubject(this.#input);
      if (subject && !(await add(subject))) this.#log.debug({ what }, 'not learned: other runs are writing');
    }).catch((error: unknown) => this.#log.warn({ what, err: error }, 'not learned'));
  }
}

/** Reads what there is; nothing where the weights are not here yet. */
export async function openExperience(input: SubjectInput, log: Logger): Promise<Experience> {
  const { home } = input;
  const [subject, memory, verdicts, speeds, lengths] = await Promise.all([
    findSubject(input), learnedMemory(home).read(), learnedVerdicts(home).read(), learnedSpeeds(home).read(), learnedLengths(home).read(),
  ]);
  const select = <Entry extends Subject>(entries: Entry[]) => (subject ? entries.filter((entry) => isAbout(entry, subject)) : []);
  return new Experience(input, log, { memory: select(memory), verdicts: select(verdicts), speeds: select(speeds), lengths: subject ? lengths.filter((entry) => isOfModel(entry, subject)) : [] });
}

function isAbout(entry: Subject, subject: Subject): boolean {
  return isOfModel(entry, subject) && entry.device === subject.device;
}

/** What the answers say depends on no device. */
function isOfModel(entry: Subject, { weights, engine }: Subject): boolean {
  return entry.weights === weights && entry.engine === engine;
}

function mapRates(rates: Work, change: (seconds: number) => number): Work {
  return Object.fromEntries(Object.entries(rates).map(([unit, seconds]) => [unit, change(seconds)])) as Work;
}

const now = () => new Date().toISOString();
