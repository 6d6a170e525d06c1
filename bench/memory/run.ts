// The memory model against the real engine: each setting's measured peak is held against the raw estimate, and against one
// corrected by what the OTHER settings have shown; on CPU resident memory and address space, each with its own kind. Prints a
// table and one line for scripts; exit 1 where a corrected error is above 10 %. Usage: node bench/memory/run.ts [MEASURED.json]
// A file that is there is read instead of measuring; one that is not is written.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { MIB } from '@assay/domain';
import { checkModel, readNodeFacts } from '@assay/pipeline';
import { correctionBytes, estimateMemory, fitResidual, type MemoryKind, observeMemory, parseModelFacts } from '@assay/planner';
import { cloneDir, readSetUp } from '../timed-command.ts';
import { type Measurements, measureAll } from './measure.ts';

interface ErrorPair {
  raw: number;
  corrected: number;
}

const MOST_ERROR = 0.1;
const KINDS: readonly MemoryKind[] = ['resident', 'address_space', 'device'];

const model = await checkModel({ modelArgs: { pretrained: readSetUp().demoModel }, env: process.env, cwd: cloneDir });
const facts = parseModelFacts(model.configJson, model.headers);
const file = process.argv[2];
const isThere = file !== undefined && existsSync(file);
const measurements = isThere ? (JSON.parse(readFileSync(file, 'utf8')) as Measurements) : await measureAll(facts, await readNodeFacts(process.env));
if (file && !isThere) writeFileSync(file, `${JSON.stringify(measurements, null, 1)}\n`);

const errors = KINDS.flatMap(compare);
const worst = (pick: (error: ErrorPair) => number) => Math.max(...errors.map((error) => Math.abs(pick(error))));
const [raw, corrected] = [worst((error) => error.raw), worst((error) => error.corrected)];
console.log(`memory settings=${measurements.settings.length} raw_worst=${percent(raw)} corrected_worst=${percent(corrected)}`);
if (!(corrected <= MOST_ERROR)) process.exitCode = 1;

/** The errors of every setting that was measured in this kind of memory. */
function compare(kind: MemoryKind): ErrorPair[] {
  const settings = measurements.settings.flatMap(({ name, plan, workload, peakBytes: { [kind]: bytes } }) => (
    bytes === undefined ? [] : [{ name, observation: observeMemory(estimateMemory({ facts, plan, workload, kind }), bytes) }]));
  return settings.map(({ name, observation }) => {
    const residual = fitResidual(settings.filter((other) => other.name !== name).map((other) => other.observation));
    const { predictedBytes, measuredBytes } = observation;
    const error = { raw: predictedBytes / measuredBytes - 1, corrected: (predictedBytes + correctionBytes(residual, observation)) / measuredBytes - 1 };
    console.log([kind.padEnd(13), name.padEnd(50), `${(measuredBytes / MIB).toFixed(0).padStart(6)} MiB`, `raw ${percent(error.raw).padStart(6)}`,
      `corrected ${percent(error.corrected).padStart(6)}`].join('  '));
    return error;
  });
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)}%`;
}
