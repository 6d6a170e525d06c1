// Serves the metrics page while a run lasts. It never keeps the process alive.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AssayError } from '@assay/domain';
import type { Metrics } from './metrics.ts';

export interface MetricsServer {
  /** HOST:PORT as bound: the port is the real one where 0 was asked for. */
  address: string;
  close(): Promise<void>;
}

interface ListenAddress {
  host: string;
  port: number;
}

const LISTEN_PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process listens there',
  EACCES: 'this user may not use that port',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'no such host',
};

/** Splits HOST:PORT at its last colon. */
export function parseListenAddress(text: string): ListenAddress {
  const at = text.lastIndexOf(':');
  return { host: text.slice(0, at).replace(/^\[(.*)\]$/, '$1'), port: Number(text.slice(at + 1)) };
}

/** Listens, or throws ADDRESS_IN_USE. */
export async function serveMetrics(metrics: Metrics, { host, port }: ListenAddress): Promise<MetricsServer> {
  const server = createServer((request, response) => void answer(metrics, request, response));
  await listen(server, { host, port });
  server.unref();
  const { port: bound } = server.address() as AddressInfo;
  return { address: formatAddress(host, bound), close: () => closeServer(server) };
}

async function answer(metrics: Metrics, { method, url }: IncomingMessage, response: ServerResponse): Promise<void> {
  if (method !== 'GET' && method !== 'HEAD') return void response.writeHead(405, { allow: 'GET, HEAD' }).end();
  if (url?.split('?')[0] !== '/metrics') return void response.writeHead(404, { 'content-type': 'text/plain' }).end('see /metrics\n');
  const page = await metrics.render();
  response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(page);
}

function listen(server: Server, address: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => {
      const problem = LISTEN_PROBLEMS[error.code ?? ''] ?? error.message;
      reject(new AssayError('ADDRESS_IN_USE', { address: formatAddress(address.host, address.port), problem }, { cause: error }));
    };
    server.once('error', fail);
    try {
      server.listen(address.port, address.host, () => {
        server.off('error', fail);
        resolve();
      });
    } catch (error) {
      // A port out of range is refused at once.
      fail(error as NodeJS.ErrnoException);
    }
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function formatAddress(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
