/** Keys of people, made by ssh-keygen and gpg, and the flags with which git signs by them. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { isAlive } from '../leak-guard/leaks.ts';
import { tempFolder } from '../temp.ts';

export interface TestSigner {
  /** Flags of git, before its command. */
  readonly flags: readonly string[];
  /** A line of allowed signers, or an armored key. */
  readonly entry: string;
  readonly keyFile: string;
}

/** Creates an SSH key. `type` is what ssh-keygen gets: `ed25519`, or `rsa -b 3072`. */
export function createSshSigner(name: string, type = 'ed25519'): TestSigner {
  const keyFile = join(tempFolder('signer'), name);
  execFileSync('ssh-keygen', ['-q', '-t', ...type.split(' '), '-N', '', '-C', name, '-f', keyFile]);
  const entry = `${name}@example.com ${readFileSync(`${keyFile}.pub`, 'utf8').trim()}\n`;
  return { flags: ['-c', 'gpg.format=ssh', '-c', `user.signingkey=${keyFile}`], entry, keyFile };
}

export interface TestGpg {
  /** Runs gpg with a folder of its own. */
  run(...args: string[]): string;
  /** Creates a key. */
  signer(name: string, ...options: string[]): TestSigner;
  entryOf(name: string): string;
  fingerprintOf(name: string): string;
  revokedEntryOf(name: string): string;
  /** Writes a line of gpg.conf. */
  configure(line: string): void;
}

/** Waits until it has ended: it may write to its folder before, which is being removed then. */
async function endAgent(home: string): Promise<void> {
  const ask = ['--homedir', home, '--no-autostart', 'GETINFO pid', '/bye'];
  const answer = execFileSync('gpg-connect-agent', ask, { encoding: 'utf8', stdio: 'pipe' });
  const pid = /^D (?<pid>\d+)$/m.exec(answer)?.groups?.['pid'];
  if (pid === undefined) return;
  execFileSync('gpgconf', ['--homedir', home, '--kill', 'gpg-agent'], { stdio: 'ignore' });
  await expect.poll(() => isAlive(Number(pid))).toBe(false);
}

/** The agent of gpg ends with the test. */
export function createGpg(): TestGpg {
  const folder = tempFolder('gpg');
  const [home, program] = [join(folder, 'home'), join(folder, 'gpg')];
  mkdirSync(home, { mode: 0o700 });
  writeFileSync(program, `#!/bin/sh\nexec gpg --homedir ${home} --batch --no-tty "$@"\n`);
  chmodSync(program, 0o755);
  onTestFinished(() => endAgent(home));
  return { run, signer, entryOf, fingerprintOf, revokedEntryOf, configure };

  function run(...args: string[]): string {
    return execFileSync(program, args, { encoding: 'utf8', stdio: 'pipe' });
  }

  function signer(name: string, ...options: string[]): TestSigner {
    const [type = 'ed25519', expires = 'never', ...more] = options;
    run(
      ...more,
      '--passphrase',
      '',
      '--quick-gen-key',
      `${name} <${name}@example.com>`,
      type,
      'sign',
      expires,
    );
    const flags = [
      '-c',
      'gpg.format=openpgp',
      '-c',
      `gpg.program=${program}`,
      '-c',
      `user.signingkey=${name}`,
    ];
    return { flags, entry: entryOf(name), keyFile: home };
  }

  function entryOf(name: string): string {
    return run('--armor', '--export', name);
  }

  function fingerprintOf(name: string): string {
    const [, fingerprint = ''] = /^fpr:+([0-9A-F]+):/m.exec(run('--with-colons', '--list-keys', name)) ?? [];
    return fingerprint;
  }

  /** In a folder of its own: the signer knows nothing of the revocation. */
  function revokedEntryOf(name: string): string {
    const revocation = join(home, 'openpgp-revocs.d', `${fingerprintOf(name)}.rev`);
    const file = join(folder, 'revoked.asc');
    // gpg writes a colon in front of the block, against an import by accident.
    const certificate = readFileSync(revocation, 'utf8').replace(':-----BEGIN', '-----BEGIN');
    writeFileSync(file, entryOf(name) + certificate);
    const other = createGpg();
    other.run('--import', file);
    return other.entryOf(name);
  }

  function configure(line: string): void {
    writeFileSync(join(home, 'gpg.conf'), `${line}\n`);
  }
}
