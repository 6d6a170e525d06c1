// A small but complete manifest, for tests of what writes and reads them.
import { OUTCOME_NAMES, REQUEST_KINDS } from '@assay/domain';
import type { ManifestInput } from '@assay/protocol';
import { buildSampleEffective } from './sample-effective.ts';

const DIGEST = 'a'.repeat(64);
const AT = '2026-01-01T00:00:00.000Z';
const interpreter = { python: '3.11.7', packages: { torch: '2.13.0' } };
const coverage = { requests: 1, final: 1, answered: 1, share: 1 };
const outcomes = Object.fromEntries(REQUEST_KINDS.map((kind) => [kind, Object.fromEntries(OUTCOME_NAMES.map((name) => [name, 0]))]));

export function buildSampleManifest(): ManifestInput {
  return {
    schema: 2,
    run: { id: '20260101T000000-00000000', createdAt: AT, sealedAt: AT, epochs: 1 },
    code: { version: '0.1.0', commit: null, dirty: null, node: '24.22.3', protocol: 1 },
    command: ['assay', 'run', '--model_args', 'pretrained=/m,token=secret-value'],
    config: { model: 'vllm', model_args: { pretrained: '/m', token: 'secret-value' } },
    determinism: 'fast',
    scoring: 'exact',
    harness: { name: 'lm_eval', version: '0.4.13', ...interpreter, trustRemoteCode: false, unsafeCodeConfirmed: false },
    tasks: [{
      task: 't', alias: 't', outputType: 'generate_until', version: 1, files: { 't.yaml': DIGEST }, datasetDigest: DIGEST, promptsDigest: DIGEST, documents: 1,
      documentsTotal: 1, requests: 1, truncatedRequests: 0, truncatedTokens: 0, numFewshot: 0, fewshotDocs: [], fewshotRule: 'none', generationParameters: {},
      metrics: [{ metric: 'exact_match' }], filters: [], repeats: 1, firstTokens: [1], unsafeCode: false, coverage, lengthShare: 0,
      scoredDocuments: 1, headline: 'whole', answers: { truncatedDocuments: 0, generated: 1, unfinishedThoughts: 0, controlCharacters: 0, repeated: 0, copied: 0 },
    }],
    groups: {},
    prompts: {
      digest: DIGEST, requests: 1, tokens: 5, tokenizerDigest: DIGEST, chatTemplate: '{{ token=x }}', chatTemplateDigest: DIGEST, systemInstruction: null,
      fewshotAsMultiturn: null, bos: 'none', overlong: 'truncate',
    },
    seeds: { fewshot: { value: 1234, appliedTo: ['few-shot sampling'] } },
    model: { name: '/m', path: '/m', revision: null, type: 'llama', configDigest: DIGEST, weights: { digest: DIGEST, files: {}, bytes: 0 }, tokenizerDigest: DIGEST },
    engine: { name: 'vllm', version: '0.32.0', ...interpreter, asked: { token: 'secret-value' }, effective: buildSampleEffective(), environment: {} },
    device: { kind: 'cpu', name: 'CPU', count: 2, memoryBytes: null, driver: null, runtime: null, devices: [] },
    plan: { asked: 'auto', data: 1, tensor: 1, pipeline: 1, maxNumSeqs: 8, maxNumBatchedTokens: 2048, maxModelLen: 4096, rung: 0, reasons: [], memoryTerms: {} },
    probe: { seconds: 1, rungs: [{ rung: 0, verdict: 'fits', plan: {}, seconds: 1, predictedBytes: 1, measuredBytes: 1, failure: null }] },
    rungs: [],
    order: [{ epoch: 1, rule: 'length', digest: DIGEST, rows: 1, shards: 1 }],
    batch: { medianRunning: 1, maxRunning: 1 },
    timings: { requestPhaseSeconds: 1, wallSeconds: 2, stages: { render: 1 } },
    idle: { wallSeconds: 2, computingSeconds: 1, causes: { load: 1 }, share: 0.5 },
    tokens: { prompt: 5, cached: 0, new: 1 },
    outcomes: outcomes as ManifestInput['outcomes'],
    coverage,
    scores: { rows: [], files: {} },
    requestFiles: { 'requests/index.bin': { sha256: DIGEST, bytes: 84 } },
    results: { files: {}, duplicates: 0, tornLines: 0, fencedBytes: 0, openTries: 0, failedAttempts: 0 },
    identity: { semantic: { digest: DIGEST, fields: {} }, numeric: { digest: DIGEST, fields: {} } },
    workers: [{ worker: 'engine-0', role: 'engine', epoch: 1, pid: 7, startedAt: AT, endedAt: null, exitCode: null, signal: null, peakBytes: null }],
    waivers: [],
    warnings: [],
  };
}
