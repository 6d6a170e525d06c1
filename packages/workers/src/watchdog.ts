// Ends a worker that lives but does nothing. Progress counts, not time: a slow load that still advances is left alone.
import type { WorkerHandle } from './worker-handle.ts';

interface WatchOptions {
  /** Longest time without progress while it loads or works; the configuration's stall_timeout. */
  stallTimeoutMs: number;
  /** Longest time a load may take in all, however much it advances; no limit when absent. */
  loadTimeoutMs?: number;
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
  let loadingSinceMs: number | undefined;
  let cancel = setTimer(check, periodMs);
  let isOver = false;

  function check(): void {
    if (isOver) return;
    loadingSinceMs = worker.state === 'loading' ? (loadingSinceMs ?? now()) : undefined;
    const reason = findReason(worker, options, { nowMs: now(), loadingSinceMs });
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

function findReason(
  worker: Watched,
  { stallTimeoutMs, loadTimeoutMs }: WatchOptions,
  { nowMs, loadingSinceMs }: { nowMs: number; loadingSinceMs: number | undefined },
): string | undefined {
  if (worker.state !== 'loading' && worker.state !== 'busy') return undefined;
  if (nowMs - worker.lastProgressAtMs > stallTimeoutMs) {
    return `no progress for ${stallTimeoutMs / 1000} s while ${worker.state} (stall_timeout)`;
  }
  if (loadTimeoutMs !== undefined && loadingSinceMs !== undefined && nowMs - loadingSinceMs > loadTimeoutMs) {
    return `loading took longer than ${loadTimeoutMs / 1000} s`;
  }
  return undefined;
}

function setRealTimer(callback: () => void, delayMs: number): () => void {
  const timer = setTimeout(callback, delayMs);
  timer.unref();
  return () => clearTimeout(timer);
}
