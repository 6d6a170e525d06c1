import { expect, test } from 'vitest';
import { describeForecast } from './forecast.ts';
import { readPage, sumSeries } from './scrape.ts';

const buildScrape = (atSeconds: number, state: string, remaining: string, ratio = 0) => {
  const text = `# HELP x y\nassay_run_state{state="running"} ${Number(state === 'running')}\nassay_run_state{state="scoring"} ${Number(state === 'scoring')}\nassay_run_remaining_seconds ${remaining}\nassay_run_progress_ratio ${ratio}\n`;
  return { atMs: 1_000_000 + atSeconds * 1000, text, values: readPage(text) };
};

test('a page is read by series, NaN and infinities included', () => {
  const page = { values: readPage('a{b="c"} 1\na{b="d"} 2\nab 4\nn Nan\ni +Inf\n') };
  expect([sumSeries(page, 'a'), sumSeries(page, 'a', 'b="d"'), sumSeries(page, 'ab'), sumSeries(page, 'n'), sumSeries(page, 'i')]).toEqual([3, 2, 4, Number.NaN, Infinity]);
  expect(() => sumSeries(page, 'a', 'b="e"')).toThrow('no series a{b="e"}');
});

test('an exact forecast has no error, and one that is off is off by its share of the phase', () => {
  const ends = (told: (left: number) => string) => [
    buildScrape(-5, 'probing', 'NaN'), ...Array.from({ length: 41 }, (_, second) => buildScrape(second, 'running', told(40 - second), second / 40)), buildScrape(41, 'scoring', '0'),
  ];
  expect(describeForecast(ends(String))).toMatchObject({ told: 33, medianShare: 0, worstShare: 0 });
  expect(describeForecast(ends((left) => String(left + 4))).worstShare).toBeCloseTo(0.1);
  expect(describeForecast(ends(() => 'NaN')).told).toBe(0);
});
