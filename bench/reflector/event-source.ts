/**
 * Simulates an API server with these Nodes: its lists are recordings of a real one, its watch changes them at a constant
 * rate. So the lateness of an event is caused by its reader, not by a server that is busy with writes.
 */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { ListPage } from '../../src/kube/client/client.ts';
import { createAuthority, issueCertificate } from '../../src/local/pki/certificate.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { SENT } from './nodes.ts';

export interface EventSource {
  readonly kubeconfig: string;
  /** Resolves when all events are sent. */
  send(perSecond: number, seconds: number): Promise<void>;
  close(): Promise<void>;
}

const clock = createSystemClock();

export async function eventSource(pages: readonly ListPage[], folder: string): Promise<EventSource> {
  const watches = new Set<ServerResponse>();
  const authority = createAuthority('bench authority', clock.now(), 1);
  const request = { usage: 'server', names: ['127.0.0.1'], now: clock.now(), seconds: 86_400 } as const;
  const { certPem, keyPem } = issueCertificate(authority, { ...request, subject: { commonName: 'bench' } });
  const server = createServer({ cert: certPem, key: keyPem }, ({ url }, response) => {
    const query = new URL(url ?? '', 'https://bench').searchParams;
    response.setHeader('content-type', 'application/json');
    if (query.has('watch')) {
      response.flushHeaders();
      watches.add(response);
      response.on('close', () => watches.delete(response));
    } else response.end(listOf(pages, query));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    kubeconfig: kubeconfigFor(url, authority.certPem, folder),
    send: (perSecond, seconds) => send(pages, watches, { perSecond, seconds }),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The continue token is the number of the page. Without a limit, all pages. */
function listOf(pages: readonly ListPage[], query: URLSearchParams): string {
  const index = Number(query.get('continue') ?? 0);
  const items = query.has('limit') ? (pages[index]?.items ?? []) : pages.flatMap((page) => page.items);
  const more = query.has('limit') && index + 1 < pages.length ? { continue: String(index + 1) } : {};
  const metadata = { resourceVersion: pages[0]?.resourceVersion, ...more };
  return JSON.stringify({ kind: 'NodeList', apiVersion: 'v1', metadata, items });
}

interface Pace {
  readonly perSecond: number;
  readonly seconds: number;
}

async function send(
  pages: readonly ListPage[],
  watches: ReadonlySet<ServerResponse>,
  pace: Pace,
): Promise<void> {
  const nodes = pages.flatMap((page) => page.items);
  const first = Number(pages[0]?.resourceVersion) + 1;
  const startMs = clock.monotonicMs();
  for (let event = 0; event < pace.perSecond * pace.seconds; event += 1) {
    const dueMs = startMs + (event * 1000) / pace.perSecond;
    const earlyMs = dueMs - clock.monotonicMs();
    if (earlyMs > 0) await clock.sleep(earlyMs);
    const node = nodes[event % nodes.length];
    if (!node) throw new Error('there are no nodes');
    const annotations = { ...node.metadata.annotations, [SENT]: String(clock.now().getTime()) };
    const metadata = { ...node.metadata, annotations, resourceVersion: String(first + event) };
    const line = `${JSON.stringify({ type: 'MODIFIED', object: { ...node, metadata } })}\n`;
    for (const watch of watches) watch.write(line);
  }
}

function kubeconfigFor(server: string, caPem: string, folder: string): string {
  const file = join(folder, 'kubeconfig');
  const ca = Buffer.from(caPem).toString('base64');
  const config = {
    'current-context': 'bench',
    clusters: [{ name: 'bench', cluster: { server, 'certificate-authority-data': ca } }],
    users: [{ name: 'bench', user: {} }],
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench' } }],
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}
