// What a row of the flag table says. Help, parser, docs/lm-eval-flags.md and the tests are read off these rows.
import type { RunConfig } from '@assay/domain';
import type { RuleName } from './parse-rules.ts';

type FlagStatus = 'supported' | 'noted' | 'refused';

export interface FlagEntry {
  /** Name without dashes, spelt as the configuration key. */
  flag: string;
  short?: string;
  origin: 'lm_eval' | 'assay';
  status: FlagStatus;
  /** Key of the configuration it sets. A flag without one acts on the command alone, or is refused. */
  key?: keyof RunConfig;
  rule: RuleName;
  /** Stands for the value in help, such as "N". */
  value: string;
  /** How many values follow: exactly one, one or none, or as many as come. */
  arity: 'one' | 'optional' | 'many';
  /** Overrides the key's description in help. */
  description?: string;
  /** supported or noted: what is special about it here. */
  note?: string;
  /** refused: why, and what to do instead. */
  reason?: string;
  instead?: string;
}
