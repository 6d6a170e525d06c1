import { runConfigSchema } from '@assay/domain';
import { describe, expect, it } from 'vitest';
import { canonicalJson, compareIdentities, digestOf, formatDifferences, selectRunSettings } from './identity.ts';

const configure = (changes: object = {}) => runConfigSchema.parse({ model_args: { pretrained: '/m', dtype: 'bfloat16' }, tasks: ['a'], ...changes });
const differ = (changes: object) => compareIdentities(selectRunSettings(configure()), selectRunSettings(configure(changes))).map(({ field }) => field);

describe('compareIdentities', () => {
  it('names each field that differs, with both values', () => {
    expect(compareIdentities({ a: { b: 1, c: [1, 2] }, d: 'x' }, { a: { b: 2, c: [1, 2] }, e: null })).toEqual([
      { field: 'a.b', was: 1, now: 2 }, { field: 'd', was: 'x', now: undefined }, { field: 'e', was: undefined, now: null },
    ]);
  });

  it('does not mind the order of keys, and minds the order of lists', () => {
    expect(compareIdentities({ a: 1, b: { c: 1, d: 2 } }, { b: { d: 2, c: 1 }, a: 1 })).toEqual([]);
    expect(compareIdentities([1, 2], [2, 1])).toHaveLength(1);
  });

  it('takes the names of inherited properties as names like any other', () => {
    expect(formatDifferences(compareIdentities({ a: {} }, { a: { constructor: 1 } }))).toBe('a.constructor: none → 1');
  });

  it('is shown in one line, cut where it is long', () => {
    const differences = compareIdentities({ a: 1, b: 'x'.repeat(100) }, { a: 2 });
    expect(formatDifferences(differences, 1)).toBe('a: 1 → 2; and 1 more');
    expect(formatDifferences(differences).length).toBeLessThan(100);
  });
});

describe('selectRunSettings', () => {
  it.each([
    [{ seed: { python: 0, numpy: 1, torch: 1234, fewshot: 1234 } }, 'seed.numpy'], [{ limit: 10 }, 'limit'], [{ num_fewshot: 5 }, 'num_fewshot'],
    [{ gen_kwargs: { temperature: 0.7 } }, 'gen_kwargs.temperature'], [{ gen_kwargs: { until: ['\n'] } }, 'gen_kwargs.until'],
    [{ model_args: { pretrained: '/n', dtype: 'bfloat16' } }, 'model_args.pretrained'], [{ model_args: { pretrained: '/m', dtype: 'float32' } }, 'model_args.dtype'],
    [{ model_args: { pretrained: '/m', dtype: 'bfloat16', revision: 'r' } }, 'model_args.revision'], [{ apply_chat_template: true }, 'apply_chat_template'],
    [{ system_instruction: 'Be brief.' }, 'system_instruction'], [{ determinism: 'strict' }, 'determinism'], [{ overlong: 'refuse' }, 'overlong'],
  ])('sees %j as another run', (changes, field) => expect(differ(changes)).toEqual([field]));

  it.each([
    [{ output_path: '/o' }], [{ metrics: 'localhost:9100' }], [{ run_timeout: 5 }], [{ max_tries: 7 }], [{ log_samples: false }], [{ waive_coverage: true }],
    [{ model_args: { pretrained: '/m', dtype: 'bfloat16', token: 'hf_x' }, }],
  ])('sees %j as the same run but for a secret\'s presence', (changes) => {
    expect(differ(changes).filter((field) => field !== 'model_args.token')).toEqual([]);
  });

  it('does not see the number of replicas or the value of a secret', () => {
    const withToken = (token: string) => selectRunSettings(configure({ model_args: { token } }));
    expect(digestOf(withToken('one'))).toBe(digestOf(withToken('two')));
    const planned = (data: number) => selectRunSettings(configure({ plan: { data, max_num_seqs: 8 } }));
    expect(digestOf(planned(1))).toBe(digestOf(planned(2)));
    expect(digestOf(planned(1))).not.toBe(digestOf(selectRunSettings(configure({ plan: { data: 1, max_num_seqs: 16 } }))));
  });

  it('has one text for one value', () => {
    expect(canonicalJson({ b: [{ d: 1, c: undefined }], a: null })).toBe('{"a":null,"b":[{"d":1}]}');
  });
});
