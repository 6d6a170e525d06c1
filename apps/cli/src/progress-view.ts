// What a person sees on stderr while a run works. On a terminal the last line is rewritten in place; elsewhere it is printed
// every ten seconds, so that a log stays readable.
import { redactText } from '@assay/domain';
import type { MetricRow } from '@assay/protocol';
import type { RunObserver, RunProgress } from '@assay/pipeline';
import { formatSeconds, renderPlan, renderProbe, renderProgress } from '@assay/reports';
import { escapeControls } from './printable.ts';
import type { TextSink } from './surroundings.ts';

const STAGE_WORDS: Readonly<Record<string, string>> = {
  check: 'checking the model and the output path',
  render: 'building and tokenising the requests',
  probe: 'loading the model and running its largest step with dummy data, to see whether it fits',
  request: 'answering the requests',
  score: 'scoring',
};

const QUIET_STAGES = new Set(['plan', 'aggregate', 'seal']);
const PLAIN_INTERVAL_MS = 10_000;
const DEFAULT_COLUMNS = 100;
const ERASE_LINE = '\r\u001B[2K';

export interface ProgressViewOptions {
  sink: TextSink;
  now: () => number;
  unicode: boolean;
  /** What the command writes to stdout at its end, and is therefore left out here. */
  outcome?: 'plan' | 'probe' | 'scores';
}

export class ProgressView implements RunObserver {
  readonly #sink: TextSink;
  readonly #now: () => number;
  readonly #unicode: boolean;
  readonly #outcome: ProgressViewOptions['outcome'];
  readonly #startedAtMs: number;
  #isLineOpen = false;
  #lastPlainMs = Number.NEGATIVE_INFINITY;

  constructor({ sink, now, unicode, outcome }: ProgressViewOptions) {
    this.#sink = sink;
    this.#now = now;
    this.#unicode = unicode;
    this.#outcome = outcome;
    this.#startedAtMs = now();
  }

  onStage(stage: string): void {
    if (!QUIET_STAGES.has(stage)) this.#print(this.#stamp(STAGE_WORDS[stage] ?? stage));
  }

  onNote(text: string): void {
    this.#print(redactText(text));
  }

  onWarning(text: string): void {
    this.#print(`warning: ${redactText(text)}`);
  }

  onPlan(...[plan, time]: Parameters<RunObserver['onPlan']>): void {
    if (this.#outcome !== 'plan') this.#print(renderPlan(plan, time));
  }

  onProbe(report: Parameters<RunObserver['onProbe']>[0]): void {
    // Earlier rungs have been shown already.
    if (this.#outcome !== 'probe') this.#print(redactText(renderProbe({ ...report, rungs: report.rungs.slice(-1) })));
  }

  onProgress(progress: RunProgress): void {
    if (this.#sink.isTTY) {
      const width = (this.#sink.columns || DEFAULT_COLUMNS) - 1;
      this.#sink.write(`${ERASE_LINE}${renderProgress(progress, { width, unicode: this.#unicode })}`);
      this.#isLineOpen = true;
      return;
    }
    const isComplete = progress.finalRequests === progress.totalRequests;
    if (!isComplete && this.#now() - this.#lastPlainMs < PLAIN_INTERVAL_MS) return;
    this.#lastPlainMs = this.#now();
    this.#print(this.#stamp(renderProgress(progress, { width: DEFAULT_COLUMNS, unicode: false })));
  }

  onTaskScored(rows: readonly MetricRow[]): void {
    const [first] = rows;
    if (first === undefined) return;
    this.#print(`scored  ${first.task}: ${rows.map(describeRow).join(', ')}`);
  }

  /** Leaves the terminal with a whole last line. */
  end(): void {
    if (this.#isLineOpen) this.#sink.write('\n');
    this.#isLineOpen = false;
  }

  #print(text: string): void {
    this.#sink.write(`${this.#isLineOpen ? ERASE_LINE : ''}${escapeControls(text, '\n')}\n`);
    this.#isLineOpen = false;
  }

  #stamp(text: string): string {
    return `[${formatSeconds((this.#now() - this.#startedAtMs) / 1000)}] ${text}`;
  }
}

function describeRow({ metric, filter, value, error }: MetricRow): string {
  const name = filter === 'none' ? metric : `${metric} (${filter})`;
  if (error !== undefined) return `${name} failed`;
  return `${name} ${typeof value === 'number' ? value.toFixed(4) : String(value)}`;
}
