// Ports of the engines: each process that loads gets a range of its own, in which vLLM's get_open_port looks. Left alone it draws
// a port, gives it back and binds it later, which several engines that start at once do to each other. vLLM 0.32 lets ranks meet
// over a file instead, but for ROCm's AITER kernels and some connectors; where it asks for a port, it is one of these.
import { countRanges, drawPort, leasePortRange, type PortRange } from '@assay/store';

export class EnginePorts {
  readonly #home: string;
  readonly #firstPort: number | undefined;
  /** Ranges of the replicas, by number. */
  readonly #held = new Map<number, PortRange>();
  #place: number;

  /** VLLM_PORT of `env` says where the ranges begin; else runs begin at different ones. */
  constructor(home: string, env: Readonly<Record<string, string | undefined>>) {
    this.#home = home;
    const asked = Number(env['VLLM_PORT'] || undefined);
    this.#firstPort = Number.isInteger(asked) && asked > 0 && asked < 65_536 ? asked : undefined;
    this.#place = this.#firstPort === undefined ? process.pid % countRanges() : 0;
  }

  /** Environment of the replica's next load. Never the range that it had before: something else may be on it. */
  async take(replica: number): Promise<Record<string, string>> {
    const before = this.#held.get(replica);
    const place = this.#place;
    this.#place += 1;
    const range = await leasePortRange(this.#home, { place, firstPort: this.#firstPort });
    before?.release();
    this.#held.delete(replica);
    // Where all are in use: a drawn one, as vLLM would take. The user's own would be inherited, and is the same for all replicas.
    if (range === undefined) return { VLLM_PORT: String(await drawPort()) };
    this.#place = Math.max(this.#place, range.place + 1);
    this.#held.set(replica, range);
    return { VLLM_PORT: String(range.first) };
  }

  /** Gives all back; harmless when repeated. */
  release(): void {
    for (const range of this.#held.values()) range.release();
    this.#held.clear();
  }
}
