// What share of its device's published peaks one rank reaches, by what it does there.
import type { DeviceKind } from '../node/device-kinds.ts';
import { RUN_DTYPE_BYTES } from '../model/dtypes.ts';
import type { ModelFacts } from '../model/model-facts.ts';
import type { Plan } from '../plan.ts';

/** What share of the peaks engines reach: 0.5 to 0.65 of the operations and 0.6 to 0.8 of the bandwidth are reported for GPUs. */
const REACHED = { flops: 0.55, bandwidth: 0.7 } as const;
// On CPU the figures are measured ones; decoding ran at 830 output tokens a second eager, 1,100 compiled, against 2,850 of prompt.
const CPU_DECODE_SHARE = { eager: 0.29, compiled: 0.39 } as const;

interface RankOnDevice {
  facts: Pick<ModelFacts, 'quantization'>;
  plan: Pick<Plan, 'device' | 'dtype' | 'enforceEager' | 'threadsPerWorker'>;
  kind: Pick<DeviceKind, 'flops' | 'bytesPerSecond'>;
}

interface Speeds {
  flops: number;
  bytesPerSecond: number;
}

/** Of one rank. */
export function speedsOf({ facts, plan, kind }: RankOnDevice, phase: 'prefill' | 'decode'): Speeds {
  const flops = peakFlops(facts, plan, kind);
  if (plan.device === 'cuda') return { flops: flops * REACHED.flops, bytesPerSecond: kind.bytesPerSecond * REACHED.bandwidth };
  const share = phase === 'prefill' ? 1 : CPU_DECODE_SHARE[plan.enforceEager ? 'eager' : 'compiled'];
  return { flops: flops * plan.threadsPerWorker * share, bytesPerSecond: kind.bytesPerSecond * plan.threadsPerWorker };
}

// Only weights that are multiplied in 8 bit use those units; GPTQ, AWQ and bitsandbytes unpack to 16 bit first.
const EIGHT_BIT_METHODS = new Set(['fp8', 'compressed-tensors', 'modelopt']);

function peakFlops({ quantization }: RankOnDevice['facts'], { dtype }: RankOnDevice['plan'], { flops }: RankOnDevice['kind']): number {
  if (RUN_DTYPE_BYTES[dtype] === 4) return flops.bits32;
  const isEightBit = quantization?.bits === 8 && EIGHT_BIT_METHODS.has(quantization.method);
  return (isEightBit ? flops.bits8 : undefined) ?? flops.bits16;
}
