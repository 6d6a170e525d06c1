// The share of a run's wall time in which no engine worker was computing, by cause.
import { formatSeconds, formatShare } from './format-numbers.ts';

interface IdleView {
  wallSeconds: number;
  computingSeconds: number;
  idleSeconds: Readonly<Record<string, number>>;
}

/** One line, the largest cause first. */
export function renderIdle({ wallSeconds, computingSeconds, idleSeconds }: IdleView): string {
  if (wallSeconds <= 0) return 'idle    nothing has run yet';
  const shareOf = (seconds: number) => Math.min(1, Math.max(0, seconds / wallSeconds));
  const causes = Object.entries(idleSeconds).filter(([, seconds]) => seconds > 0).toSorted(([, a], [, b]) => b - a);
  const detail = causes.map(([cause, seconds]) => `${cause} ${formatShare(shareOf(seconds))}`).join(', ');
  const idle = shareOf(wallSeconds - computingSeconds);
  return `idle    no engine worker was computing in ${formatShare(idle)} of ${formatSeconds(wallSeconds)}${detail === '' ? '' : `: ${detail}`}`;
}
