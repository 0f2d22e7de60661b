import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import type { GitOptions } from '../../../../src/sync/git/options.ts';
import {
  type GitSshServer,
  type SshFault,
  sshMissing,
  startGitSshServer,
} from '../../../support/git-server/ssh-server.ts';
import { tempFolder } from '../../../support/temp.ts';
import { describeTransport, type TransportBed, type TransportFault } from '../conformance.ts';

const missing = sshMissing();
const note = missing ? ` (skipped: ${missing})` : '';

describe.skipIf(missing !== undefined)(
  `git over ssh, by the git command${note}`,
  { timeout: 120_000 },
  () => {
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
        return fault === 'hang' ? { limits: { timeoutMs: 2500 } } : {};
      },
      ...more,
    });

    describeTransport(
      (): TransportBed => ({
        name: 'ssh',
        root,
        slow: true,
        optionsFor: (path) => ({
          repository: `${server.url}${root}/${path}`,
          credential: server.privateKey,
          hostKeys: [server.hostKey],
        }),
        faults: [
          wrong('no host key declared', 'HostKey', () => ({ hostKeys: [] })),
          wrong('another host key', 'HostKey', () => ({ hostKeys: [server.otherHostKey] })),
          wrong('another key', 'Unauthorized', () => ({ credential: server.otherKey })),
          wrong('no key', 'Unauthorized', () => ({ credential: '' })),
          wrong('what is no key', 'Unauthorized', () => ({ credential: 's3cret, but no key' })),
          wrong('nothing listens', 'Unreachable', () => ({ repository: 'ssh://git@127.0.0.1:1/fleet.git' })),
          wrong('a server that says nothing', 'Timeout', () => ({
            repository: `ssh://git@127.0.0.1:${silent.port}/x.git`,
            hostKeys: [server.hostKey],
            limits: { timeoutMs: 1500 },
          })),
          broken('truncate', 'Corrupt', { orCode: 'Unreachable', onlyFetch: true }),
          broken('fail', 'Corrupt', { orCode: 'NotFoundRepository' }),
          broken('hang', 'Timeout', {}),
        ],
      }),
    );
  },
);

interface Silent {
  readonly port: number;
  close(): Promise<void>;
}

/** Takes connections, and never says a word. */
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
