import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { type InspectOptions, inspectHost } from '../../../../src/providers/ssh/preflight/inspect.ts';
import { note, ownSshd, unavailable } from '../own-sshd.ts';
import { credentialsOf } from '../sshd.ts';

describe.skipIf(unavailable !== undefined)(`the preflight of a host${note}`, () => {
  const { root, key, server } = ownSshd('preflight');

  const inspect = (more: Partial<InspectOptions> = {}) =>
    inspectHost(
      { target: server().target, hostKeys: { type: 'TrustOnFirstUse' }, credentials: credentialsOf(key()) },
      {
        clock: createSystemClock(),
        signal: new AbortController().signal,
        connectMs: 60_000,
        scriptMs: 120_000,
        ...more,
      },
    );

  it('MAC-13 reads the facts of this machine, and changes no file in the home folder', async () => {
    const before = treeHash(server().home);
    const { facts, hostKeys, started, ended } = await inspect({
      server: { host: 'localhost', port: server().target.port },
    });
    expect(treeHash(server().home)).toBe(before);
    expect(facts).toMatchObject({
      os: 'Linux',
      kernel: uname('-r'),
      hostName: uname('-n'),
      arch: uname('-m'),
      uid: process.getuid?.() ?? -1,
    });
    expect(facts.listens).toContain(server().target.port);
    expect(facts.apiPort).toBe('open');
    expect(hostKeys).toEqual(server().hostKeys);
    expect(facts.time).toBeDefined();
    expect(+started).toBeLessThanOrEqual(+ended);
  });

  it('MAC-12 passes an address with characters of a shell as it is', async () => {
    const marker = join(root, 'marker');
    const { facts } = await inspect({
      server: { host: `$(touch ${marker})\`touch ${marker}\`;touch ${marker}`, port: 1 },
    });
    expect(facts.apiPort).toBe('closed');
    expect(readdirSync(root)).not.toContain('marker');
  });
});

/** Of all files but the log that sshd writes itself. */
function treeHash(folder: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()) {
    if (name === 'log') continue;
    const path = join(folder, name);
    const { mode, mtimeMs } = statSync(path);
    hash.update(`${name} ${mode} ${mtimeMs} `);
    if (statSync(path).isFile()) hash.update(readFileSync(path));
  }
  return hash.digest('hex');
}

function uname(flag: string): string {
  return execFileSync('uname', [flag], { encoding: 'utf8' }).trim();
}
