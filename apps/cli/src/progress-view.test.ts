import type { RunProgress } from '@assay/pipeline';
import type { MetricRow } from '@assay/protocol';
import { expect, test } from 'vitest';
import { ProgressView } from './progress-view.ts';

function openView({ isTTY }: { isTTY: boolean }) {
  const written: string[] = [];
  const clock = { ms: 0 };
  const view = new ProgressView({ sink: { write: (text) => written.push(text), isTTY, columns: 80 }, now: () => clock.ms, unicode: true });
  return { view, written, clock };
}

const progress = (finalRequests: number): RunProgress => ({
  finalRequests, totalRequests: 10, openRequests: 10 - finalRequests, shardsDone: 0, shardsTotal: 2, workersReady: 1,
  remaining: { seconds: 5, fraction: finalRequests / 10 }, elapsedSeconds: 3,
});

test('on a terminal one line is rewritten, and other lines push it down whole', () => {
  const { view, written } = openView({ isTTY: true });
  view.onProgress(progress(1));
  view.onProgress(progress(2));
  view.onWarning('slow');
  view.onProgress(progress(3));
  view.end();
  const screen = written.join('');
  expect(screen.split('\n').map((line) => line.split('\u001B[2K').at(-1)?.slice(0, 13))).toEqual(['warning: slow', expect.stringMatching(/^█/), '']);
  expect(written.filter((text) => text.includes('2/10')).every((text) => text.length < 90)).toBe(true);
});

test('elsewhere progress is a line every ten seconds, and the end is always shown', () => {
  const { view, written, clock } = openView({ isTTY: false });
  for (const [ms, done] of [[0, 0], [4000, 1], [9999, 2], [10_000, 3], [12_000, 4], [13_000, 10]] as const) {
    clock.ms = ms;
    view.onProgress(progress(done));
  }
  expect(written.map((line) => /(\d+)\/10/.exec(line)?.[1])).toEqual(['0', '3', '10']);
  expect(written.every((line) => line.endsWith('\n') && !line.includes('\u001B'))).toBe(true);
});

test('a scored task is one line, a metric that failed is named', () => {
  const { view, written } = openView({ isTTY: false });
  const row: MetricRow = { task: 't', alias: 't', version: 1, filter: 'none', numFewshot: 0, metric: 'acc', value: 0.5, stderr: null, higherIsBetter: true, group: false };
  view.onTaskScored([row, { ...row, metric: 'f1', filter: 'strict', value: null, error: 'boom' }]);
  expect(written).toEqual(['scored  t: acc 0.5000, f1 (strict) failed\n']);
});

test('notes and warnings are shown without secrets', () => {
  const { view, written } = openView({ isTTY: false });
  view.onNote('note: hf_token=plain-value');
  view.onWarning('redis://me:plain-value@host did not answer');
  expect(written.join('')).toBe('note: hf_token=[redacted]\nwarning: redis://[redacted]@host did not answer\n');
});
