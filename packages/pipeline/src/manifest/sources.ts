// What was evaluated and by what: the model's files, the harness, the prompts it rendered, and the seeds.
import type { Loaded, ManifestInput, Rendered } from '@assay/protocol';
import { digestOf } from '@assay/store';
import type { Hello } from '@assay/workers';
import type { ModelFiles } from '../preflight/model-files.ts';
import type { RunContext } from '../run-context.ts';

export function describeModel(files: ModelFiles, { effective: { model } }: Loaded, rendered: Rendered): ManifestInput['model'] {
  const { digests } = model;
  return {
    name: files.name,
    path: files.path ?? null,
    revision: digests.revision ?? ('revision' in model ? model.revision : null),
    type: (files.configJson as { model_type?: string } | null)?.model_type ?? null,
    configDigest: digests.configDigest ?? null,
    weights: {
      digest: digestWeights(digests.weights),
      files: digests.weights ?? {},
      bytes: files.weights.reduce((sum, { bytes }) => sum + bytes, 0),
    },
    tokenizerDigest: rendered.tokenizerDigest,
  };
}

export function describeWeights({ effective: { model } }: Loaded): { weights: string | null } {
  return { weights: digestWeights(model.digests.weights) };
}

/** One digest over those of the files; null where the engine has none. */
function digestWeights(files: Readonly<Record<string, string>> = {}): string | null {
  return Object.keys(files).length > 0 ? digestOf(files) : null;
}

export function describeHarness({ config }: RunContext, hello: Hello): ManifestInput['harness'] {
  return {
    name: 'lm_eval', version: hello.packages['lm_eval'] ?? 'unknown', python: hello.python, packages: hello.packages,
    trustRemoteCode: config.trust_remote_code, unsafeCodeConfirmed: config.confirm_run_unsafe_code,
  };
}

export function describePrompts({ config }: RunContext, rendered: Rendered): ManifestInput['prompts'] {
  const { digest, requests, tokens, tokenizerDigest, chatTemplate, chatTemplateDigest, fewshotAsMultiturn, bos } = rendered;
  return {
    digest, requests, tokens, tokenizerDigest, chatTemplate, chatTemplateDigest, fewshotAsMultiturn, bos, overlong: config.overlong,
    systemInstruction: config.system_instruction ?? null,
  };
}

/** The harness's seeds as it applied them, and the engine's as it reports it. */
export function describeSeeds(rendered: Rendered, { effective: { numerics, runSeed } }: Loaded): ManifestInput['seeds'] {
  return {
    ...(rendered.seeds as ManifestInput['seeds']),
    engine: { value: numerics.seed, appliedTo: ['the engine\'s own random state'] },
    request: { value: runSeed, appliedTo: ['each sampled request, with its prompt\'s tokens and its repeat'] },
  };
}
