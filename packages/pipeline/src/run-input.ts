// What a run is started with.
import type { RunConfig } from '@assay/domain';
import type { NodeFacts } from '@assay/planner';
import type { RunObserver } from './observer.ts';

interface RunSignals {
  /** First Ctrl-C: finish what is in the engines. */
  drain: AbortSignal;
  /** Second Ctrl-C: stop now. */
  stop: AbortSignal;
}

export interface RunInput {
  config: RunConfig;
  command: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  signals: RunSignals;
  ui: RunObserver;
  /** Without an output path, an unfinished run of the same settings is left alone. */
  startsNew?: boolean;
  /** Hardware to plan for in place of what is here: no device is asked or leased. */
  node?: NodeFacts;
}
