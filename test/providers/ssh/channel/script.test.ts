import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { connectSsh } from '../../../../src/providers/ssh/channel/connect.ts';
import type { SshConnection } from '../../../../src/providers/ssh/channel/connection.ts';
import type { ScriptRun } from '../../../../src/providers/ssh/channel/host-script.ts';
import { runScript } from '../../../../src/providers/ssh/channel/script.ts';
import { tempFolder } from '../../../support/temp.ts';
import { credentialsOf, makeUserKey, type SshServer, sshUnavailableReason, startSshServer } from '../sshd.ts';

const unavailable = sshUnavailableReason();
const note = unavailable ? ` (skipped: ${unavailable})` : '';
const clock = createSystemClock();
const PASSWORD = 's3cret $(touch /tmp/x) "\'';

describe.skipIf(unavailable !== undefined)(`a script on a host${note}`, () => {
  const root = tempFolder('script');
  const commandLines = join(root, 'command-lines');
  let server: SshServer;
  let connection: SshConnection;

  beforeAll(async () => {
    const bin = join(root, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'sudo'), sudoFor(PASSWORD));
    chmodSync(join(bin, 'sudo'), 0o755);
    const key = makeUserKey(root, 'user');
    server = await startSshServer(join(root, 'server'), { authorized: [key.publicKey], bin });
    connection = await connectSsh(
      {
        target: server.target,
        hostKeys: { type: 'Pinned', keys: server.hostKeys },
        credentials: credentialsOf(key),
      },
      { clock, signal: new AbortController().signal, connectMs: 60_000 },
    );
  });
  afterAll(async () => {
    connection.close();
    await server.close();
  });

  const run = (text: string, more: Partial<ScriptRun> = {}): Promise<string> =>
    runScript(connection, {
      script: { name: 'test', text },
      values: [],
      elevation: { type: 'None' },
      timeoutMs: 60_000,
      maxBytes: 10_000,
      clock,
      signal: new AbortController().signal,
      ...more,
    });

  it('MAC-12 gets its values by stdin, as they are, and never by its command line', async () => {
    const values = ['$(touch x)', '`reboot`', `'; rm -rf "/"`, '-oProxyCommand=x', '\\n %s', 'ä€', ''];
    const text = `while IFS= read -r value; do printf '<%s>' "$value"; done
      cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' > '${commandLines}'
      :
    `;
    expect(await run(text, { values })).toBe(values.map((value) => `<${value}>`).join(''));
    expect(readFileSync(commandLines, 'utf8')).toContain('/bin/sh -c');
    expect(readFileSync(commandLines, 'utf8')).not.toContain('ProxyCommand');
    await expect(run('', { values: ['a\nb'] })).rejects.toThrow('a value of a script has a line break');
  });

  it('becomes root by sudo with a password, which is in no command line and no environment', async () => {
    const text = `echo "elevated=$ELEVATED"
      cat /proc/[0-9]*/cmdline /proc/self/environ 2>/dev/null | tr '\\0' ' ' > '${commandLines}'
      :
    `;
    const elevation = { type: 'SudoPassword', password: PASSWORD } as const;
    expect(await run(text, { elevation })).toBe('elevated=yes\n');
    expect(readFileSync(commandLines, 'utf8')).toContain('sudo');
    expect(readFileSync(commandLines, 'utf8')).not.toContain('s3cret');
  });

  it('tells a wrong password, which it sends once, and one that is asked for', async () => {
    const wrong = run('echo x\n', { elevation: { type: 'SudoPassword', password: 'wrong' } });
    await expect(wrong).rejects.toMatchObject({
      code: 'NoSudo',
      message: 'sudo refuses the password, or this user',
    });
    const tries = readdirSync(server.home).filter((name) => name.startsWith('try-'));
    expect(tries).toEqual(['try-1']);
    await expect(run('', { elevation: { type: 'Sudo' } })).rejects.toMatchObject({ code: 'SudoPassword' });
  });

  it('sends bytes after the values, also past sudo, and ends when the script does not read them', async () => {
    const bytes = Buffer.from(Array.from({ length: 3_000_000 }, (_, index) => (index * 7) % 256));
    const input = (): AsyncIterable<Uint8Array> => Readable.from([bytes.subarray(0, 7), bytes.subarray(7)]);
    const text = 'IFS= read -r value; echo "$value"; sha256sum\n';
    const elevation = { type: 'SudoPassword', password: PASSWORD } as const;
    const sum = createHash('sha256').update(bytes).digest('hex');
    expect(await run(text, { values: ['a b'], input: input(), elevation })).toBe(`a b\n${sum}  -\n`);
    expect(await run('echo done\n', { input: input() })).toBe('done\n');
    await expect(run('exit 4\n', { input: input() })).rejects.toMatchObject({ code: 'ScriptFailed' });
  });

  it('tells how it failed, without the password', async () => {
    const elevation = { type: 'SudoPassword', password: PASSWORD } as const;
    const failing = run(`IFS= read -r value; echo "bad: $value" >&2; exit 3\n`, {
      elevation,
      values: [PASSWORD],
    });
    await expect(failing).rejects.toMatchObject({
      code: 'ScriptFailed',
      message: 'the test failed: it ended with 3: bad: ***',
    });
  });

  it('ends at its limits of time and output', async () => {
    await expect(run('sleep 600\n', { timeoutMs: 300 })).rejects.toMatchObject({
      code: 'Timeout',
      message: 'the test did not end within 0 s',
    });
    await expect(run('while :; do echo y; done\n')).rejects.toMatchObject({
      code: 'OutputTooLarge',
      message: 'the test printed more than 10000 bytes',
    });
    expect(await run('echo still here\n')).toBe('still here\n');
  });
});

/** Behaves as sudo does with -n, and with -S and -p: asks up to three times. Records what it reads as a password. */
function sudoFor(password: string): string {
  return `#!/bin/sh
prompt=
while [ "$1" != -- ]; do
  case $1 in -n) echo "sudo: a password is required" >&2; exit 1 ;; -p) prompt=$2; shift ;; esac
  shift
done
shift
for try in 1 2 3; do
  printf %s "$prompt" >&2
  IFS= read -r line || exit 1
  printf %s "$line" > "$HOME/try-$try"
  [ "$line" = '${password.replaceAll("'", String.raw`'\''`)}' ] && ELEVATED=yes exec "$@"
  echo "Sorry, try again." >&2
done
exit 1
`;
}
