// Shapes of public models for tests, from fixtures/models; each file there names its source.
import deepseek from '../../fixtures/models/deepseek-v3.json' with { type: 'json' };
import gemma2 from '../../fixtures/models/gemma-2-9b.json' with { type: 'json' };
import gemma3 from '../../fixtures/models/gemma-3-1b.json' with { type: 'json' };
import llama from '../../fixtures/models/llama-3.1-8b.json' with { type: 'json' };
import qwenGptq from '../../fixtures/models/qwen2.5-7b-gptq-int4.json' with { type: 'json' };
import smollm from '../../fixtures/models/smollm2-135m.json' with { type: 'json' };
import { type ModelFacts, parseModelFacts } from './model-facts.ts';

export const SMOLLM2_CONFIG = smollm.config;
export const LLAMA_8B_CONFIG = llama.config;
/** Every other layer slides. */
export const GEMMA_2_9B_CONFIG = gemma2.config;
/** Five of six layers slide. */
export const GEMMA_3_1B_CONFIG = gemma3.config;
export const DEEPSEEK_V3_CONFIG = deepseek.config;

/** 28 heads, 4 KV heads, groups of 128. */
export const QWEN_GPTQ_CONFIG = qwenGptq.config;

/** One tensor that holds as many weights as the model has. */
export function factsOf(config: Readonly<Record<string, unknown>>, parameters: number, dtype = 'BF16'): ModelFacts {
  const bytes = parameters * (dtype === 'F32' ? 4 : 2);
  return parseModelFacts(config, [{ 'model.weight': { dtype, shape: [parameters], bytes } }]);
}

export const smollm2 = factsOf(SMOLLM2_CONFIG, 134_515_008);
