// stdout is data: a reader that leaves early (`assay results RUN | head -1`) ends the command without a word. stderr is for
// people: a run goes on, or comes to its end in order, when nobody reads it any more. A terminal that was closed is no reader
// who left: its SIGHUP says what becomes of the command.

const BROKEN_PIPE_EXIT_CODE = 141; // 128 + SIGPIPE, as a shell reports it

/** What writing to a terminal fails with once it is closed. */
const CLOSED_TERMINAL = 'EIO';

interface Output {
  on(event: 'error', listener: (error: NodeJS.ErrnoException) => void): unknown;
}

interface Outputs {
  stdout: Output;
  stderr: Output;
  exit(code: number): void;
}

export function guardOutput({ stdout, stderr, exit }: Outputs): void {
  stderr.on('error', (error) => {
    if (error.code !== 'EPIPE' && error.code !== CLOSED_TERMINAL) throw error;
  });
  stdout.on('error', (error) => {
    if (error.code === CLOSED_TERMINAL) return;
    if (error.code !== 'EPIPE') throw error;
    exit(BROKEN_PIPE_EXIT_CODE);
  });
}
