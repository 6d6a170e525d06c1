// Tests with a world of their own, two at a time.
import { test, type TestContext } from 'vitest';
import { AssayWorld } from './assay-world.ts';
import { inLane } from './lanes.ts';

/** The world must be left empty: no process, socket or temporary file. */
export function testInWorld(title: string, body: (world: AssayWorld, context: TestContext) => Promise<void>): void {
  test.concurrent(title, { timeout: 900_000 }, (context) => inLane(() => tryInWorld((world) => body(world, context), context)));
}

async function tryInWorld(body: (world: AssayWorld) => Promise<void>, { expect }: TestContext): Promise<void> {
  const world = new AssayWorld();
  try {
    await body(world);
    expect(await world.findLeftovers()).toEqual([]);
  } finally {
    await world.remove();
  }
}
