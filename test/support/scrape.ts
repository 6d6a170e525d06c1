// Reads a run's metrics page while the run lasts, as Prometheus would.
import type { Started } from './assay-world.ts';
import { sleep, waitUntil } from './wait-until.ts';

const INTERVAL_MS = 500;

export interface Scrape {
  atMs: number;
  text: string;
  /** By series as the page spells it: name{label="value"}. */
  values: ReadonlyMap<string, number>;
}

/** Scrapes the run's page until the run is over; the run must have been given `--metrics 127.0.0.1:0`. */
export async function scrapeRun(run: Started): Promise<Scrape[]> {
  const url = await waitUntil('the address of the metrics', () => /http:\/\/\S+\/metrics/.exec(run.stderr())?.[0] ?? (run.isOver() && 'none'));
  const scrapes: Scrape[] = [];
  while (!run.isOver()) {
    const text = await fetch(url).then((response) => response.text()).catch(() => undefined);
    if (text !== undefined) scrapes.push({ atMs: Date.now(), text, values: readPage(text) });
    await sleep(INTERVAL_MS);
  }
  return scrapes;
}

export function readPage(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), readNumber(line.slice(line.lastIndexOf(' ') + 1))]));
}

/** Sum over the series of a metric whose labels hold all of `labels`, such as state="done". */
export function sumSeries({ values }: Pick<Scrape, 'values'>, name: string, ...labels: string[]): number {
  const found = [...values].filter(([series]) => (series === name || series.startsWith(`${name}{`)) && labels.every((label) => series.includes(label)));
  if (found.length === 0) throw new Error(`no series ${name}{${labels.join(', ')}}`);
  return found.reduce((sum, [, value]) => sum + value, 0);
}

/** Prometheus writes NaN, +Inf and -Inf. */
function readNumber(text: string): number {
  return Number(text.replace('Inf', 'Infinity'));
}
