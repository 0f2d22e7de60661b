import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ListedHost } from '../../../../src/cli/commands/import/hosts/host.ts';
import {
  HOSTS_AT_A_TIME,
  inspectAll,
  progressText,
} from '../../../../src/cli/commands/import/inspect-all.ts';
import {
  credentialsOf,
  freePort,
  makeUserKey,
  type SilentServer,
  type SshServer,
  sshUnavailableReason,
  startSilentServer,
  startSshServer,
  type UserKey,
} from '../../../providers/ssh/sshd.ts';
import { tempFolder } from '../../../support/temp.ts';
import { testIo } from '../../../support/test-io.ts';

const unavailable = sshUnavailableReason();
const note = unavailable ? ` (skipped: ${unavailable})` : '';

describe.skipIf(unavailable !== undefined)(`inspectAll${note}`, () => {
  const root = tempFolder('many');
  let key: UserKey;
  let server: SshServer;
  let silent: SilentServer;
  beforeAll(async () => {
    key = makeUserKey(root, 'user');
    server = await startSshServer(join(root, 'server'), { authorized: [key.publicKey] });
    // All addresses of this computer.
    silent = await startSilentServer('0.0.0.0');
  });
  afterAll(async () => {
    await server.close();
    await silent.close();
  });

  const hostAt = (address: string, port: number): ListedHost => ({
    target: { address, port, user: server.target.user },
    hostKeys: server.hostKeys,
  });

  it('checks 190 hosts while 10 others hang, and gives each its own outcome', async () => {
    const closed = await freePort();
    const hanging = Array.from({ length: 10 }, (_, index) => hostAt(`127.0.1.${index + 1}`, silent.port));
    const down = Array.from({ length: 189 }, (_, index) => hostAt(`127.0.2.${index + 1}`, closed));
    const hosts = [...hanging, ...down, { target: server.target, hostKeys: server.hostKeys }];
    const io = testIo({ env: { KUBENODE_PROGRESS: 'all' } });
    const secrets = { credentials: credentialsOf(key) };
    const timeoutMs = 20_000;
    const outcomes = await inspectAll(io, { hosts, secrets, timeoutMs });
    expect(hosts.length).toBeGreaterThan(HOSTS_AT_A_TIME);
    expect(outcomes.map(({ host }) => host)).toEqual(hosts);
    const codes = outcomes.map((outcome) => ('error' in outcome ? outcome.error.code : 'checked'));
    expect(codes).toEqual([...hanging.map(() => 'Timeout'), ...down.map(() => 'Unreachable'), 'checked']);
    // All others had ended when the first of those that hang did.
    expect(io.stderr).toContain(
      '190 of 200 hosts checked; waits for root@127.0.1.1:'.replace('root', server.target.user),
    );
    expect(io.stderr).toContain('200 of 200 hosts checked\n');
  });

  it('ends when the command is interrupted', async () => {
    const io = testIo();
    const hosts = [hostAt('127.0.1.1', silent.port)];
    const inspecting = inspectAll(io, {
      hosts,
      secrets: { credentials: credentialsOf(key) },
      timeoutMs: 600_000,
    });
    io.interrupt();
    await expect(inspecting).rejects.toThrow('stopped by SIGINT');
  });
});

describe('progressText', () => {
  it.each([
    [[], '4 of 9 hosts checked'],
    [['a', 'b'], '4 of 9 hosts checked; waits for a, b'],
    [['a', 'b', 'c', 'd', 'e'], '4 of 9 hosts checked; waits for a, b, c and 2 more'],
  ])('names some of %j', (busy, expected) => {
    expect(progressText(9, 4, new Set(busy))).toBe(expected);
  });
});
