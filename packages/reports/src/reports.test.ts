import { expect, test } from 'vitest';
import { GIB, type TimeEstimate } from '@assay/domain';
import type { AnswerTally, MetricRow } from '@assay/protocol';
import { renderCandidates } from './candidates-view.ts';
import { formatSeconds, formatShare } from './format-numbers.ts';
import { renderIdle } from './idle-line.ts';
import { renderPlan } from './plan-view.ts';
import { renderProbe } from './probe-view.ts';
import { renderProgress } from './progress-line.ts';
import { renderResultsTable } from './results-table.ts';

const row = (fields: Partial<MetricRow>): MetricRow => ({
  task: 'a', alias: 'a', version: 1, filter: 'none', numFewshot: 0, metric: 'acc', value: 0.5, stderr: 0.05, higherIsBetter: true, group: false, ...fields,
});

const tally = (fields: Partial<AnswerTally>): AnswerTally => ({ truncatedDocuments: 0, generated: 0, unfinishedThoughts: 0, controlCharacters: 0, repeated: 0, copied: 0, ...fields });

/** All are final: those without an answer were rejected. */
const cover = (answered: number, requests: number) => ({ requests, final: requests, answered, share: answered / requests });

test('each score stands with its coverage and its share of cut answers, and above 5 % there is a warning', () => {
  const table = renderResultsTable({
    rows: [
      row({ task: 'demo', alias: 'demo', group: true, metric: 'acc', value: 0.6123, mean: 'by_sample' }),
      row({ task: 'demo', alias: 'demo', group: true, metric: 'acc', value: 0.8333, mean: 'by_task' }),
      row({ task: 'capitals', alias: ' - capitals' }),
      row({ task: 'capitals', alias: ' - capitals', metric: 'acc_norm', value: 0.25 }),
      row({ task: 'sums', alias: ' - sums', version: 'Yaml', filter: 'strict|match', numFewshot: 5, metric: 'exact_match', value: null, stderr: null, error: 'list index out of range' }),
      row({ task: 'prose', alias: ' - prose', metric: 'perplexity', value: 'NaN', stderr: 'NaN', higherIsBetter: false }),
    ],
    coverage: { capitals: cover(40, 40), sums: cover(38, 40), prose: cover(3, 3), essays: cover(0, 8) },
    lengthShare: { sums: 0.125, capitals: 0.05 },
    answers: { capitals: tally({ truncatedDocuments: 1 }), sums: tally({ generated: 20, unfinishedThoughts: 4, controlCharacters: 1, repeated: 5, copied: 5 }) },
    selections: { capitals: { documents: 40, documentsTotal: 60, by: '--limit 40' } },
  });
  expect(table).toMatchInlineSnapshot(`
    "|Tasks      |Version|Filter       |n-shot|Metric     | | Value| |Stderr|Coverage|Cut answers|
    |-----------|------:|-------------|-----:|-----------|-|-----:|-|-----:|-------:|----------:|
    | - capitals|      1|none         |     0|acc        |↑|0.5000|±|0.0500|   100 %|        5 %|
    |           |       |none         |     0|acc_norm   |↑|0.2500|±|0.0500|   100 %|        5 %|
    | - sums    |   Yaml|strict\\|match|     5|exact_match|↑|  none|±|   N/A|    95 %|     12.5 %|
    | - prose   |      1|none         |     0|perplexity |↓|   NaN|±|   NaN|   100 %|           |

    |Groups|Version|Filter|n-shot|Metric              | | Value| |Stderr|Coverage|Cut answers|
    |------|------:|------|-----:|--------------------|-|-----:|-|-----:|-------:|----------:|
    |demo  |      1|none  |     0|acc (mean by sample)|↑|0.6123|±|0.0500|        |           |
    |      |       |none  |     0|acc (mean by task)  |↑|0.8333|±|0.0500|        |           |

    ! sums: exact_match could not be computed: list index out of range
    ! capitals: 40 of 60 documents (--limit 40); not comparable with the score of a whole task
    ! sums: 38 of 40 requests have an answer; it has no score
    ! essays: 0 of 8 requests have an answer; it has no score yet
    ! capitals: 1 of its documents has a prompt that was cut to fit the window; samples_*.jsonl has the tokens lost
    ! sums: 12.5 % of the answers were cut at their token budget; a larger max_gen_toks may change the score
    ! sums: 20 % of the answers (4 of 20) ended inside the model's thinking and count as empty; a larger max_gen_toks lets it finish, and think_end_token keeps stop strings out of its thoughts
    ! sums: control characters were left out of 1 answer before scoring
    ! sums: the repeats of 5 of 5 requests are all the same text, so metrics over repeats say no more than one answer does; temperature and do_sample in generation_kwargs decide whether answers are drawn"
  `);
});

test('a score over a part of its documents stands under two names, and with too many of them missing it is not given', () => {
  const partial = { answered: 90, failed: 10, answeredOnly: 80 / 90, failuresAsWrong: 0.8 };
  const table = renderResultsTable({
    rows: [
      row({ task: 'few', value: 80 / 90, partial }),
      row({ task: 'many', value: null, partial: { answered: 8, failed: 2, answeredOnly: 0.5, failuresAsWrong: null }, error: '2 of 10 documents have no answer' }),
    ],
    coverage: { few: cover(90, 100), many: cover(8, 10) },
    lengthShare: {},
    answers: {},
    selections: {},
  });
  expect(table.split('\n\n')[1]).toMatchInlineSnapshot(`
    "! many: acc could not be computed: 2 of 10 documents have no answer
    ! few: 90 of 100 requests have an answer; its score is over the documents that do
    ! many: 8 of 10 requests have an answer; it has no score
    ! few: acc,none is 0.8889 over the 90 documents answered; 0.8000 with the 10 failed counted as wrong
    ! many: acc,none is 0.5000 over the 8 documents answered"
  `);
});

const plan = {
  device: 'cpu' as const, data: 2, tensor: 1, pipeline: 1, maxNumSeqs: 128, maxNumBatchedTokens: 4096, maxModelLen: 8192, kvCacheBytes: GIB, enforceEager: true, enablePrefixCaching: true, dtype: 'bfloat16',
  threadsPerWorker: 1, cpuSets: [[0], [1]], deviceSets: [], memoryLimitBytes: 8 * GIB, why: ['one replica a core', 'eager: compiling takes longer than it saves'],
  memory: { kind: 'resident', totalBytes: 4.2 * GIB, ruleOfThumbBytes: 0.28 * GIB, residualBytes: 0, terms: { weights: 0.3 * GIB, kv: GIB, activation: 0.1 * GIB, logits: 0.05 * GIB, promptLogprobs: 1.7 * GIB, graphs: 0, context: 1.1 * GIB } },
};

test('a plan is shown with its memory by term, beside the rule of thumb, and the reasons', () => {
  expect(renderPlan(plan)).toMatchInlineSnapshot(`
    "plan    2 workers, cores 0 | 1, 1 thread each, bfloat16, not compiled (eager)
    batch   max_num_seqs 128 sequences, max_num_batched_tokens 4096 tokens a step, max_model_len 8192 tokens, prefix cache on
    memory  about 4.20 GiB of 8.00 GiB a worker (resident memory; the rule of thumb says 286.7 MiB)
            = weights 307.2 MiB + KV cache 1.00 GiB + activations 102.4 MiB + prompt log-probabilities 1.70 GiB + engine 1.10 GiB
    why     - one replica a core
            - eager: compiling takes longer than it saves"
  `);
  expect(renderPlan({ ...plan, device: 'cuda', data: 1, tensor: 2, enforceEager: false, deviceSets: [['GPU-a', 'GPU-b']], why: [] }).split('\n')[0]).toMatchInlineSnapshot(`"plan    1 worker, tensor 2, devices GPU-a,GPU-b, bfloat16, compiled"`);
});

test('the time of a plan is told by its parts, and what it rests on', () => {
  const time: TimeEstimate = { startSeconds: 10, loadSeconds: 4, prefillSeconds: 35, decodeSeconds: 2, communicationSeconds: 0, wallSeconds: 51, deviceHours: 0.03, correctedBy: 3, bound: { prefill: 'compute', decode: 'memory' } };
  expect(renderPlan({ ...plan, why: [] }, time).split('\n').slice(4)).toMatchInlineSnapshot(`
    [
      "time    about 51 s from start to last result, 0.03 core-hours; corrected by 3 earlier runs",
      "        = start 10 s + load 4 s + prompts 35 s (bound by operations) + answers 2 s (bound by memory bandwidth)",
    ]
  `);
  expect(renderPlan({ ...plan, device: 'cuda' }, time)).toContain(', 0.03 GPU-hours;');
  expect(renderPlan(plan, { ...time, correctedBy: 1 })).toContain('; corrected by 1 earlier run\n');
  expect(renderPlan(plan, { ...time, correctedBy: 0 })).toContain('; an estimate: docs/planning.md says from what\n');
});

test('candidates are a table, the chosen one first with its terms beside the rule of thumb', () => {
  const time: TimeEstimate = { startSeconds: 60, loadSeconds: 71, prefillSeconds: 309, decodeSeconds: 64, communicationSeconds: 44, wallSeconds: 504, deviceHours: 0.56, correctedBy: 0, bound: { prefill: 'compute', decode: 'memory' } };
  const chosen = { data: 1, tensor: 4, pipeline: 1, verdict: 'fits' as const, isChosen: true, plan, memory: { ...plan.memory, residualBytes: GIB }, time };
  const large = { ...chosen, data: 4, tensor: 1, verdict: 'too_large' as const, isChosen: false, lost: 'does not fit: 62.0 GiB are missing.' };
  const refused = { data: 1, tensor: 3, pipeline: 1, verdict: 'refused' as const, isChosen: false, lost: 'tensor=3: 64 | 3.' };
  expect(renderCandidates([chosen, large, refused], { device: '4 × H100-80GB', deviceMemoryBytes: 80 * GIB })).toMatchInlineSnapshot(`
    "candidates on 4 × H100-80GB: GiB of each rank, tokens/sequences of a step, predicted time from start to last result
    | |data|tensor|pipeline|memory   |GiB a rank| of|weights| KV|activations|logits|   batch|      time|      load|device-hours|why not                            |
    |-|---:|-----:|-------:|---------|---------:|--:|------:|--:|----------:|-----:|-------:|---------:|---------:|-----------:|-----------------------------------|
    |*|   1|     4|       1|fits     |       4.2|8.0|    0.3|1.0|        0.1|   1.7|4096/128|8 min 24 s|1 min 11 s|        0.56|chosen                             |
    | |   4|     1|       1|too large|       4.2|8.0|    0.3|1.0|        0.1|   1.7|4096/128|          |          |            |does not fit: 62.0 GiB are missing.|
    | |   1|     3|       1|refused  |          |   |       |   |           |      |        |          |          |            |tensor=3: 64 \\| 3.                 |

    |memory of one rank                              |GiB|
    |------------------------------------------------|--:|
    |weights                                         |0.3|
    |KV cache                                        |1.0|
    |activations                                     |0.1|
    |logits                                          |0.1|
    |prompt log-probabilities                        |1.7|
    |graphs                                          |0.0|
    |engine                                          |1.1|
    |learned from earlier runs                       |1.0|
    |together (of the two kinds of logits the larger)|4.2|
    |limit                                           |8.0|
    rule of thumb (parameters × bytes × 110 %): 0.1 GB = 0.1 GiB a rank, which would fit the 80.0 GiB of a device"
  `);
  expect(renderCandidates([refused], { device: '4 cores' })).not.toContain('rule of thumb');
});

test('the probe\'s verdict compares the predicted with the measured peak, after every rung that was taken', () => {
  const rung = { seconds: 4, predictedBytes: 5.7 * GIB, plan };
  const oom = { ...rung, verdict: 'oom' as const, failure: { message: 'cannot allocate 805306368 bytes\nstack', where: 'logits' } };
  const fits = { ...rung, verdict: 'fits' as const, predictedBytes: 4.5 * GIB, measuredBytes: 4.4 * GIB, plan: { ...plan, why: ['fewer batched tokens, 4096 → 2048'] } };
  expect(renderProbe({ rungs: [oom, fits], seconds: 41 })).toMatchInlineSnapshot(`
    "probe   out of memory (logits): cannot allocate 805306368 bytes
            fewer batched tokens, 4096 → 2048; fits: peak memory 4.40 GiB measured, 4.50 GiB predicted (+2 %) (41 s)"
  `);
  expect(renderProbe({ rungs: [{ ...rung, verdict: 'skipped' }], seconds: 9 })).toMatchInlineSnapshot(`"probe   not run (probe: false); peak memory while loading not measured, 5.70 GiB predicted (9 s)"`);
});

const progress = { finalRequests: 120, totalRequests: 400, shardsDone: 3, shardsTotal: 14, workersReady: 2, remaining: { seconds: 95, fraction: 0.31 }, elapsedSeconds: 42 };

test('the progress line fits its width and drops what matters least', () => {
  const lines = [120, 80, 60, 40, 20, 5].map((width) => renderProgress(progress, { width, unicode: true }));
  lines.forEach((line, place) => expect(line.length).toBeLessThanOrEqual([120, 80, 60, 40, 20, 5][place]!));
  expect(lines.join('\n')).toMatchInlineSnapshot(`
    "███████████▊░░░░░░░░░░░░░░░░░░░░░░░░░░ 31 % · 1 min 35 s left · 120/400 requests · 42 s so far · 3/14 shards · 2 workers
    ███░░░░░░░ 31 % · 1 min 35 s left · 120/400 requests · 42 s so far · 3/14 shards
    █████▌░░░░░░░░░░░░ 31 % · 1 min 35 s left · 120/400 requests
    █████▎░░░░░░░░░░░ 31 % · 1 min 35 s left
    ████▋░░░░░░░░░░ 31 %
    31 %"
  `);
});

test('the progress line has a plain form, and is full only at the end', () => {
  expect(renderProgress({ ...progress, remaining: { seconds: null, fraction: 0.9999 } }, { width: 70, unicode: false })).toMatchInlineSnapshot(`"########- >99.9 % | time left unknown | 120/400 requests | 42 s so far"`);
  expect(renderProgress({ ...progress, remaining: { seconds: 0, fraction: 1 } }, { width: 50, unicode: true })).toContain('█ 100 %');
});

test('idle time is shown by cause, the largest first', () => {
  expect(renderIdle({ wallSeconds: 142, computingSeconds: 98, idleSeconds: { render: 9, load: 31.2, queue: 0, score: 3.8 } })).toMatchInlineSnapshot(`"idle    no engine worker was computing in 31 % of 2 min 22 s: load 22 %, render 6.3 %, score 2.7 %"`);
  expect(renderIdle({ wallSeconds: 0, computingSeconds: 0, idleSeconds: {} })).toBe('idle    nothing has run yet');
});

test('durations and shares read naturally and never round up to a whole', () => {
  expect([0.4, 59.6, 200, 3599.7, 7500].map(formatSeconds)).toEqual(['0 s', '1 min 00 s', '3 min 20 s', '1 h 00 min', '2 h 05 min']);
  expect([0, 0.0004, 0.05, 0.1234, 0.9999, 1].map(formatShare)).toEqual(['0 %', '<0.1 %', '5 %', '12.3 %', '>99.9 %', '100 %']);
  // 0.07 × 100 is 7.000000000000001.
  expect([0.07, 0.29, 1 / 12, 0.0833, 0.9995].map(formatShare)).toEqual(['7 %', '29 %', '8.3 %', '8.3 %', '>99.9 %']);
});
