import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { ConnectionFlags } from '../../src/cli/connection.ts';
import { createProgram } from '../../src/cli/program.ts';
import { makeRunnable, shellWord, withRunnableHints } from '../../src/cli/runnable.ts';
import { testIo } from '../support/test-io.ts';

const SHELL = { env: {}, flags: {}, isOfHub: false };

describe('commands in hints', () => {
  it.each([
    ['run `kubenode install`, or point --context', 'run `npx kubenode install`, or point --context'],
    ['start a local cluster: kubenode local up', 'start a local cluster: npx kubenode local up'],
    ['start it with kubenode sync --from X', 'start it with npx kubenode sync --from X'],
    ['run kubenode controllers here', 'run npx kubenode controllers here'],
    ['this cluster is not a kubenode hub: kind', 'this cluster is not a kubenode hub: kind'],
    ['already: npx kubenode sync', 'already: npx kubenode sync'],
  ])('FST-4 works where npx printed it: %s', (text, expected) => {
    expect(makeRunnable(text, { ...SHELL, env: { npm_command: 'exec' } })).toBe(expected);
    expect(makeRunnable(text, SHELL)).toBe(text);
  });

  const BOTH = { kubeconfig: '/tmp/my fleet/k.yaml', context: 'test' };

  it.each<[ConnectionFlags, string, string]>([
    [{ context: 'test' }, 'see `kubenode why machine m-1`', 'see `kubenode why --context test machine m-1`'],
    [
      { context: 'test' },
      'resume: kubenode rollout resume a',
      'resume: kubenode rollout resume --context test a',
    ],
    [{ context: 'hub' }, 'kubenode machine list --context prod', 'kubenode machine list --context prod'],
    [{ context: 'test' }, 'no kubenode sync runs; kubenode plan', 'no kubenode sync runs; kubenode plan'],
    [{ context: 'test' }, 'each kubenode machine, and kubenode', 'each kubenode machine, and kubenode'],
    [
      BOTH,
      'kubenode rollout pause S, and kubenode rollout resume S --context prod.',
      "kubenode rollout pause --kubeconfig '/tmp/my fleet/k.yaml' --context test S, and kubenode rollout resume --kubeconfig '/tmp/my fleet/k.yaml' S --context prod.",
    ],
  ])('keep the connection that was given: %j %s', (flags, text, expected) => {
    const shell = { ...SHELL, flags };
    expect(makeRunnable(text, shell)).toBe(expected);
    expect(makeRunnable(expected, shell)).toBe(expected);
  });

  it('about the hub keep it where the command that prints them is about the hub', () => {
    const shell = { ...SHELL, flags: { context: 'hub' } };
    const text = 'accept it: kubenode release acknowledge prod';
    expect(makeRunnable(text, shell)).toBe(text);
    expect(makeRunnable(text, { ...shell, isOfHub: true })).toBe(
      'accept it: kubenode release acknowledge --context hub prod',
    );
  });
});

describe('a command line', () => {
  it.each([
    ['table', 'see kubenode why --context test machine a'],
    ['json', 'see kubenode why machine a'],
  ])('keeps its connection in what it prints, but not in data: -o %s', async (output, expected) => {
    const io = testIo();
    const hinting = withRunnableHints(io);
    const program = await createProgram(hinting, ['machine']);
    program.commands[0]?.commands
      .find((command) => command.name() === 'list')
      ?.action(() => hinting.out('see kubenode why machine a'));
    await program.parseAsync(['machine', 'list', '--context', 'test', '-o', output], { from: 'user' });
    expect(io.stdout).toBe(expected);
  });

  it('leaves the output of a command without tables as it is: it is data', async () => {
    const io = testIo({ env: { npm_command: 'exec' } });
    const hinting = withRunnableHints(io);
    const program = await createProgram(hinting, ['machine']);
    program.commands[0]?.commands
      .find((command) => command.name() === 'token')
      ?.action(() => hinting.out('reason: see `kubenode status`\n'));
    await program.parseAsync(['machine', 'token', 'm-1', '--context', 'test'], { from: 'user' });
    expect(io.stdout).toBe('reason: see `kubenode status`\n');
  });
});

describe('shellWord', () => {
  it.each(['/tmp/demo', '../a+b@c', "/tmp/my demo's", '$HOME', 'a;b', '', '~', 'ü'])(
    'is one word for sh: %s',
    (path) => {
      const script = `printf '%s\\n' ${shellWord(path)}`;
      expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' })).toBe(`${path}\n`);
    },
  );

  it('leaves a usual path as it is', () => {
    expect(shellWord('/tmp/demo-1.0')).toBe('/tmp/demo-1.0');
  });
});
