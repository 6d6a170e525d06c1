import type { Loaded, Rendered } from '@assay/protocol';
import { expect, test } from 'vitest';
import { buildSampleEffective } from '../../../../test/support/sample-effective.ts';
import { describeSeeds } from './sources.ts';

test('the seed of requests is told with what each one\'s own is derived from: no place among other requests', () => {
  const { request } = describeSeeds({ seeds: {} } as Rendered, { effective: buildSampleEffective() } as Loaded);
  expect(request).toEqual({ value: 1234, appliedTo: ['each sampled request, with its prompt\'s tokens and its repeat'] });
});
