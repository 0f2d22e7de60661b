/** A drill beside an API server that does not answer. What one reads that answers is shown with real ones, by test/cluster and test/nodes. */
import { once } from 'node:events';
import { createServer } from 'node:https';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type CheckedBackup,
  checkData,
} from '../../../../../../src/controllers/hosting/drivers/etcd/drill/check-data.ts';
import { createAuthority, issueCertificate } from '../../../../../../src/local/pki/certificate.ts';
import { messageOf } from '../../../../../../src/os/errors.ts';
import { closeServer, listenOn } from '../../../../../../src/os/net/http-server.ts';
import { createSystemClock } from '../../../../../../src/os/system-clock.ts';
import { virtualClock } from '../../../../../support/virtual-clock.ts';

const HOST = '127.0.0.1';
const TOTAL_MS = 1_200_000;
const RECORD = { revision: 7, cluster: 'ci' } as CheckedBackup['record'];

type Clock = ReturnType<typeof virtualClock>;

/** Resolves to the API server and etcd of a drill: one server that takes requests, and answers those that `answers` has. */
async function silentServer(answers: readonly string[] = []) {
  const now = createSystemClock().now();
  const authority = createAuthority('ca', now, 1);
  const subject = { commonName: 'kube-apiserver' };
  const life = { now, seconds: 3600 } as const;
  const { certPem, keyPem } = issueCertificate(authority, {
    subject,
    usage: 'server',
    names: [HOST],
    ...life,
  });
  const server = createServer({ cert: certPem, key: keyPem }, ({ url = '' }, response) => {
    if (answers.includes(url)) response.end();
  });
  const port = await listenOn(server, 'a test', { host: HOST, port: 0 });
  onTestFinished(() => closeServer(server));
  return { server, endpoint: { url: `https://${HOST}:${port}`, caPem: authority.certPem } };
}

function backupOf(
  { endpoint }: Awaited<ReturnType<typeof silentServer>>,
  clock: Clock,
  signal?: AbortSignal,
): CheckedBackup {
  return { name: 'first', record: RECORD, etcd: endpoint, api: { ...endpoint, signal }, clock };
}

/** Resolves to why a check failed. */
async function problemOf(check: Promise<unknown>): Promise<string | undefined> {
  return await check.then(() => undefined, messageOf);
}

describe('the check of the data of a backup', () => {
  it.each([
    ['never answers', []],
    ['is ready, and then never answers', ['/readyz']],
  ])('HOS-32 ends where the API server %s, and closes its connections', async (_, answers) => {
    const silent = await silentServer(answers);
    const clock = virtualClock();
    let requests = 0;
    silent.server.on('request', () => (requests += 1));
    const connections = new Set<unknown>();
    silent.server.on('secureConnection', (socket) => {
      connections.add(socket);
      socket.on('close', () => connections.delete(socket));
    });
    const problem = problemOf(checkData(backupOf(silent, clock)));
    await expect.poll(() => requests).toBe(answers.length + 1);
    await clock.advance(TOTAL_MS);
    expect(await problem).toBe('the API server has not answered with everything in 20 minutes');
    await expect.poll(() => connections.size).toBe(0);
  });

  it('HOS-32 ends when hosting ends', async () => {
    const silent = await silentServer();
    const stop = new AbortController();
    const asked = once(silent.server, 'request');
    const problem = problemOf(checkData(backupOf(silent, virtualClock(), stop.signal)));
    await asked;
    stop.abort(new Error('stopped'));
    expect(await problem).toBe('stopped');
  });
});
