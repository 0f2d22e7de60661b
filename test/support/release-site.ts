/**
 * Simulates the sites of the official releases: the same paths, small programs, and the network faults
 * that affect downloads.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { CONTROL_PLANE_VERSION, ETCD_VERSION } from '../../src/local/binaries/versions.ts';

export interface ReleaseSite {
  /** Environment variables for the program under test. */
  readonly env: { readonly KUBENODE_KUBE_DOWNLOADS: string; readonly KUBENODE_ETCD_DOWNLOADS: string };
  readonly url: string;
  /** Requested paths in order, with the range if there was one. */
  readonly asked: string[];
  /** Content by path; change it to serve something else. */
  readonly files: Map<string, Buffer>;
  /** Breaks the connections that wait for it. Call it once the bytes have arrived: bytes in flight would be lost. */
  cut(): void;
  /** Faults for the next requests of that path, one each. */
  fail(path: string, ...faults: Fault[]): void;
  close(): Promise<void>;
}

export type Fault =
  | { readonly kind: 'status'; readonly status: number }
  /** After this many bytes the connection waits for `cut`, and breaks. */
  | { readonly kind: 'cut'; readonly after: number }
  /** After this many bytes the connection stays open but idle. */
  | { readonly kind: 'silence'; readonly after: number }
  /** Ignores the requested range and sends everything. */
  | { readonly kind: 'whole' };

export const ARCH = 'amd64';
export const KUBE_PROGRAMS = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubectl',
  'kubelet',
];
export const ETCD_ARCHIVE = `etcd-${ETCD_VERSION}-linux-${ARCH}.tar.gz`;

export function kubePath(name: string): string {
  return `/kube/${CONTROL_PLANE_VERSION}/bin/linux/${ARCH}/${name}`;
}

export function etcdPath(name: string): string {
  return `/etcd/${ETCD_VERSION}/${name}`;
}

/** A program that prints its name. */
export function programText(name: string): Buffer {
  return Buffer.from(`#!/bin/sh\n# ${'.'.repeat(5000)}\necho ${name}\n`);
}

export async function releaseSite(): Promise<ReleaseSite> {
  const files = new Map<string, Buffer>();
  for (const name of KUBE_PROGRAMS) {
    files.set(kubePath(name), programText(name));
    files.set(`${kubePath(name)}.sha256`, Buffer.from(sum(programText(name))));
  }
  const folder = ETCD_ARCHIVE.replace('.tar.gz', '');
  const archive = tarGz([
    { path: `${folder}/`, type: '5', content: Buffer.alloc(0) },
    { path: `${folder}/README-etcd`, type: '0', content: Buffer.from('etcd') },
    { path: `${folder}/etcd`, type: '0', content: programText('etcd') },
  ]);
  files.set(etcdPath(ETCD_ARCHIVE), archive);
  files.set(
    etcdPath('SHA256SUMS'),
    Buffer.from(`${'0'.repeat(64)}  other.zip\n${sum(archive)}  ${ETCD_ARCHIVE}\n`),
  );

  const asked: string[] = [];
  const faults = new Map<string, Fault[]>();
  const waiting = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(request.headers.range === undefined ? path : `${path} ${request.headers.range}`);
    answer(request, response, { content: files.get(path), fault: faults.get(path)?.shift(), waiting });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  return {
    env: { KUBENODE_KUBE_DOWNLOADS: `${url}/kube`, KUBENODE_ETCD_DOWNLOADS: `${url}/etcd` },
    url,
    asked,
    files,
    cut() {
      for (const response of waiting) response.destroy();
      waiting.clear();
    },
    fail: (path, ...list) => void faults.set(path, list),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Served {
  readonly content: Buffer | undefined;
  readonly fault: Fault | undefined;
  readonly waiting: Set<ServerResponse>;
}

function answer(request: IncomingMessage, response: ServerResponse, served: Served): void {
  const { content, fault } = served;
  if (fault?.kind === 'status') return void response.writeHead(fault.status).end();
  if (!content) return void response.writeHead(404).end();
  const from = startOf(request, fault);
  if (from >= content.length) return void response.writeHead(416).end();
  const rest = content.subarray(from);
  response.writeHead(from > 0 ? 206 : 200, { 'content-length': rest.length });
  send(response, rest, served);
}

function startOf({ headers: { range = '' } }: IncomingMessage, fault: Fault | undefined): number {
  return fault?.kind === 'whole' ? 0 : Number(/^bytes=(\d+)-$/.exec(range)?.[1] ?? 0);
}

function send(response: ServerResponse, rest: Buffer, { fault, waiting }: Served): void {
  if (fault?.kind !== 'cut' && fault?.kind !== 'silence') return void response.end(rest);
  response.write(rest.subarray(0, fault.after));
  if (fault.kind === 'cut') waiting.add(response);
}

export interface TarEntry {
  readonly path: string;
  readonly type: string;
  readonly content: Buffer;
}

export function tarGz(entries: readonly TarEntry[]): Buffer {
  return gzipSync(Buffer.concat([...entries.flatMap(tarBlocks), Buffer.alloc(1024)]));
}

function tarBlocks({ path, type, content }: TarEntry): Buffer[] {
  const header = Buffer.alloc(512);
  header.write(path, 0);
  header.write('0000755\0', 100);
  header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write(type, 156);
  header.write('ustar\0', 257);
  return [header, content, Buffer.alloc((512 - (content.length % 512)) % 512)];
}

export function sum(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
