import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { connectSsh, type SshHost } from '../../../../src/providers/ssh/channel/connect.ts';
import type { SshConnection } from '../../../../src/providers/ssh/channel/connection.ts';
import type { ScriptRun } from '../../../../src/providers/ssh/channel/host-script.ts';
import { runScript } from '../../../../src/providers/ssh/channel/script.ts';

import { startSlowProxy } from '../import/slow-proxy.ts';
import { type LibraryServer, type LibraryServerOptions, startLibraryServer } from '../library-server.ts';
import { note, ownSshd, unavailable } from '../own-sshd.ts';
import { credentialsOf, startSshServer } from '../sshd.ts';

const clock = createSystemClock();

describe.skipIf(unavailable !== undefined)(`a connection${note}`, () => {
  const { root, key, server } = ownSshd('connection');

  async function answering(onCommand?: LibraryServerOptions['onCommand']): Promise<LibraryServer> {
    const started = await startLibraryServer({
      authorized: key().publicKey,
      ...(onCommand && { onCommand }),
    });
    onTestFinished(() => started.close());
    return started;
  }

  async function connectTo(
    { port, hostKeys }: Pick<LibraryServer, 'port' | 'hostKeys'>,
    via?: SshHost['via'],
  ): Promise<SshConnection> {
    const target = { ...server().target, port };
    const host = {
      target,
      hostKeys: { type: 'Pinned', keys: hostKeys },
      credentials: credentialsOf(key()),
    } as const;
    const options = { clock, signal: new AbortController().signal, connectMs: 60_000 };
    const connection = await connectSsh(via ? { ...host, via } : host, options);
    onTestFinished(() => connection.close());
    return connection;
  }

  it('MAC-10 ends a script on a host that accepts the connection and never answers to a command', async () => {
    const connection = await connectTo(await answering());
    await expect(run(connection, { timeoutMs: 300 })).rejects.toMatchObject({
      code: 'Timeout',
      message: 'the test did not end within 0 s',
    });
    const stop = new AbortController();
    const stopped = run(connection, { signal: stop.signal });
    stop.abort(new Error('stopped'));
    await expect(stopped).rejects.toThrow('stopped');
  });

  it('keeps the exit code of a command that ends at its start, before anybody listens', async () => {
    const connection = await connectTo(
      await answering((session) => {
        session.stderr.write('sudo: command not found\n');
        session.exit(127);
        session.end();
      }),
    );
    await expect(run(connection, { elevation: { type: 'Sudo' } })).rejects.toMatchObject({
      code: 'NoSudo',
      message: 'sudo is not installed',
    });
    const { channel, exitCode } = await connection.start('true', new AbortController().signal);
    await new Promise((resolve) => {
      channel.once('close', resolve);
      channel.resume();
    });
    expect(exitCode()).toBe(127);
  });

  it('names a host that closes the connection in the middle of a script, and before one', async () => {
    const host = await answering((session) => {
      session.write('kubenode-ready\n');
      session.once('data', () => void host.close());
    });
    const connection = await connectTo(host);
    const ended = { code: 'Unreachable', message: 'the connection to the host ended' };
    await expect(run(connection)).rejects.toMatchObject(ended);
    await expect(run(connection)).rejects.toMatchObject(ended);
  });

  it('names the jump host that is closed in the middle of a script, and before one', async () => {
    const bastion = await startSshServer(join(root, 'bastion'), { authorized: [key().publicKey] });
    onTestFinished(() => bastion.close());
    const proxy = await startSlowProxy(bastion.target.port);
    onTestFinished(() => proxy.close());
    const via = {
      target: { ...bastion.target, port: proxy.port },
      hostKeys: { type: 'Pinned', keys: bastion.hostKeys },
    } as const;
    const { port } = server().target;
    const connection = await connectTo({ port, hostKeys: server().hostKeys }, via);
    const jump = `${via.target.user}@127.0.0.1:${proxy.port}`;
    const ended = {
      code: 'Unreachable',
      message: `the connection to the jump host ${jump} ended`,
      where: jump,
    };
    async function* input(): AsyncGenerator<Uint8Array> {
      yield await Promise.resolve(Buffer.from('first\n'));
      await proxy.close();
    }
    const text = 'cat > /dev/null; sleep 600\n';
    await expect(run(connection, { input: input(), script: { name: 'test', text } })).rejects.toMatchObject(
      ended,
    );
    await expect(run(connection)).rejects.toMatchObject(ended);
  });
});

function run(connection: SshConnection, more: Partial<ScriptRun> = {}): Promise<string> {
  return runScript(connection, {
    script: { name: 'test', text: 'echo hello\n' },
    values: [],
    elevation: { type: 'None' },
    timeoutMs: 60_000,
    maxBytes: 1000,
    clock,
    signal: new AbortController().signal,
    ...more,
  });
}
