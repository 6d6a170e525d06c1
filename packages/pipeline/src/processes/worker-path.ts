// Where the workers' program lies. A path, not an import: processes meet over the protocol.
import { fileURLToPath } from 'node:url';

/** The folder that holds the assay_worker package. */
export const WORKER_PATH: string = fileURLToPath(new URL('../../../../apps/worker', import.meta.url));
