// How a file of a model on the hub is asked for.

export interface HubQuestion {
  id: string;
  revision: string;
  env: Readonly<Record<string, string | undefined>>;
}

const DEFAULT_ENDPOINT = 'https://huggingface.co';

/** Address of the hub, without a slash at its end. */
export function hubEndpoint({ env }: HubQuestion): string {
  return (env['HF_ENDPOINT'] || DEFAULT_ENDPOINT).replace(/\/+$/, '');
}

/** `range` is a pair of offsets, both included. */
export function fetchHubFile(question: HubQuestion, file: string, { signal, range }: { signal: AbortSignal; range?: readonly [number, number] }): Promise<Response> {
  const { id, revision, env } = question;
  const headers = {
    ...(env['HF_TOKEN'] ? { authorization: `Bearer ${env['HF_TOKEN']}` } : {}),
    ...(range ? { range: `bytes=${range[0]}-${range[1]}`, 'accept-encoding': 'identity' } : {}),
  };
  return fetch(`${hubEndpoint(question)}/${id}/resolve/${encodeURIComponent(revision)}/${file}`, { headers, signal });
}
