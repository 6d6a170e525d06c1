// How honest a run's estimate of its remaining time was, once it showed a fifth as done: each scrape's forecast of the end against the end.
import { type Scrape, sumSeries } from './scrape.ts';

/** "once a fifth is done". */
const SETTLED_SHARE = 0.2;

interface Forecast {
  /** Forecasts given once a fifth was shown as done. */
  told: number;
  /** Errors of those, as shares of the request phase. */
  medianShare: number;
  worstShare: number;
  line: string;
}

export function describeForecast(scrapes: readonly Scrape[]): Forecast {
  const running = scrapes.filter((scrape) => sumSeries(scrape, 'assay_run_state', 'state="running"') === 1);
  const [startMs, endMs] = [running[0]?.atMs ?? 0, running.at(-1)?.atMs ?? 0];
  const seconds = (endMs - startMs) / 1000;
  const errors = running
    .filter((scrape) => sumSeries(scrape, 'assay_run_progress_ratio') >= SETTLED_SHARE)
    .map((scrape) => Math.abs(scrape.atMs - endMs + sumSeries(scrape, 'assay_run_remaining_seconds') * 1000) / (endMs - startMs))
    .filter((error) => !Number.isNaN(error))
    .toSorted((a, b) => a - b);
  const worstShare = errors.at(-1) ?? Number.NaN;
  const median = errors[Math.floor(errors.length / 2)] ?? Number.NaN;
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
  return {
    told: errors.length,
    medianShare: median,
    worstShare,
    line: `forecast of the end of ${seconds.toFixed(1)} s, once a fifth was done: ${errors.length} forecasts, median error ${percent(median)}, worst ${percent(worstShare)}`,
  };
}
