import { type ModelFacts, parseModelFacts } from '@assay/planner';
import { buildRunPaths } from '@assay/store';
import { expect, onTestFinished, test } from 'vitest';
import { python } from '../../../test/support/environment.ts';
import { findProcesses, killQuietly } from '../../../test/support/process-table.ts';
import { makeLog } from '../../../test/support/quiet-log.ts';
import { makeTempDir } from '../../../test/support/temp-dir.ts';
import type { Prepared } from './prepare-run.ts';
import { startProcesses } from './run-processes.ts';
import { WorkerCensus } from './worker-census.ts';

const MODEL: ModelFacts = parseModelFacts({
  architectures: ['LlamaForCausalLM'], model_type: 'llama', hidden_size: 576, num_hidden_layers: 30, num_attention_heads: 9, num_key_value_heads: 3,
  intermediate_size: 1536, vocab_size: 49152, tie_word_embeddings: true, max_position_embeddings: 8192,
}, [{ weight: { dtype: 'BF16', shape: [1_000_000], bytes: 2_000_000 } }]);

/** A run whose engines cannot be started: the settings that they need are not to be had. */
function prepareBroken(home: string): Prepared {
  const config = { plan: 'auto', model_args: {}, limits: {}, get model(): string { throw new Error('no such model'); } };
  const metrics = { set: () => undefined, add: () => undefined };
  return {
    env: {}, environment: {}, facts: MODEL, node: { cpus: [0, 1], memoryBytes: 2 ** 34, gpus: [] }, census: new WorkerCensus(metrics as never), halt: () => undefined,
    context: {
      config, determinism: 'fast', home, python, metrics, epoch: 1, log: makeLog(), events: { append: async () => undefined },
      run: { dir: home, header: { id: 'run-1' }, paths: buildRunPaths(home) },
    },
  } as unknown as Prepared;
}

test('where an engine cannot be started, what was started before it is stopped', async () => {
  const home = makeTempDir();
  const mark = `ASSAY_HOME=${home}`;
  onTestFinished(() => { for (const pid of findProcesses(mark)) killQuietly(pid, 'SIGKILL'); });
  await expect(startProcesses(prepareBroken(home))).rejects.toThrow('no such model');
  expect(findProcesses(mark)).toEqual([]);
});
