// The flags that are ours: one for every configuration key that lm_eval does not have.
import type { FlagEntry } from './flag-entry.ts';

const assay = (entry: Omit<FlagEntry, 'origin' | 'status'>): FlagEntry => ({ origin: 'assay', status: 'supported', ...entry });

export const ASSAY_FLAGS: readonly FlagEntry[] = [
  assay({ flag: 'plan', key: 'plan', rule: 'plan', value: 'auto|KEY=N', arity: 'many' }),
  assay({ flag: 'limits', key: 'limits', rule: 'mapping', value: 'KEY=VALUE', arity: 'many' }),
  assay({ flag: 'scoring', key: 'scoring', rule: 'text', value: 'MODE', arity: 'one' }),
  assay({ flag: 'determinism', key: 'determinism', rule: 'text', value: 'TIER', arity: 'one' }),
  assay({ flag: 'probe', key: 'probe', rule: 'boolean', value: 'BOOL', arity: 'optional' }),
  assay({ flag: 'overlong', key: 'overlong', rule: 'text', value: 'POLICY', arity: 'one' }),
  assay({ flag: 'request_timeout', key: 'request_timeout', rule: 'number', value: 'SECONDS', arity: 'one' }),
  assay({ flag: 'run_timeout', key: 'run_timeout', rule: 'number', value: 'SECONDS', arity: 'one' }),
  assay({ flag: 'stall_timeout', key: 'stall_timeout', rule: 'number', value: 'SECONDS', arity: 'one' }),
  assay({ flag: 'max_tries', key: 'max_tries', rule: 'number', value: 'N', arity: 'one' }),
  assay({ flag: 'waive_coverage', key: 'waive_coverage', rule: 'boolean', value: 'BOOL', arity: 'optional' }),
  assay({ flag: 'metrics', key: 'metrics', rule: 'text', value: 'HOST:PORT', arity: 'one' }),
];
