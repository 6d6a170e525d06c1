// The end of a run as people are told it. One long step must not shake it: once it is steady, it goes half of the way to a new
// forecast in a second.

const HALF_LIFE_SECONDS = 1;

export class ToldEnd {
  #last: { endSeconds: number; atSeconds: number } | undefined;

  /** Seconds to tell at `atSeconds` for a forecast of `seconds`. */
  tell(seconds: number, { atSeconds, isSteady }: { atSeconds: number; isSteady: boolean }): number {
    const endSeconds = atSeconds + seconds;
    const last = isSteady ? this.#last : undefined;
    const kept = last === undefined ? 0 : 0.5 ** ((atSeconds - last.atSeconds) / HALF_LIFE_SECONDS);
    this.#last = { endSeconds: kept * (last?.endSeconds ?? 0) + (1 - kept) * endSeconds, atSeconds };
    return Math.max(0, this.#last.endSeconds - atSeconds);
  }
}
