// stdout is data: a reader that leaves early (`assay results RUN | head -1`) ends the command without a word. stderr is for
// people: a run goes on when nobody reads it any more.

const BROKEN_PIPE_EXIT_CODE = 141; // 128 + SIGPIPE, as a shell reports it

export function guardOutput({ stdout, stderr }: Pick<NodeJS.Process, 'stdout' | 'stderr'>): void {
  stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(BROKEN_PIPE_EXIT_CODE);
    throw error;
  });
}
