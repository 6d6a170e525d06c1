// The composed settings, each with the place it came from: a flag, a line of the file, or a default.
import { effectiveDeterminism, redactSecrets, type RunConfig } from '@assay/domain';
import { renderTable } from '@assay/reports';
import type { Provenance } from '../config/compose.ts';

/** Only what was given, unless `all`. */
export function renderSettings(config: RunConfig, provenance: Provenance, { all }: { all: boolean }): string {
  const values = { ...redactSecrets(config), determinism: effectiveDeterminism(config) } as Record<string, unknown>;
  const rows = Object.entries(provenance).filter(([, from]) => all || (from !== 'default' && from !== 'not set'))
    .map(([key, from]) => [key, values[key] === undefined ? '' : showSetting(values[key]), from]);
  return renderTable([{ title: 'setting', align: 'left' }, { title: 'value', align: 'left' }, { title: 'from', align: 'left' }], rows);
}

const showSetting = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
