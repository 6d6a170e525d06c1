// SEAL: the manifest, composed from the record and renamed in last. Its presence means that the run is complete.
import { sealManifest } from '@assay/store';
import { composeManifest, type SealInput } from '../manifest/compose-manifest.ts';
import type { RunContext } from '../run-context.ts';

export async function sealRun(context: RunContext, input: SealInput): Promise<void> {
  const manifest = await composeManifest(context, input);
  const digest = await sealManifest(context.run.dir, manifest);
  await context.events.append({ type: 'sealed', epoch: context.epoch, digest });
}
