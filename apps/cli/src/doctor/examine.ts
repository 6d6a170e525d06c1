// Collects all facts of this machine, then the findings: the value that `assay doctor --json` writes.
import { AssayError } from '@assay/domain';
import { checkModel, examinePython, examineRedis, type PythonFacts, type RedisFacts } from '@assay/pipeline';
import { type AssayEnvironment, readCodeVersion, readEnvironment, resolveHome } from '@assay/store';
import type { Surroundings } from '../surroundings.ts';
import { diagnose, type Finding, type Trouble } from './diagnose.ts';
import { type HomeEntry, measureHome } from './measure-home.ts';
import { type MachineFacts, probeMachine } from './probe-machine.ts';

export interface DoctorReport {
  usable: boolean;
  version: string;
  home: string;
  /** The engine's interpreter; null where there is none. */
  python: string | null;
  /** Folder of the demo model; null where there is none. */
  demoModel: string | null;
  redis: RedisFacts;
  machine: MachineFacts;
  versions: Record<string, string>;
  findings: Finding[];
  homeEntries: HomeEntry[];
}

export async function examine({ env, cwd }: Pick<Surroundings, 'env' | 'cwd'>): Promise<DoctorReport> {
  const home = resolveHome(env);
  const environment = readEnvironment(home, env);
  const [machine, python, redis, demoModel, homeEntries, code] = await Promise.all([
    probeMachine(home, env),
    environment && orTrouble(examinePython(environment.python, env)),
    examineRedis({ env, embeddedServer: environment?.redisServer }),
    examineDemoModel(environment, { env, cwd }),
    measureHome(home),
    readCodeVersion(),
  ]);
  const findings = diagnose({ home, machine, pythonPath: environment?.python, python, redis, demoModel });
  return {
    usable: findings.every(({ level }) => level !== 'problem'),
    version: code.version,
    home,
    python: environment?.python ?? null,
    demoModel: environment?.demoModel ?? null,
    redis,
    machine,
    versions: python === undefined || 'problem' in python ? {} : { python: python.version, ...python.packages },
    findings,
    homeEntries,
  };
}

async function examineDemoModel(environment: AssayEnvironment | undefined, { env, cwd }: Pick<Surroundings, 'env' | 'cwd'>): Promise<Trouble | null | undefined> {
  if (environment?.demoModel === undefined) return undefined;
  return orTrouble(checkModel({ modelArgs: { pretrained: environment.demoModel }, env, cwd }).then(() => null));
}

/** What a check finds wrong is a fact like others. */
async function orTrouble<Facts extends PythonFacts | null>(check: Promise<Facts>): Promise<Facts | Trouble> {
  return check.catch((thrown: unknown) => {
    if (thrown instanceof AssayError) return { problem: thrown.message, remedy: thrown.remedy };
    throw thrown;
  });
}
