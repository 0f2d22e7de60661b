import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../temp.ts';
import { type Expectation, followPage } from './follow.ts';
import { parsePage } from './page.ts';

/** `kubenode sync` runs until Ctrl-C. */
const FIRST = `kubenode() { echo "$*" >> log; [ "$1" != sync ] || { echo syncs; exec sleep 600; }; }`;

async function followed(statements: string, expectations: readonly Expectation[] = []): Promise<unknown> {
  const page = parsePage('page.md', `# A page\n\`\`\`sh\n${statements}\n\`\`\`\n`);
  const cwd = tempFolder('page');
  const terminal = { start: spawn, cwd, env: process.env, first: FIRST };
  return await followPage({
    page,
    expectations,
    isLeftOut: isDocker,
    instead: { '/tmp/': `${cwd}/` },
    terminal,
  });
}

function isDocker(_: string, statement: string): boolean {
  return statement.startsWith('docker');
}

describe('followPage', () => {
  it('enters the statements in one terminal, but for those that are left out', async () => {
    expect(await followed('A=1\ndocker push\n[ "$A" = 1 ]')).toBe(2);
  });

  it('leaves running what runs until Ctrl-C, and goes on in another terminal', async () => {
    const expectations = [
      { at: 'sync', until: /syncs/ },
      { at: 'cat', prints: /^sync\nstatus\n$/ },
    ];
    expect(
      await followed(
        'A=1; kubenode sync # until Ctrl-C\n[ -z "$A" ]\nkubenode status\ncat log',
        expectations,
      ),
    ).toBe(4);
  });

  it('interrupts what it only watches, and goes on in the same terminal', async () => {
    expect(
      await followed('A=1\nkubenode sync\n[ "$A" = 1 ]', [{ at: 'sync', until: /syncs/, end: 'Ctrl-C' }]),
    ).toBe(3);
  });

  it('enters again what does not print yet what the page promises, and writes where it may', async () => {
    expect(await followed('echo x >> /tmp/file; cat file', [{ at: 'cat', prints: /x\nx\n/ }])).toBe(1);
  });

  it.each<[string, string, readonly Expectation[], RegExp]>([
    ['that fails', 'echo why >&2; false', [], /false: exit code 1\nwhy/],
    ['that does not fail as promised', 'true', [{ at: 'true', exits: 3 }], /true: exit code 0/],
    [
      'that ends in place of running',
      'kubenode() { echo ended; }; kubenode sync',
      [{ at: 'sync', until: /never/ }],
      /exit code 0\nended/,
    ],
    [
      'that was left running, and ended',
      'kubenode() { echo syncs; sleep 0.2; false; }\nkubenode sync\nsleep 1',
      [{ at: 'kubenode sync', until: /syncs/ }],
      /sync: exit code 1/,
    ],
    ['that the page no longer has', 'true', [{ at: 'kubenode plan' }], /page.md has no "kubenode plan"/],
  ])('rejects for a statement %s', async (_, statements, expectations, message) => {
    await expect(followed(statements, expectations)).rejects.toThrow(message);
  });
});
