import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSshFiles, removeSshFiles } from '../../../../src/sync/git/command/ssh.ts';
import type { GitOptions } from '../../../../src/sync/git/options.ts';
import {
  type GitSshServer,
  type SshFault,
  sshUnavailableReason,
  startGitSshServer,
} from '../../../support/git-server/ssh-server.ts';
import { tempFolder } from '../../../support/temp.ts';
import { describeTransport, openLocalGit, type TransportBed, type TransportFault } from '../conformance.ts';

describe('createSshFiles', () => {
  it('names the process that the key belongs to, so that the next one removes it', async () => {
    const files = await createSshFiles({
      display: 'ssh://x',
      credential: 'key',
      hostKeys: ['x ssh-ed25519 A'],
    });
    expect(existsSync(join(files.home, 'key'))).toBe(true);
    const owner = JSON.parse(readFileSync(`${files.home}.owner`, 'utf8')) as { pid: number };
    expect(owner.pid).toBe(process.pid);
    await removeSshFiles(files);
    expect([existsSync(files.home), existsSync(`${files.home}.owner`)]).toEqual([false, false]);
  });
});

const unavailable = sshUnavailableReason();
const note = unavailable ? ` (skipped: ${unavailable})` : '';

describe.skipIf(unavailable !== undefined)(`the git command over ssh${note}`, () => {
  const root = tempFolder('ssh-root');
  let server: GitSshServer;
  let silent: Silent;
  beforeAll(async () => {
    server = await startGitSshServer(join(root, '0-server'));
    silent = await silentServer();
  });
  afterAll(async () => {
    await server.close();
    await silent.close();
  });

  const heal = (): void => server.fail('none');
  const wrong = (
    name: string,
    code: TransportFault['code'],
    options: () => Partial<GitOptions>,
  ): TransportFault => ({
    name,
    code,
    heal,
    arrange: options,
  });
  const broken = (
    fault: SshFault,
    code: TransportFault['code'],
    more: Partial<TransportFault>,
  ): TransportFault => ({
    name: fault,
    code,
    heal,
    arrange: () => {
      server.fail(fault);
      return fault === 'hang' ? { limits: { timeoutMs: 1000 } } : {};
    },
    ...more,
  });

  describeTransport(
    (): TransportBed => ({
      name: 'ssh',
      open: openLocalGit,
      root,
      slow: true,
      optionsFor: (path) => ({
        repository: `${server.url}${root}/${path}`,
        credential: server.privateKey,
        hostKeys: [server.hostKey],
      }),
      faults: [
        wrong('no host key declared', 'HostKey', () => ({ hostKeys: [] })),
        wrong('a different host key', 'HostKey', () => ({ hostKeys: [server.otherHostKey] })),
        wrong('a different key', 'Unauthorized', () => ({ credential: server.otherKey })),
        wrong('no key', 'Unauthorized', () => ({ credential: '' })),
        wrong('an invalid key', 'Unauthorized', () => ({ credential: 's3cret, not a key' })),
        wrong('connection refused', 'Unreachable', () => ({ repository: 'ssh://git@127.0.0.1:1/fleet.git' })),
        wrong('a server that never sends anything', 'Timeout', () => ({
          repository: `ssh://git@127.0.0.1:${silent.port}/x.git`,
          hostKeys: [server.hostKey],
          limits: { timeoutMs: 500 },
        })),
        broken('truncate', 'Corrupt', { orCode: 'Unreachable', onlyFetch: true }),
        broken('fail', 'Corrupt', { orCode: 'NotFoundRepository' }),
        broken('hang', 'Timeout', {}),
      ],
    }),
  );
});

interface Silent {
  readonly port: number;
  close(): Promise<void>;
}

/** Accepts connections and never sends anything. */
async function silentServer(): Promise<Silent> {
  const sockets: Socket[] = [];
  const server: Server = createServer((socket) => void sockets.push(socket));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
