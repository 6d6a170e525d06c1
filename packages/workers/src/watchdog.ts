// Ends a worker that lives but does nothing. Progress counts, not time: a slow load that still advances is left alone.
import type { WorkerHandle } from './worker-handle.ts';

interface WatchOptions {
  /** Longest time without progress while it loads or works; the configuration's stall_timeout. */
  stallTimeoutMs: number;
  onStalled?: (reason: string) => void;
  now?: () => number;
  /** Calls back after a time; returns what cancels it. */
  setTimer?: (callback: () => void, delayMs: number) => () => void;
}

type Watched = Pick<WorkerHandle, 'state' | 'lastProgressAtMs' | 'kill' | 'exited'>;

/** Returns what stops the watch; it also stops when the worker ends. */
export function watchProgress(worker: Watched, options: WatchOptions): () => void {
  const { now = Date.now, setTimer = setRealTimer } = options;
  const periodMs = Math.max(10, Math.min(1_000, options.stallTimeoutMs / 5));
  let cancel = setTimer(check, periodMs);
  let isOver = false;

  function check(): void {
    if (isOver) return;
    const reason = findReason(worker, options.stallTimeoutMs, now());
    if (reason === undefined) {
      cancel = setTimer(check, periodMs);
      return;
    }
    isOver = true;
    options.onStalled?.(reason);
    void worker.kill(reason, { dumpStacks: true });
  }

  function stop(): void {
    isOver = true;
    cancel();
  }
  void worker.exited.then(stop);
  return stop;
}

function findReason({ state, lastProgressAtMs }: Watched, stallTimeoutMs: number, nowMs: number): string | undefined {
  const isAtWork = state === 'loading' || state === 'busy';
  return isAtWork && nowMs - lastProgressAtMs > stallTimeoutMs ? `no progress for ${stallTimeoutMs / 1000} s while ${state} (stall_timeout)` : undefined;
}

function setRealTimer(callback: () => void, delayMs: number): () => void {
  const timer = setTimeout(callback, delayMs);
  timer.unref();
  return () => clearTimeout(timer);
}
