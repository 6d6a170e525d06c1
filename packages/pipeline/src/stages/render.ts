// RENDER: tasks become requests, tokenised once, for any number of devices. On resume the requests are built again and must
// be the same to the last token, so that a changed task, data set or tokenizer cannot slip under old results.
import type { CommandBody } from '@assay/workers';
import { redactSecrets } from '@assay/domain';
import type { Rendered } from '@assay/protocol';
import { settleIdentity, writeRunJson } from '@assay/store';
import type { HarnessWorker } from '../processes/harness-worker.ts';
import { type RunContext, warn } from '../run-context.ts';

/** The keys of a configuration that decide what is rendered. */
const RENDER_KEYS = [
  'model_args', 'tasks', 'include_path', 'num_fewshot', 'limit', 'samples', 'gen_kwargs', 'apply_chat_template', 'system_instruction',
  'fewshot_as_multiturn', 'seed', 'predict_only', 'metadata', 'trust_remote_code', 'confirm_run_unsafe_code', 'overlong',
] as const;

export async function renderRequests(context: RunContext, harness: HarnessWorker): Promise<Rendered> {
  const { config, run, events, epoch } = context;
  const settings = Object.fromEntries(RENDER_KEYS.map((key) => [key, config[key]]));
  const command = { type: 'render', requestsDir: run.paths.requestsDir, ...settings } as CommandBody<'render'>;
  const rendered = await harness.request(command);
  await settleIdentity(run, 'semantic', describeSemantics(rendered));
  await writeRunJson(run.paths.rendered, rendered, { verbatim: ['chatTemplate'] });
  const { requests, tokens, digest, seconds } = rendered;
  await events.append({ type: 'rendered', epoch, requests, tokens, digest, seconds });
  for (const message of rendered.warnings) await warn(context, 'RENDER', message);
  return rendered;
}

/** What the requests and their scoring mean, field by field, so that a difference can be named. */
function describeSemantics(rendered: Rendered) {
  const tasks = rendered.tasks.map(({ task, version, datasetDigest, promptsDigest, generationParameters, metrics, filters, repeats }) => (
    [task, { version, datasetDigest, promptsDigest, generationParameters: redactSecrets(generationParameters), metrics, filters, repeats }] as const
  ));
  return {
    tasks: Object.fromEntries(tasks),
    requests: rendered.digest,
    tokenizer: rendered.tokenizerDigest,
    chatTemplate: rendered.chatTemplateDigest,
  };
}
