/** `kubenode controllers --cluster-api` with its update extension, in a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { createAuthority } from '../../src/local/pki/certificate.ts';
import { findFreePort } from '../../src/os/net/ports.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { serverCertificate } from '../../test/support/cluster-api/core.ts';
import { eventually } from '../../test/support/eventually.ts';
import { KUBENODE_FLAGS } from '../bench.ts';
import { readUsage } from '../sync/usage.ts';

const BIN = new URL('../../bin/kubenode.js', import.meta.url).pathname;
const STARTED = 'update extension of Cluster API started';
/** Collects garbage and prints what is left, at a signal. */
const HEAP_REPORT = `process.on('SIGUSR2', () => { globalThis.gc(); process.stderr.write('heapUsed=' + process.memoryUsage().heapUsed + ';\\n'); });`;
const HEAP = /heapUsed=(?<bytes>\d+);/;

export interface BenchControllers {
  readonly port: number;
  /** The authority of the certificate of the extension. */
  readonly ca: string;
  residentMiB(): Promise<number>;
  /** What is in use after a full collection. */
  heapMiB(): Promise<number>;
  stop(): Promise<void>;
}

/** Resolves when the extension answers. */
export async function startBenchControllers(kubeconfig: string, folder: string): Promise<BenchControllers> {
  const authority = createAuthority('extension', createSystemClock().now(), 1);
  const { certPem, keyPem } = serverCertificate(authority);
  const [cert, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  await writeFile(cert, certPem);
  await writeFile(key, keyPem);
  const port = await findFreePort();
  const extension = [
    '--extension-port',
    String(port),
    '--extension-cert',
    cert,
    '--extension-key',
    key,
    '--log-level',
    'info',
  ];
  const options = ['--expose-gc', '--import', `data:text/javascript,${encodeURIComponent(HEAP_REPORT)}`];
  const args = [BIN, 'controllers', '--kubeconfig', kubeconfig, '--cluster-api', ...extension];
  const child = spawn(execPath, [...options, ...KUBENODE_FLAGS, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let isStarted = false;
  let heap: string | undefined;
  let last = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    isStarted ||= text.includes(STARTED);
    heap ??= HEAP.exec(text)?.groups?.['bytes'];
    last = (last + text).slice(-4000);
  });
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`the controllers ended: ${last}`);
    return isStarted || undefined;
  }, 'the update extension did not start');
  return {
    port,
    ca: authority.certPem,
    residentMiB: async () => (await readUsage(child.pid ?? 0)).residentMiB,
    async heapMiB() {
      heap = undefined;
      child.kill('SIGUSR2');
      const bytes = await eventually(async () => heap, 'the process did not report its heap');
      return Number(bytes) / 2 ** 20;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
