// Shows each step and its time on stderr; on a terminal the time runs while the step does.
const isTerminal = process.stderr.isTTY === true;
const write = (text) => process.stderr.write(text);
const seconds = (startMs) => `${((performance.now() - startMs) / 1000).toFixed(1)} s`;

export const say = (text) => write(`${text}\n`);

/** Runs one step under its title; `work` may return a short note to show beside the time. */
export async function showStep(title, work) {
  const startMs = performance.now();
  const label = `  ${title} `.padEnd(58, '.');
  write(label);
  const ticker = isTerminal ? setInterval(() => write(`\r${label} ${seconds(startMs)}`), 1000) : undefined;
  try {
    const note = await work();
    write(`${isTerminal ? `\r${label}` : ''} ${seconds(startMs)}${note ? `  ${note}` : ''}\n`);
  } catch (error) {
    write(`${isTerminal ? `\r${label}` : ''} failed after ${seconds(startMs)}\n`);
    throw error;
  } finally {
    clearInterval(ticker);
  }
}
