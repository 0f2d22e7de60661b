import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import {
  connectSsh,
  type SshHost,
  type SshOptions,
  scanHostKeys,
} from '../../../../src/providers/ssh/channel/connect.ts';
import type { SshConnection } from '../../../../src/providers/ssh/channel/connection.ts';
import { runScript } from '../../../../src/providers/ssh/channel/script.ts';
import { tempFolder } from '../../../support/temp.ts';
import { note, ownSshd, unavailable } from '../own-sshd.ts';
import {
  credentialsOf,
  freePort,
  makeUserKey,
  type SilentServer,
  type SshServer,
  startSilentServer,
  startSshServer,
} from '../sshd.ts';

const clock = createSystemClock();

describe.skipIf(unavailable !== undefined)(`the SSH channel${note}`, () => {
  const { root, key, server } = ownSshd('ssh', { keyTypes: ['ed25519', 'ecdsa', 'rsa'] });
  /** Has another key, and accepts the same user. */
  let inBetween: SshServer;
  let bastion: SshServer;
  let silent: SilentServer;
  beforeAll(async () => {
    const authorized = [key().publicKey];
    inBetween = await startSshServer(join(root, 'in-between'), { authorized });
    bastion = await startSshServer(join(root, 'bastion'), { authorized });
    silent = await startSilentServer();
  });
  afterAll(async () => {
    await inBetween.close();
    await bastion.close();
    await silent.close();
  });

  const at = (port: number): SshHost => host({ target: { ...server().target, port } });
  const host = (more: Partial<SshHost> = {}): SshHost => ({
    target: server().target,
    hostKeys: { type: 'Pinned', keys: server().hostKeys },
    credentials: credentialsOf(key()),
    ...more,
  });

  it('MAC-11 finds the keys of a host as ssh-keygen prints them, without a request for authentication', async () => {
    const before = server().authRequests().length;
    expect(await scanHostKeys(host(), options())).toEqual(server().hostKeys);
    expect(server().authRequests()).toHaveLength(before);
  });

  it('runs scripts on a host with the pinned key, whichever of its keys that is', async () => {
    for (const pinned of server().hostKeys) {
      const connection = await connectSsh(host({ hostKeys: { type: 'Pinned', keys: [pinned] } }), options());
      expect(connection.hostKey).toEqual(pinned);
      expect(await hello(connection)).toBe('hello\n');
    }
  });

  it('MAC-11 sends no byte of a credential to a server with another key', async () => {
    const other = host({ target: inBetween.target });
    await expect(connectSsh(other, options())).rejects.toMatchObject({
      code: 'HostKeyMismatch',
      message: expect.stringContaining(inBetween.hostKeys[0]?.fingerprint ?? '?') as string,
    });
    expect(inBetween.log()).toContain('Connection');
    expect(inBetween.authRequests()).toEqual([]);
  });

  it('MAC-11 trusts the first key once, and refuses another one later', async () => {
    const first = await connectSsh(host({ hostKeys: { type: 'TrustOnFirstUse' } }), options());
    first.close();
    const known = { type: 'TrustOnFirstUse', known: first.hostKey } as const;
    (await connectSsh(host({ hostKeys: known }), options())).close();
    const later = connectSsh(host({ target: inBetween.target, hostKeys: known }), options());
    await expect(later).rejects.toMatchObject({ code: 'HostKeyMismatch' });
    expect(inBetween.authRequests()).toEqual([]);
  });

  it('names a key that the host does not accept', async () => {
    const unauthorized = makeUserKey(tempFolder('unauthorized'), 'unauthorized');
    const refused = connectSsh(host({ credentials: credentialsOf(unauthorized) }), options());
    await expect(refused).rejects.toMatchObject({ code: 'AuthRefused' });
  });

  it('names a host that refuses connections, and one that hangs', async () => {
    await expect(connectSsh(at(await freePort()), options())).rejects.toMatchObject({
      code: 'Unreachable',
      message: 'no SSH connection: the connection was refused',
    });
    await expect(connectSsh(at(silent.port), options(300))).rejects.toMatchObject({ code: 'Timeout' });
    await expect(scanHostKeys(at(silent.port), options(300))).rejects.toMatchObject({ code: 'Timeout' });
  });

  it('ends when the caller stops it', async () => {
    const stop = new AbortController();
    const target = { ...server().target, port: silent.port };
    const connecting = connectSsh(host({ target }), { ...options(), signal: stop.signal });
    stop.abort(new Error('stopped'));
    await expect(connecting).rejects.toThrow('stopped');
  });

  it('connects through a jump host, whose key is verified too', async () => {
    const via = { target: bastion.target, hostKeys: { type: 'Pinned', keys: bastion.hostKeys } } as const;
    expect(await scanHostKeys(host({ via }), options())).toEqual(server().hostKeys);
    const connection = await connectSsh(host({ via }), options());
    expect(await hello(connection)).toBe('hello\n');
    const wrong = { ...via, hostKeys: { type: 'Pinned', keys: server().hostKeys } } as const;
    await expect(connectSsh(host({ via: wrong }), options())).rejects.toMatchObject({
      code: 'HostKeyMismatch',
    });
    const target = { ...server().target, port: await freePort() };
    await expect(connectSsh(host({ via, target }), options())).rejects.toMatchObject({
      code: 'Unreachable',
      message: 'the jump host cannot reach it',
    });
  });
});

async function hello(connection: SshConnection): Promise<string> {
  try {
    return await runScript(connection, {
      script: { name: 'greeting', text: 'echo hello\n' },
      values: [],
      elevation: { type: 'None' },
      timeoutMs: 60_000,
      maxBytes: 1000,
      clock,
      signal: new AbortController().signal,
    });
  } finally {
    connection.close();
  }
}

function options(connectMs = 60_000): SshOptions {
  return { clock, signal: new AbortController().signal, connectMs };
}
