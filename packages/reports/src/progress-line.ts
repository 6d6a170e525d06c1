// The progress of a run on one line that fits its width: bar, share of the work, requests, shards, and the time that is left.
import { formatSeconds, formatShare } from './format-numbers.ts';

interface ProgressView {
  finalRequests: number;
  totalRequests: number;
  shardsDone: number;
  shardsTotal: number;
  workersReady: number;
  remaining: { seconds: number | null; fraction: number };
  elapsedSeconds: number;
}

interface ProgressStyle {
  /** Columns of the terminal. */
  width: number;
  /** Block characters; otherwise # and -. */
  unicode: boolean;
}

const MIN_BAR = 8;
const MAX_BAR = 40;

/** Parts that do not fit are left out from the least important on; the line never wraps. */
export function renderProgress(view: ProgressView, { width, unicode }: ProgressStyle): string {
  const fraction = Math.min(1, Math.max(0, view.remaining.fraction));
  const parts = [
    formatShare(fraction),
    view.remaining.seconds === null ? 'time left unknown' : `${formatSeconds(view.remaining.seconds)} left`,
    `${view.finalRequests}/${view.totalRequests} requests`,
    `${formatSeconds(view.elapsedSeconds)} so far`,
    `${view.shardsDone}/${view.shardsTotal} shards`,
    view.workersReady === 1 ? '' : `${view.workersReady} workers`,
  ].filter((part) => part !== '');
  let text = parts.shift()!;
  for (const part of parts) {
    if (text.length + part.length + 3 + MIN_BAR + 1 > width) break;
    text = `${text} · ${part}`;
  }
  const room = width - text.length - 1;
  if (room < MIN_BAR) return text.slice(0, Math.max(0, width));
  return `${renderBar(fraction, Math.min(MAX_BAR, room), unicode)} ${unicode ? text : text.replaceAll('·', '|')}`;
}

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

function renderBar(fraction: number, width: number, unicode: boolean): string {
  if (!unicode) return '#'.repeat(Math.floor(fraction * width)).padEnd(width, '-');
  const eighths = Math.floor(fraction * width * 8);
  return `${'█'.repeat(Math.floor(eighths / 8))}${EIGHTHS[eighths % 8]}`.padEnd(width, '░');
}
