// `node setup/main.mjs setup|demo|test [arguments]`: the only code that runs on the system's own Node, with built-ins only.
const [major] = process.versions.node.split('.');
const [command, ...args] = process.argv.slice(2);

const COMMANDS = {
  setup: async () => 0,
  demo: async (environment) => (await import('./demo.mjs')).runDemo(environment, args),
  test: async (environment) => (await import('./tests.mjs')).runTests(environment, args),
};

async function main() {
  if (Number(major) < 20) return refuse(`Node ${process.versions.node} is too old: 20 is needed`, 'Install Node 20 or newer with npm.', 3);
  if (!Object.hasOwn(COMMANDS, command ?? '')) return refuse(`unknown command "${command ?? ''}"`, 'Use `npm run setup`, `npm run demo` or `npm test`.', 2);
  const { SetupError } = await import('./failure.mjs');
  try {
    const { setUp } = await import('./setup.mjs');
    return await COMMANDS[command](await setUp());
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    for (const line of error.detail) process.stderr.write(`    ${line}\n`);
    return refuse(error.message, error.remedy, 3);
  }
}

function refuse(what, remedy, exitCode) {
  process.stderr.write(`${what}\n${remedy}\n`);
  return exitCode;
}

main().then(
  (exitCode) => { process.exitCode = exitCode; },
  (error) => {
    process.stderr.write(`${error.stack}\nThis is a defect in Assay's set-up; please report it.\n`);
    process.exitCode = 70;
  },
);
